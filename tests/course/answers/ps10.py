"""Problem set 10: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

WITNESS, REPAIR = "ps10-p1-witness-answer", "ps10-p1-repair-answer"
MONITOR, EPOCHS, PASS = "ps10-p1-lowering-answer", "ps10-p2-answer", "ps10-p3-answer"
PROMISE, CHOICE = "ps10-p4-promise-answer", "ps10-p4-choice-answer"
ORDER = "ps10-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    WITNESS: """
        X = np.array([[1.0, 0.0], [0.0, 2.0]])
        y = np.array([1.0, -1.0])
        alpha = np.array([0.0, 0.25])
        return X, y, 0.5, alpha, 1
    """,
    REPAIR: """
        if squared == 0:
            return 1.0
        q = price + scale * (1 - label * score) / squared
        if q < 0:
            return 0.0
        if q > 1:
            return 1.0
        return q
    """,
    MONITOR: """
        n = len(y)
        values = [np.mean(alpha) - np.sum(((alpha * y) @ X) ** 2) / (2 * lam * n**2)]
        w = (alpha * y) @ X / (lam * n)
        for i in order:
            alpha, w = step(i, alpha, w, X, y, lam)
            values.append(np.mean(alpha) - np.sum(((alpha * y) @ X) ** 2) / (2 * lam * n**2))
        return [t for t in range(len(order)) if values[t + 1] < values[t] - 1e-9]
    """,
    EPOCHS: """
        n = len(y)
        alpha = alpha.copy()
        w = np.zeros(X.shape[1])
        for i in range(n):
            w = w + alpha[i] * y[i] * X[i] / (lam * n)
        gaps = []
        for epoch in range(len(orders) + 1):
            if epoch > 0:
                for i in orders[epoch - 1]:
                    norm2 = np.dot(X[i], X[i])
                    m = y[i] * np.dot(w, X[i])
                    best = 1.0
                    if norm2 > 0:
                        best = max(0.0, min(1.0, alpha[i] + lam * n * (1 - m) / norm2))
                    w = w + (best - alpha[i]) * y[i] * X[i] / (lam * n)
                    alpha[i] = best
            loss = sum(max(0, 1 - y[i] * np.dot(w, X[i])) for i in range(n)) / n
            P = lam / 2 * np.dot(w, w) + loss
            D = sum(alpha) / n - lam / 2 * np.dot(w, w)
            gaps.append(P - D)
        return alpha, w, np.array(gaps)
    """,
    PASS: """
        n = len(y)
        alpha = np.zeros(n)
        w = np.zeros(X.shape[1])
        for t in range(1, n + 1):
            i = order[t - 1]
            norm2 = np.dot(X[i], X[i])
            m = y[i] * np.dot(w, X[i])
            if norm2 == 0:
                a = 1.0
            else:
                a = lam * (t - (t - 1) * m) / norm2
                a = max(0.0, min(1.0, a))
            alpha[i] = a
            w = (1 - 1 / t) * w + a * y[i] * X[i] / (lam * t)
        return alpha, w
    """,
    PROMISE: """
        import math
        c = 4 * R**2
        N = c / (lam * eps)
        pegasos = N * (1 + math.log(N))
        if start == "zero":
            t0 = max(0, math.ceil(n * math.log(2 * lam * n / R**2)))
        else:
            t0 = math.ceil(n * math.log(4 + 4 * math.log(n))) + n
        return pegasos, t0 + n + 5 * R**2 / (lam * eps)
    """,
    CHOICE: """
        pegasos, sdca = steps_promised(n, lam, R, eps, "zero")
        if want == "promise":
            if pegasos < sdca:
                return "pegasos", "average"
            return "sdca", "average"
        return "sdca", "last"
    """,
    ORDER: """
        order_of_gain = ["H", "E", "J", "I", "C", "G", "A", "D"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = dedented(
    {
        WITNESS: """
            def dual(alpha):
                return np.mean(alpha) - np.sum(((alpha * y) @ X) ** 2) / (2 * lam * len(y) ** 2)

            rng, lam = np.random.default_rng(1), 0.1
            while True:
                X, y = rng.normal(size=(3, 2)), np.array([-1, -1, 1])
                alpha = rng.random(size=3)
                moved, _ = printed_step(0, alpha, (alpha * y) @ X / (lam * 3), X, y, lam)
                print("D changes by", dual(moved) - dual(alpha))
                if dual(moved) < dual(alpha) - 0.02:
                    return X, y, lam, alpha, 0
        """,
        REPAIR: """
            q = price + np.float64(scale) * (1 - label * score) / squared  # divides by 0
            print("top at", q)
            return np.clip(np.nan_to_num(q, posinf=1.0), 0, 1)
        """,
        MONITOR: """
            import warnings
            warnings.warn("slow")
            falls, w = [], weights_of(alpha, X, y, lam)
            for place, i in enumerate(order):
                moved, w = step(i, alpha.copy(), w, X, y, lam)
                print(place, i, moved)
                rise = dual_value(moved, X, y, lam) - dual_value(alpha, X, y, lam)
                falls += [place] if rise < -1e-9 else []
                alpha = moved
            return falls
        """,
        EPOCHS: """
            def gap(alpha, w):
                brackets = np.where(y * X.dot(w) < 1, 1 - alpha, alpha) * abs(1 - y * X.dot(w))
                return brackets.mean()

            n, Z = len(y), X * y[:, None]
            alpha = np.array(alpha)
            w = Z.T.dot(alpha) / lam / n
            gaps = [gap(alpha, w)]
            for order in orders:
                for i in order:
                    new = repaired_price(alpha[i], X[i].dot(w), y[i], Z[i].dot(Z[i]), lam * n)
                    w = w + (new - alpha[i]) / lam / n * Z[i]
                    alpha[i] = new
                w = Z.T.dot(alpha) / lam / n
                gaps.append(gap(alpha, w))
                print(gaps)
            return alpha, w, np.array(gaps)
        """,
        PASS: """
            alpha, v = np.zeros(len(y)), np.zeros(X.shape[1])
            for seen, i in enumerate(order):
                z = y[i] * X[i]
                top = (lam * (seen + 1) - z.dot(v)) / z.dot(z)  # divides by 0 for a row of zeros
                alpha[i] = np.clip(top, 0, 1)
                v = v + alpha[i] * z
            print(alpha)
            return alpha, v / (lam * len(y))
        """,
        PROMISE: """
            def log(q):
                print("ln", q)
                return np.log(q)

            steps = R**2 / lam / eps
            t0 = n * log(2 * lam * n / R**2) if start == "zero" else n * log(4 * (1 + log(n)))
            passes = 1 if start == "zero" else 2
            sdca = max(np.ceil(t0), 0) + passes * n + 5 * steps
            return 4 * steps * (1 + log(4 * steps)), sdca
        """,
        CHOICE: """
            promised = dict(zip(("pegasos", "sdca"), steps_promised(n, lam, R, eps, "zero")))
            print(promised)
            first = min(("sdca", "pegasos"), key=promised.get)
            return {"gap": ("sdca", "last"), "promise": (first, "average")}[want]
        """,
        ORDER: """
            order_of_gain = list("JECGHIAD")
            print(order_of_gain)
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

MISTAKES = {
    "1-label-plus": Mistake(WITNESS, "p1-witness", {"alpha, 1": "np.array([0.5, 0.0]), 0"}),
    "1-from-alpha-0": Mistake(WITNESS, "p1-witness", {"[0.0, 0.25]": "[0.0, 0.0]"}),
    "1-infeasible-price": Mistake(WITNESS, "p1-witness", {"[0.0, 0.25]": "[0.0, 1.5]"}),
    "1-labels-0-and-1": Mistake(WITNESS, "p1-witness", {"[1.0, -1.0]": "[1.0, 0.0]"}),
    "1-too-small-a-fall": Mistake(WITNESS, "p1-witness", {"[0.0, 0.25]": "[0.0, 0.01]"}),
    "1-number-from-1": Mistake(WITNESS, "p1-witness", {"alpha, 1": "alpha, 2"}),
    "1-row-of-zeros": Mistake(WITNESS, "p1-witness", {"[0.0, 2.0]": "[0.0, 0.0]"}),
    "1-printed": Mistake(
        REPAIR, "p1-repair", {"(1 - label * score)": "(1 - score) * label"}
    ),  # E004-01
    "1-no-label": Mistake(REPAIR, "p1-repair", {"label * score": "score"}),
    "1-label-twice": Mistake(REPAIR, "p1-repair", {"(1 - label * score)": "(label - score)"}),
    "1-descends": Mistake(REPAIR, "p1-repair", {"price + scale": "price - scale"}),  # E004-02
    "1-no-cut": Mistake(REPAIR, "p1-repair", {"if q > 1:": "if False:"}),
    "1-divides-by-0": Mistake(REPAIR, "p1-repair", {"squared == 0": "False"}),  # E004-04
    "1-zero-row-stays": Mistake(
        REPAIR, "p1-repair", {"squared == 0:\n    return 1.0": "squared == 0:\n    return price"}
    ),
    "1-always-from-the-start": Mistake(
        MONITOR, "p1-lowering", {"alpha, w = step(": "alpha, _ = step("}
    ),
    "1-counts-from-1": Mistake(MONITOR, "p1-lowering", {"return [t for": "return [t + 1 for"}),
    "1-numbers-of-examples": Mistake(
        MONITOR, "p1-lowering", {"return [t for": "return [order[t] for"}
    ),
    "1-below-the-start": Mistake(
        MONITOR, "p1-lowering", {"< values[t] - 1e-9": "< values[0] - 1e-9"}
    ),
    "1-no-change-is-a-fall": Mistake(
        MONITOR, "p1-lowering", {"< values[t] - 1e-9": "<= values[t] + 1e-12"}
    ),
    "1-any-fall": Mistake(MONITOR, "p1-lowering", {"values[t] - 1e-9": "values[t]"}),
    "1-fall-by-a-share": Mistake(
        MONITOR, "p1-lowering", {"values[t] - 1e-9": "values[t] * (1 - 1e-9)"}
    ),
    "1-start-without-labels": Mistake(
        MONITOR,
        "p1-lowering",
        {"((alpha * y) @ X) ** 2) / (2 * lam * n**2)]": "(alpha @ X) ** 2) / (2 * lam * n**2)]"},
    ),
    "1-how-many": Mistake(
        MONITOR, "p1-lowering", {"[t for t in": "sum(1 for t in", "- 1e-9]": "- 1e-9)"}
    ),
    "2-printed-step": Mistake(
        EPOCHS, "p2-epochs p2-gaps p2-inputs", {"(1 - m)": "(1 - np.dot(w, X[i])) * y[i]"}
    ),  # E004-01
    "2-gap-never-again": Mistake(
        EPOCHS, "p2-gaps p2-inputs", {"gaps.append(P - D)": "gaps.append((gaps or [P - D])[0])"}
    ),  # E004-03
    "2-no-gap-at-the-start": Mistake(
        EPOCHS, "p2-gaps p2-inputs", {"np.array(gaps)": "np.array(gaps[1:])"}
    ),
    "2-starts-from-0": Mistake(
        EPOCHS, "p2-gaps p2-inputs", {"alpha = alpha.copy()": "alpha = np.zeros(n)"}
    ),
    "2-w-starts-from-0": Mistake(
        EPOCHS, "p2-gaps p2-inputs", {"for i in range(n):\n    w =": "for i in range(0):\n    w ="}
    ),
    "2-w-not-kept-up": Mistake(
        EPOCHS,
        "p2-epochs p2-gaps p2-inputs",
        {
            "            w = w + (best - alpha[i]) * y[i] * X[i] / (lam * n)\n": "",
            "    loss =": "    w = (alpha * y) @ X / (lam * n)\n    loss =",
        },
    ),
    "2-w-anew-each-step": Mistake(
        EPOCHS,
        "p2-epochs",
        {
            "* y[i] * X[i] / (lam * n)\n            alpha[i] = best": "* y[i] * X[i] / (lam * n)\n"
            "            alpha[i] = best\n            w = (alpha * y) @ X / (lam * n)"
        },
    ),
    "2-all-margins-each-step": Mistake(
        EPOCHS, "p2-epochs", {"m = y[i] * np.dot(w, X[i])": "m = (y * (X @ w))[i]"}
    ),
    "2-alpha-before-w": Mistake(
        EPOCHS,
        "p2-epochs p2-gaps p2-inputs",
        {"w = w + (best - alpha[i])": "alpha[i] = best\n            w = w + (best - alpha[i])"},
    ),
    "2-no-cut": Mistake(
        EPOCHS,
        "p2-epochs p2-gaps p2-inputs",
        {"max(0.0, min(1.0, alpha[i]": "max(-9.0, min(9.0, alpha[i]"},
    ),
    "2-zero-row-skipped": Mistake(EPOCHS, "p2-inputs", {"best = 1.0\n": "best = alpha[i]\n"}),
    "2-first-order-again": Mistake(
        EPOCHS, "p2-epochs p2-gaps p2-inputs", {"orders[epoch - 1]": "orders[0]"}
    ),
    "2-each-example-once": Mistake(
        EPOCHS, "p2-inputs", {"in orders[epoch - 1]": "in dict.fromkeys(orders[epoch - 1])"}
    ),
    "2-changes-alpha": Mistake(EPOCHS, "p2-inputs", {"alpha = alpha.copy()": "alpha = alpha"}),
    "2-distance-for-gap": Mistake(EPOCHS, "p2-gaps p2-inputs", {"P - D)": "P)"}),
    "3-factor-in-print": Mistake(
        PASS, "p3-prices p3-weights", {"lam * (t - (t - 1) * m)": "lam * t * (1 - m)"}
    ),
    "3-all-examples": Mistake(
        PASS, "p3-prices p3-weights", {"lam * (t - (t - 1) * m)": "lam * n * (1 - m)"}
    ),
    "3-t-from-0": Mistake(
        PASS, "p3-prices p3-weights", {"lam * (t - (t - 1) * m)": "lam * (t - 1 - t * m)"}
    ),
    "3-pegasos": Mistake(PASS, "p3-prices p3-weights", {"max(0.0, min(1.0, a))": "float(m < 1)"}),
    "3-no-cut": Mistake(PASS, "p3-prices", {"max(0.0, min(1.0, a))": "a"}),
    "3-w-by-n": Mistake(
        PASS, "p3-prices p3-weights", {"(1 - 1 / t) * w": "w", "/ (lam * t)": "/ (lam * n)"}
    ),
    "3-printed-parenthesis": Mistake(
        PASS, "p3-prices p3-weights", {"(t - (t - 1) * m)": "(t - (t - 1) * m * y[i]) * y[i]"}
    ),
    "3-stored-in-order": Mistake(
        PASS, "p3-prices p3-weights", {"alpha[i] = a": "alpha[t - 1] = a"}
    ),
    "3-data-order": Mistake(PASS, "p3-prices", {"order[t - 1]": "t - 1"}),
    "3-zero-row-free": Mistake(PASS, "p3-prices", {"a = 1.0": "a = 0.0"}),
    "3-changes-X": Mistake(
        PASS, "p3-prices", {"z = y[i] * X[i]": "z = X[i]\n    z *= y[i]"}, "noisy"
    ),
    "4-projected-c": Mistake(
        PROMISE, "p4-promise", {"c = 4 * R**2": "c = (np.sqrt(lam) + R) ** 2"}
    ),  # E000-12
    "4-no-logarithm": Mistake(PROMISE, "p4-promise", {"N * (1 + math.log(N))": "N"}),  # E004-05
    "4-R-for-its-square": Mistake(PROMISE, "p4-promise", {"5 * R**2": "5 * R"}),
    "4-R-forgotten": Mistake(PROMISE, "p4-promise", {"2 * lam * n / R**2": "2 * lam * n"}),
    "4-t0-negative": Mistake(
        PROMISE, "p4-promise", {"max(0, math.ceil(": "max(-(10**9), math.ceil("}
    ),
    "4-not-rounded-up": Mistake(
        PROMISE, "p4-promise", {"math.ceil(n * math.log(2": "(n * math.log(2"}
    ),
    "4-pass-for-free": Mistake(PROMISE, "p4-promise", {"(n))) + n": "(n)))"}),
    "4-pass-ignored": Mistake(PROMISE, "p4-promise", {'start == "zero"': "True"}),
    "4-larger-promise": Mistake(CHOICE, "p4-choice", {"pegasos < sdca": "pegasos > sdca"}),
    "4-pegasos-last": Mistake(CHOICE, "p4-choice", {'"pegasos", "average"': '"pegasos", "last"'}),
    "4-want-ignored": Mistake(CHOICE, "p4-choice", {'want == "promise"': "True"}),
    "4-sdca-always": Mistake(CHOICE, "p4-choice", {"pegasos < sdca": "False"}),
    "4-from-the-pass": Mistake(CHOICE, "p4-choice", {'"zero"': '"pass"'}),
    "4-pegasos-in-one-pass": Mistake(CHOICE, "p4-choice", {"pegasos < sdca": "pegasos < n"}),
    "5-sign-of-the-bracket": Mistake(ORDER, "p5-lines", {'"J"': '"B"'}),
    "5-gap-for-distance": Mistake(ORDER, "p5-lines", {'"H"': '"F"'}),
    "5-slope-not-divided": Mistake(ORDER, "p5-lines", {'"G"': '"K"'}),
    "5-that-step-too-early": Mistake(ORDER, "p5-order", {'"C", "G"': '"G", "C"'}),
    "5-both-cases-after-one": Mistake(ORDER, "p5-order", {'"J", "I"': '"I", "J"'}),
    "5-bracket-inserted-unproved": Mistake(
        ORDER, "p5-order", {'"I", "C", "G", "A"': '"C", "G", "A", "I"'}
    ),
    "5-rise-before-the-step": Mistake(ORDER, "p5-order", {'"G", "A"': '"A", "G"'}),
    "5-mean-too-late": Mistake(ORDER, "p5-order", {'["H", ': "[", '"A", "D"': '"A", "D", "H"'}),
    "5-as-printed": Mistake(
        ORDER, "p5-order", {'["H", "E", "J", "I", "C", "G", "A", "D"]': 'list("ACEGHIJD")'}
    ),
    "5-one-case-forgotten": Mistake(ORDER, "p5-lines p5-order", {'"E", ': ""}),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["1-printed", "2-zero-row-skipped"]
