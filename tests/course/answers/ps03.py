"""Problem set 3: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

DIRECTION, STEP, PATH = "ps03-p1-direction-answer", "ps03-p1-step-answer", "ps03-p1-path-answer"
LARGEST, CONTRACTION = "ps03-p2-largest-answer", "ps03-p2-contraction-answer"
STEPS, HINGE = "ps03-p2-steps-answer", "ps03-p2-hinge-answer"
ARMIJO, GUARANTEE = "ps03-p3-armijo-answer", "ps03-p3-guarantee-answer"
FIRST, FIRES, CERTIFIED = "ps03-p4-first-answer", "ps03-p4-fires-answer", "ps03-p4-certified-answer"
ORDER = "ps03-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    DIRECTION: """
        slope = 0.0
        for j in range(len(g)):
            slope += g[j] * p[j]
        return slope < 0
    """,
    STEP: """
        eta = kappa
        if rule == "kappa/t":
            eta = kappa / t
        if rule == "kappa/sqrt(t)":
            eta = kappa / np.sqrt(t)
        new = w.copy()
        for j in range(len(w)):
            new[j] = w[j] + eta * p[j]
        return new
    """,
    PATH: """
        path = np.zeros((T + 1, len(w)))
        path[0] = w
        for t in range(1, T + 1):
            eta = kappa
            if rule == "kappa/t":
                eta = kappa / t
            if rule == "kappa/sqrt(t)":
                eta = kappa / t**0.5
            path[t] = path[t - 1] - eta * grad(path[t - 1])
        return path
    """,
    LARGEST: """
        L = max(np.linalg.eigvals(H).real)
        return 2 / L
    """,
    CONTRACTION: """
        values = np.linalg.eigvals(H).real
        mu, L = min(values), max(values)
        return max(abs(1 - eta * mu), abs(1 - eta * L))
    """,
    STEPS: """
        values = np.linalg.eigvals(H).real
        factor = max(abs(1 - eta * v) for v in values)
        if factor >= 1:
            return float("inf")
        T = 0
        while factor**T > share:
            T += 1
        return T
    """,
    HINGE: """
        n = len(X)
        s = max(np.linalg.eigvalsh(X.T @ X))
        L = lam + s / n
        return L, lam
    """,
    ARMIJO: """
        eta = kappa
        cuts = 0
        square = sum(g_j * g_j for g_j in g)
        while not f(w - eta * g) <= f(w) - beta * eta * square:
            if cuts == max_cuts:
                return 0.0, max_cuts
            eta = gamma * eta
            cuts += 1
        return eta, cuts
    """,
    GUARANTEE: """
        passes = 2 * (1 - beta) / L
        eta = kappa
        cuts = 0
        while eta > passes:
            eta = eta * gamma
            cuts = cuts + 1
        return min(kappa, gamma * passes), cuts
    """,
    FIRST: """
        for t in range(1, len(values)):
            if values[t - 1] - values[t] <= eps:
                return t
        return 0
    """,
    FIRES: """
        t = 1
        while 2 * R / (lam * t) > eps:
            t += 1
        return t
    """,
    CERTIFIED: """
        for steps in range(max_steps + 1):
            g = grad(w)
            bound = np.linalg.norm(g) ** 2 / (2 * mu)
            if bound <= eps or steps == max_steps:
                return w, steps, bound
            w = w - eta * g
    """,
    ORDER: """
        order_of_rate = ["G", "A", "C", "H", "E", "I", "D"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = {
    DIRECTION: """
        print("cosine", np.dot(g, p) / np.linalg.norm(g) / np.linalg.norm(p))  # 0/0 for g = 0
        return np.dot(g, p) < 0
    """,
    STEP: """
        import warnings
        warnings.warn("rules in a dictionary")
        sizes = {"constant": 1.0, "kappa/t": 1.0 / t, "kappa/sqrt(t)": t**-0.5}
        return np.add(w, kappa * sizes[rule] * p)
    """,
    PATH: """
        def path_from(w, t):
            if t > T:
                return [w]
            return [w, *path_from(descent_step(w, -grad(w), t, rule, kappa), t + 1)]
        print(T, "steps")
        return np.vstack(path_from(w, 1))
    """,
    LARGEST: """
        print("H", H)
        return 2.0 / np.linalg.norm(H, 2)
    """,
    CONTRACTION: """
        one_step = np.eye(len(H)) - eta * H
        print(one_step)
        return np.linalg.norm(one_step, ord=2)
    """,
    STEPS: """
        factor = contraction(H, eta)
        print("factor", factor)
        if not factor < 1:
            return np.inf
        if factor < 1e-12:
            return 1
        return np.ceil(np.log(share) / np.log(factor))
    """,
    HINGE: """
        import warnings
        warnings.warn("singular values")
        return lam + np.linalg.svd(X)[1][0] ** 2 / X.shape[0], lam
    """,
    ARMIJO: """
        def passes(eta):
            return f(w - eta * g) - f(w) + beta * eta * np.dot(g, g) <= 0
        sizes = [kappa * gamma**j for j in range(max_cuts + 1)]
        print(np.divide(0.0, np.zeros(1)))
        for cuts, eta in enumerate(sizes):
            if passes(eta):
                return eta, cuts
        return 0, max_cuts
    """,
    GUARANTEE: """
        edge = (2 - 2 * beta) / L
        cuts = np.ceil(np.log(edge / kappa) / np.log(gamma))
        print("cuts", cuts)
        return np.minimum(kappa, edge * gamma), max(0, int(cuts))
    """,
    FIRST: """
        import warnings
        warnings.warn("np.diff")
        small = np.flatnonzero(-np.diff(values) <= eps)
        return small[0] + 1 if len(small) else 0
    """,
    FIRES: """
        steps = 2 * R / lam / eps
        print(steps, "steps")
        return -int(-steps // 1)
    """,
    CERTIFIED: """
        def proved(v):
            return np.sum(grad(v) ** 2) / 2 / mu
        steps = 0
        print(w / 0.0)
        while not proved(w) <= eps:
            if steps >= max_steps:
                break
            w = w - eta * grad(w)
            steps += 1
        return w, steps, proved(w)
    """,
    ORDER: """
        order_of_rate = tuple("CGHAEID")
        print(order_of_rate)
    """,
}
NOISY = dedented(NOISY)


RIGHT = {"looped": LOOPED, "noisy": NOISY}

BOTH_ORDER = "p5-lines p5-order"
BOTH_ARMIJO = "p3-share p3-cap"
BOTH_CERTIFIED = "p4-certified p4-ends"
MISTAKES = {
    "1-ascent-for-descent": Mistake(DIRECTION, "p1-direction", {"slope < 0": "slope > 0"}),
    "1-slope-0-descends": Mistake(DIRECTION, "p1-direction", {"slope < 0": "slope <= 0"}),
    "1-signs-of-all-entries": Mistake(
        DIRECTION, "p1-direction", {"return slope < 0": "return bool(np.all(g * p < 0))"}
    ),
    "1-wrong-way": Mistake(STEP, "p1-step", {"w[j] + eta": "w[j] - eta"}),
    "1-step-counts-from-0": Mistake(
        STEP, "p1-step", {"eta = kappa\n": "eta = kappa\nt = t - 1 or 1\n"}
    ),
    "1-root-of-kappa-too": Mistake(STEP, "p1-step", {"kappa / np.sqrt(t)": "np.sqrt(kappa / t)"}),
    "1-changes-w": Mistake(STEP, "p1-step", {"w.copy()": "w"}),
    "1-path-without-the-start": Mistake(PATH, "p1-path", {"return path": "return path[1:]"}),
    "1-path-without-the-end": Mistake(PATH, "p1-path", {"return path": "return path[:-1]"}),
    "1-path-along-the-gradient": Mistake(PATH, "p1-path", {"- eta": "+ eta"}),
    "1-path-always-from-the-start": Mistake(PATH, "p1-path", {"grad(path[t - 1])": "grad(w)"}),
    "1-path-of-one-array": Mistake(
        PATH,
        "p1-path",
        {
            "path = np.zeros((T + 1, len(w)))": "path, v = [None] * (T + 1), w.copy()",
            "path[0] = w": "path[0] = v",
            "path[t] = path[t - 1] - eta * grad(path[t - 1])": "v -= eta * grad(v); path[t] = v",
            "return path": "return np.array(path)",
        },
    ),
    "2-one-over-L": Mistake(LARGEST, "p2-largest", {"2 / L": "1 / L"}),
    "2-smallest-eigenvalue": Mistake(LARGEST, "p2-largest", {"max(": "min("}),
    "2-best-for-largest": Mistake(
        LARGEST, "p2-largest", {"2 / L": "2 / (L + min(np.linalg.eigvals(H).real))"}
    ),
    "2-only-mu": Mistake(
        CONTRACTION,
        "p2-contraction",
        {"max(abs(1 - eta * mu), abs(1 - eta * L))": "abs(1 - eta * mu)"},
    ),
    "2-without-the-size": Mistake(CONTRACTION, "p2-contraction", {"abs(": "("}),
    "2-best-case": Mistake(CONTRACTION, "p2-contraction", {"return max": "return min"}),
    "2-squares-the-distance": Mistake(STEPS, "p2-steps", {"factor**T": "factor ** (2 * T)"}),
    "2-never-infinite": Mistake(STEPS, "p2-steps", {'float("inf")': "0"}),
    "2-one-step-too-many": Mistake(STEPS, "p2-steps", {"factor**T > share": "factor**T >= share"}),
    "2-best-direction": Mistake(STEPS, "p2-steps", {"max(abs": "min(abs"}),
    "2-logarithm-of-0": Mistake(
        STEPS,
        "p2-steps",
        {"T = 0": "return np.ceil(np.log(share) / np.log(factor))\nT = 0"},
    ),
    "2-L-without-n": Mistake(HINGE, "p2-hinge", {"s / n": "s"}),
    "2-L-without-lam": Mistake(HINGE, "p2-hinge", {"lam + s": "s"}),
    "2-mu-of-a-quadratic": Mistake(
        HINGE, "p2-hinge", {"L, lam": "L, lam + min(np.linalg.eigvalsh(X.T @ X)) / n"}
    ),
    "3-plain-backtracking": Mistake(  # E002-07
        ARMIJO, BOTH_ARMIJO, {"<= f(w) - beta * eta * square": "< f(w)"}
    ),
    "3-fault-1-no-eta": Mistake(ARMIJO, BOTH_ARMIJO, {"beta * eta *": "beta *"}),
    "3-fault-2-cut-by-1-gamma": Mistake(ARMIJO, BOTH_ARMIJO, {"gamma * eta": "(1 - gamma) * eta"}),
    "3-fault-3-returns-the-last": Mistake(
        ARMIJO, "p3-cap", {"return 0.0, max_cuts": "return eta, max_cuts"}
    ),
    "3-length-not-squared": Mistake(ARMIJO, "p3-share", {"* square": "* square**0.5"}),
    "3-strict": Mistake(ARMIJO, BOTH_ARMIJO, {"<= f(w)": "< f(w)"}),
    "3-cap-one-too-few": Mistake(
        ARMIJO, "p3-cap", {"if cuts == max_cuts": "if cuts >= max_cuts - 1"}
    ),
    "3-cap-one-too-many": Mistake(
        ARMIJO, "p3-cap", {"if cuts == max_cuts": "if cuts == max_cuts + 1"}
    ),
    "3-uphill": Mistake(ARMIJO, BOTH_ARMIJO, {"w - eta * g": "w + eta * g"}),
    "3-guarantee-without-gamma": Mistake(GUARANTEE, "p3-guarantee", {"gamma * passes": "passes"}),
    "3-guarantee-of-a-step-that-passes": Mistake(
        GUARANTEE, "p3-guarantee", {"return min": "if not cuts:\n    return kappa, 0\nreturn min"}
    ),
    "3-guarantee-one-over-L": Mistake(GUARANTEE, "p3-guarantee", {"2 * (1 - beta) / L": "1 / L"}),
    "3-guarantee-beta-for-1-beta": Mistake(GUARANTEE, "p3-guarantee", {"(1 - beta)": "beta"}),
    "3-cuts-down-to-eta-min": Mistake(
        GUARANTEE, "p3-guarantee", {"eta > passes": "eta > gamma * passes"}
    ),
    "3-cuts-rounded-down": Mistake(
        GUARANTEE, "p3-guarantee", {"passes), cuts": "passes), max(0, cuts - 1)"}
    ),
    "4-as-printed": Mistake(  # E002-08
        FIRST, "p4-first", {"values[t - 1] - values[t]": "values[t] - values[t - 1]"}
    ),
    "4-absolute-value": Mistake(
        FIRST, "p4-first", {"values[t - 1] - values[t]": "abs(values[t - 1] - values[t])"}
    ),
    "4-strictly-small": Mistake(FIRST, "p4-first", {"<= eps": "< eps"}),
    "4-fires-without-the-2": Mistake(FIRES, "p4-fires", {"2 * R": "R"}),
    "4-fires-rounded-down": Mistake(FIRES, "p4-fires", {"return t": "return max(1, t - 1)"}),
    "4-fires-without-lam": Mistake(FIRES, "p4-fires", {"(lam * t)": "t"}),
    "4-gradient-below-eps": Mistake(
        CERTIFIED, BOTH_CERTIFIED, {"if bound <= eps": "if np.linalg.norm(g) <= eps"}
    ),
    "4-bound-without-the-2": Mistake(CERTIFIED, BOTH_CERTIFIED, {"(2 * mu)": "mu"}),
    "4-mu-multiplies": Mistake(CERTIFIED, "p4-certified", {"/ (2 * mu)": "* mu / 2"}),
    "4-distance-for-value": Mistake(  # the other half of the proposition
        CERTIFIED, BOTH_CERTIFIED, {"np.linalg.norm(g) ** 2 / (2 * mu)": "np.linalg.norm(g) / mu"}
    ),
    "4-small-change": Mistake(  # E002-09
        CERTIFIED, "p4-certified", {"if bound <= eps": "if np.linalg.norm(eta * g) <= eps"}
    ),
    "4-one-step-further": Mistake(
        CERTIFIED, BOTH_CERTIFIED, {"return w, steps": "return w - eta * g, steps"}
    ),
    "4-steps-first": Mistake(
        CERTIFIED,
        "p4-ends",
        {
            "for steps": "w = w - eta * grad(w)\nfor steps",
            "range(max_steps + 1)": "range(1, max_steps + 1)",
        },
    ),
    "4-changes-w": Mistake(CERTIFIED, "p4-certified", {"w = w - eta * g": "w -= eta * g"}),
    "5-bracket-to-2-over-L": Mistake(ORDER, "p5-lines", {'"A"': '"F"'}),
    "5-loses-the-half": Mistake(ORDER, "p5-lines", {'"H"': '"B"'}),
    "5-least-the-wrong-way": Mistake(ORDER, "p5-lines", {'"E"': '"J"'}),
    "5-least-before-the-bound": Mistake(ORDER, "p5-order", {'"C", "H"': '"H", "C"'}),
    "5-value-before-the-least": Mistake(ORDER, "p5-order", {'"H", "E"': '"E", "H"'}),
    "5-bracket-before-smoothness": Mistake(ORDER, "p5-order", {'"G", "A"': '"A", "G"'}),
    "5-inserts-too-early": Mistake(ORDER, "p5-order", {'"E", "I"': '"I", "E"'}),
    "5-claim-first": Mistake(ORDER, "p5-order", {'["G"': '["D", "G"', '"I", "D"': '"I"'}),
    "5-without-convexity": Mistake(ORDER, BOTH_ORDER, {'"C", ': ""}),
    "5-all-lines": Mistake(ORDER, BOTH_ORDER, {'"D"]': '"D", "B", "F", "J"]'}),
    "5-a-line-twice": Mistake(ORDER, BOTH_ORDER, {'"C", "H"': '"H", "H"'}),
    "5-letters-in-one-word": Mistake(
        ORDER, "p5-lines p5-order", {'["G", "A", "C", "H", "E", "I", "D"]': '"GACHEID"'}
    ),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["3-plain-backtracking", "4-as-printed"]
