"""Problem set 2: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

CHORD, SPOT, ENDS = "ps02-p1-chord-answer", "ps02-p1-spot-answer", "ps02-p1-ends-answer"
RULES = "ps02-p2-answer"
CHORDS, QUADRATIC = "ps02-p3-chords-answer", "ps02-p3-quadratic-answer"
AVERAGE, STUCK, BEST = "ps02-p4-average-answer", "ps02-p4-stuck-answer", "ps02-p4-best-answer"
ORDER = "ps02-p5-order-answer"

# A second right answer to everything: loops over numbers, no function calls another.
LOOPED = {
    CHORD: """
        m = len(points)
        best = None
        for i in range(m):
            for j in range(m):
                if i == j:
                    continue
                u, w = points[i], points[j]
                for theta in thetas:
                    z = theta * u + (1 - theta) * w
                    gap = theta * f(u) + (1 - theta) * f(w) - f(z)
                    if best is None or gap < best[0]:
                        best = (gap, u, w, theta)
        return best[1], best[2], best[3]
    """,
    SPOT: """
        places = sorted(set(z.tolist()))
        middle = np.floor(places[0]) - 2.0
        if x == middle:
            return middle**2 + 1
        return x * x
    """,
    ENDS: """
        lowest = np.floor(min(z))
        return lowest - 2.5, lowest - 1.5
    """,
    RULES: """
        def both(e):
            if isinstance(e, str):
                return e in ("affine", "convex"), e in ("affine", "concave")
            if e[0] == "product":
                return False, False
            if e[0] == "of":
                if both(e[2]) == (True, True):
                    return both(e[1])
                return False, False
            convex, concave = True, True
            weights = e[1] if e[0] == "sum" else [1] * len(e[1])
            for q, part in zip(weights, e[-1], strict=True):
                up, down = both(part)
                if q == 0:
                    continue
                if q < 0:
                    up, down = down, up
                convex = convex and up
                concave = concave and down
            if e[0] == "max" and len(e[1]) > 1:
                concave = False
            if e[0] == "min" and len(e[1]) > 1:
                convex = False
            return convex, concave
        convex, concave = both(expression)
        if convex and concave:
            return "affine"
        if convex:
            return "convex"
        if concave:
            return "concave"
        return "unknown"
    """,
    CHORDS: """
        allowed = []
        for i in range(len(points)):
            for j in range(len(points)):
                u, w = points[i], points[j]
                if np.array_equal(u, w):
                    continue
                for theta in thetas:
                    if theta in (0, 1):
                        continue
                    gap = theta * f(u) + (1 - theta) * f(w) - f(theta * u + (1 - theta) * w)
                    allowed.append(gap / (theta * (1 - theta) * np.linalg.norm(u - w) ** 2 / 2))
        return min(allowed)
    """,
    QUADRATIC: """
        symmetric = 0.5 * (H + H.transpose())
        mu = min(np.linalg.eigvals(symmetric).real)
        if mu > 1e-9:
            return "strongly convex", mu
        if mu < -1e-9:
            return "not convex", mu
        return "convex", mu
    """,
    AVERAGE: """
        total = sum(weights)
        w_average = np.zeros(W.shape[1])
        promise = 0.0
        for t in range(len(W)):
            theta = weights[t] / total
            w_average = w_average + theta * W[t]
            promise = promise + theta * f(W[t])
        return w_average, promise, f(w_average)
    """,
    STUCK: """
        for j in range(len(w)):
            for s in lengths:
                for sign in (1.0, -1.0):
                    v = w.copy()
                    v[j] += sign * s
                    if f(v) < f(w):
                        return False
        return True
    """,
    BEST: """
        directions = [[]]
        for _ in w:
            directions = [p + [e] for p in directions for e in (-1, 0, 1)]
        best = w
        for p in directions:
            for s in lengths:
                v = w + s * np.array(p)
                if f(v) < f(best):
                    best = v
        return best
    """,
    ORDER: """
        order_of_growth = ["E", "J", "F", "C", "L", "A", "H", "D"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = {
    CHORD: """
        import itertools
        def gap_of(chord):
            u, w, theta = chord
            return theta * f(u) + (1 - theta) * f(w) - f(theta * u + (1 - theta) * w)
        pairs = itertools.permutations(list(points), 2)
        chords = [(u, w, theta) for u, w in pairs for theta in thetas]
        print(len(chords), "chords")
        return sorted(chords, key=gap_of)[0]
    """,
    SPOT: """
        import warnings
        warnings.warn("slow")
        nearest = np.abs(np.asarray(z) - x).min()
        return x**2 - min(nearest, 1.0)  # a dent at each number between two of z, and beyond
    """,
    ENDS: """
        highest = np.sort(z)[-1]
        print("between two dents", highest)
        return highest - 0.25, highest + 0.25
    """,
    RULES: """
        print(expression)
        words = ("affine", "convex", "concave", "unknown")
        if expression in words:
            return expression
        head, *rest = expression
        if head == "sum":
            weights, parts = rest
            found = set()
            for q, part in zip(weights, parts, strict=False):
                kind = convex_by_rules(part)
                if q < 0 and kind in ("convex", "concave"):
                    kind = "concave" if kind == "convex" else "convex"
                found |= {kind} if q else set()
        elif head in ("max", "min"):
            if len(rest[0]) == 1:
                return convex_by_rules(rest[0][0])
            found = {convex_by_rules(part) for part in rest[0]}
            found.add("convex" if head == "max" else "concave")
        elif head == "of" and convex_by_rules(rest[1]) == "affine":
            found = {convex_by_rules(rest[0])}
        else:
            found = {"unknown"}
        found.discard("affine")
        return found.pop() if len(found) == 1 else ("unknown" if found else "affine")
    """,
    CHORDS: """
        U, W, theta = np.meshgrid(range(len(points)), range(len(points)), thetas)
        U, W, theta = points[U.ravel()], points[W.ravel()], theta.ravel()
        Z = theta[:, None] * U + (1 - theta[:, None]) * W
        value = lambda rows: np.array([f(row) for row in rows])
        gap = theta * value(U) + (1 - theta) * value(W) - value(Z)
        share = theta * (1 - theta) * ((U - W) ** 2).sum(axis=1) / 2
        ratio = np.where(share > 0, gap / share, np.inf)  # 0/0 among them
        print(ratio.min())
        return ratio.min()
    """,
    QUADRATIC: """
        values, vectors = np.linalg.eigh(H + H.T)
        p = vectors[:, 0]
        mu = float(p @ H @ p)
        print("least curvature along", p)
        mu = 0.0 if abs(mu) < 1e-9 else mu
        return {1.0: "strongly convex", 0.0: "convex", -1.0: "not convex"}[np.sign(mu)], mu
    """,
    AVERAGE: """
        print(W.shape)
        values = np.array([f(row) for row in W])
        w_average = np.average(W, axis=0, weights=weights)
        return w_average, np.average(values, weights=weights), f(w_average)
    """,
    STUCK: """
        import warnings
        warnings.warn("many calls")
        moves = np.concatenate([lengths, -lengths])
        around = w + (moves[:, None, None] * np.eye(len(w))).reshape(-1, len(w))
        return not np.any([f(v) < f(w) for v in around])
    """,
    BEST: """
        import itertools
        found = {f(w): w}
        for s, *p in itertools.product(lengths, *[(-1.0, 0.0, 1.0)] * len(w)):
            v = w + s * np.array(p)
            found.setdefault(f(v), v)
        print(min(found))
        return found[min(found)]
    """,
    ORDER: """
        order_of_growth = list("EJCFLAHD")
        print(order_of_growth)
    """,
}
NOISY = dedented(NOISY)


RIGHT = {"looped": LOOPED, "noisy": NOISY}

ALL_OF_1A = "p1-search p1-roles p1-convex"
ALL_OF_2 = "p2-sums p2-others p2-nested"
BOTH_ORDER = "p5-lines p5-order"
MISTAKES = {
    "1-gap-with-the-wrong-sign": Mistake(
        CHORD, ALL_OF_1A, {"gap = ": "gap = -1 * (", "f(z)": "f(z))"}
    ),
    "1-weights-exchanged": Mistake(
        CHORD,
        "p1-search p1-roles",
        {"z = theta * u + (1 - theta) * w": "z = theta * w + (1 - theta) * u"},
    ),
    "1-only-one-way-round": Mistake(CHORD, "p1-search p1-roles", {"i == j": "i >= j"}),
    "1-only-neighbours": Mistake(CHORD, "p1-search", {"i == j": "abs(i - j) != 1"}),
    "1-first-that-fails": Mistake(
        CHORD,
        "p1-search p1-roles p1-convex",
        {"if best is None or gap < best[0]": "if best is None or best[0] >= 0"},
    ),
    "1-first-theta": Mistake(CHORD, "p1-search", {"in thetas": "in thetas[:1]"}),
    "1-returns-the-gap": Mistake(
        CHORD, ALL_OF_1A, {"best[1], best[2], best[3]": "best[0], best[1], best[2]"}
    ),
    "1-returns-rows-numbers": Mistake(
        CHORD, ALL_OF_1A, {"(gap, u, w, theta)": "(gap, i, j, theta)"}
    ),
    "1-silent-if-convex": Mistake(
        CHORD,
        "p1-convex",
        {"return best[1]": "if best[0] >= 0:\n    return None\nreturn best[1]"},
    ),
    "1-counts-u-to-u": Mistake(
        CHORD,
        "p1-convex",
        {"if i == j:\n            continue": "if i < 0:\n            continue"},
    ),
    "1-bump-at-0": Mistake(SPOT, "p1-blind", {"np.floor(places[0]) - 2.0": "0.3"}),
    "1-bump-at-a-number-of-z": Mistake(
        SPOT, "p1-blind", {"np.floor(places[0]) - 2.0": "places[0]"}
    ),
    "1-dent-for-bump": Mistake(SPOT, "p1-blind", {"middle**2 + 1": "middle**2 - 1"}),
    "1-expects-sorted-z": Mistake(ENDS, "p1-blind", {"min(z)": "z[0]"}),
    "2-negative-weights-keep": Mistake(RULES, "p2-sums p2-nested", {"up, down = down, up": "pass"}),
    "2-negative-weights-unknown": Mistake(
        RULES, "p2-sums p2-nested", {"up, down = down, up": "up, down = False, False"}
    ),
    "2-weight-0-counts": Mistake(RULES, "p2-sums p2-nested", {"q == 0": "q is None"}),
    "2-maximum-of-one": Mistake(RULES, "p2-others p2-nested", {'"max" and len(e[1]) > 1': '"max"'}),
    "2-maximum-stays-affine": Mistake(
        RULES, "p2-others p2-nested", {"concave = False\n    if": "pass\n    if"}
    ),
    "2-minimum-keeps-convexity": Mistake(  # the table of what does not keep convexity
        RULES, "p2-others p2-nested", {'e[0] == "min" and': 'e[0] == "none" and'}
    ),
    "2-convex-of-convex": Mistake(
        RULES, "p2-others p2-nested", {"both(e[2]) == (True, True)": "both(e[2])[0]"}
    ),
    "2-product-of-one": Mistake(
        RULES, "p2-others p2-nested", {'e[0] == "product"': 'e[0] == "product" and len(e[1]) > 1'}
    ),
    "2-inner-ignored": Mistake(
        RULES, "p2-others p2-nested", {"both(e[2]) == (True, True)": "True"}
    ),
    "2-any-for-all": Mistake(
        RULES,
        ALL_OF_2,
        {"convex = convex and up": "convex = up", "concave = concave and down": "concave = down"},
    ),
    "2-not-convex-for-unknown": Mistake(
        RULES, ALL_OF_2, {'return "unknown"': 'return "not convex"'}
    ),
    "2-answers-yes-or-no": Mistake(
        RULES, ALL_OF_2, {"convex, concave = both(expression)": "return both(expression)[0]"}
    ),
    "3-largest-for-smallest": Mistake(
        CHORDS, "p3-chords p3-silent", {"min(allowed)": "max(allowed)"}
    ),
    "3-forgets-the-half": Mistake(CHORDS, "p3-chords p3-silent", {"** 2 / 2": "** 2"}),
    "3-length-not-squared": Mistake(
        CHORDS, "p3-chords p3-silent", {"np.linalg.norm(u - w) ** 2": "np.linalg.norm(u - w)"}
    ),
    "3-never-negative": Mistake(
        CHORDS, "p3-chords p3-silent", {"min(allowed)": "max(0.0, min(allowed))"}
    ),
    "3-equal-rows-count": Mistake(CHORDS, "p3-silent", {"np.array_equal(u, w)": "i == j"}),
    "3-short-chords-left-out": Mistake(
        CHORDS, "p3-chords", {"np.array_equal(u, w)": "np.linalg.norm(u - w) < 0.2"}
    ),
    "3-thetas-of-0-and-1-count": Mistake(CHORDS, "p3-silent", {"theta in (0, 1)": "theta < 0"}),
    "3-one-way-round": Mistake(
        CHORDS, "p3-chords", {"range(len(points)):\n        u": "range(i):\n        u"}
    ),
    "3-eigenvalues-of-H": Mistake(QUADRATIC, "p3-quadratic", {"0.5 * (H + H.transpose())": "H"}),
    "3-half-the-matrix": Mistake(
        QUADRATIC, "p3-quadratic", {"symmetric = 0.5": "symmetric = 0.25"}
    ),
    "3-singular-values": Mistake(
        QUADRATIC,
        "p3-quadratic",
        {"min(np.linalg.eigvals(symmetric).real)": "np.linalg.svd(symmetric)[1][-1]"},
    ),
    "3-rounding-decides": Mistake(QUADRATIC, "p3-quadratic", {"1e-9": "0"}),
    "3-only-positive-is-convex": Mistake(
        QUADRATIC, "p3-quadratic", {'return "convex"': 'return "not convex"'}
    ),
    "3-tolerance-too-wide": Mistake(QUADRATIC, "p3-quadratic", {"1e-9": "0.01"}),
    "4-weights-not-normalised": Mistake(
        AVERAGE, "p4-average", {"total = sum(weights)": "total = 1"}
    ),
    "4-plain-mean": Mistake(AVERAGE, "p4-average", {"weights[t] / total": "1 / len(W)"}),
    "4-without-the-first": Mistake(
        AVERAGE, "p4-average", {"in range(len(W))": "in range(1, len(W))"}
    ),
    "4-without-the-last": Mistake(
        AVERAGE, "p4-average", {"in range(len(W))": "in range(len(W) - 1)"}
    ),
    "4-value-before-promise": Mistake(
        AVERAGE, "p4-average", {"promise, f(w_average)": "f(w_average), promise"}
    ),
    "4-stuck-if-one-fails": Mistake(STUCK, "p4-stuck", {"f(v) < f(w)": "f(v) > f(w)"}),
    "4-equal-is-lower": Mistake(STUCK, "p4-stuck", {"f(v) < f(w)": "f(v) <= f(w)"}),
    "4-only-forwards": Mistake(STUCK, "p4-stuck", {"(1.0, -1.0)": "(1.0,)"}),
    "4-keeps-moving": Mistake(
        STUCK,
        "p4-stuck",
        {
            "for j in range(len(w))": "v = w.copy()\nfor j in range(len(w))",
            "            v = w.copy()\n": "",
        },
    ),
    "4-stuck-moves-w": Mistake(
        STUCK,
        "p4-stuck",
        {
            "for j in": "here = f(w)\nfor j in",
            "v = w.copy()": "v, old = w, w[j]",
            "f(v) < f(w)": "f(v) < here",
            "return False": "return False\n            v[j] = old",
        },
    ),
    "4-true-for-false": Mistake(
        STUCK, "p4-stuck", {"False": "None", "True": "False", "None": "True"}
    ),
    "4-diagonals-only": Mistake(BEST, "p4-best", {"(-1, 0, 1)": "(-1, 1)"}),
    "4-coordinates-only": Mistake(
        BEST, "p4-best", {"if f(v)": "if np.count_nonzero(p) == 1 and f(v)"}
    ),
    "4-first-lower-point": Mistake(BEST, "p4-best", {"best = v": "return v"}),
    "4-walks-on": Mistake(
        BEST,
        "p4-best",
        {"return best": "return best if best is w else best_neighbour(f, best, lengths)"},
    ),
    "4-changes-w": Mistake(BEST, "p4-best", {"return best": "w[:] = best\nreturn best"}),
    "5-constant-at-the-middle": Mistake(ORDER, "p5-lines", {'"H"': '"B"'}),
    "5-theta-to-1": Mistake(ORDER, "p5-lines", {'"H"': '"K"'}),
    "5-chord-below": Mistake(ORDER, "p5-lines", {'"F"': '"I"'}),
    "5-always-a-minimiser": Mistake(ORDER, BOTH_ORDER, {'"J"': '"G"'}),  # E002-02
    "5-point-after-its-value": Mistake(ORDER, "p5-order", {'"J", "F", "C"': '"F", "J", "C"'}),
    "5-minimiser-before-the-point": Mistake(ORDER, "p5-order", {'"J", "F", "C"': '"C", "J", "F"'}),
    "5-limit-before-division": Mistake(ORDER, "p5-order", {'"A", "H"': '"H", "A"'}),
    "5-uniqueness-before-growth": Mistake(ORDER, "p5-order", {'"H", "D"': '"D", "H"'}),
    "5-without-the-point": Mistake(ORDER, BOTH_ORDER, {' "J",': ""}),
    "5-all-lines": Mistake(ORDER, BOTH_ORDER, {'"D"]': '"D", "B", "G", "I", "K"]'}),
    "5-a-line-twice": Mistake(ORDER, BOTH_ORDER, {'"A", "H"': '"A", "A"'}),
    "5-one-word": Mistake(
        ORDER, "p5-lines p5-order", {'["E", "J", "F", "C", "L", "A", "H", "D"]': '"EJFCLAHD"'}
    ),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["1-silent-if-convex", "2-convex-of-convex"]
