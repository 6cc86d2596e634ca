"""Problem set 4: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

SLOPES, CHOICE = "ps04-p1-slopes-answer", "ps04-p1-choice-answer"
FERMAT, ALPHA = "ps04-p2-fermat-answer", "ps04-p2-alpha-answer"
STEP, UP = "ps04-p3-step-answer", "ps04-p3-up-answer"
METHOD, ORDER = "ps04-p4-answer", "ps04-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = dedented(
    {
        SLOPES: """
            top = max(a[r] * x + b[r] for r in range(len(a)))
            slopes = []
            for r in range(len(a)):
                if a[r] * x + b[r] >= top - 1e-9:
                    slopes.append(a[r])
            return min(slopes), max(slopes)
        """,
        CHOICE: """
            n = len(y)
            g = lam * w
            for i in range(n):
                margin = y[i] * np.dot(w, X[i])
                if abs(margin - 1) <= 1e-9:
                    part = theta[i]
                elif margin < 1:
                    part = 1.0
                else:
                    part = 0.0
                g = g - part * y[i] * X[i] / n
            return g
        """,
        FERMAT: """
            n = len(y)
            rest = n * lam * w
            kinks = []
            for i in range(n):
                margin = y[i] * np.dot(w, X[i])
                if abs(margin - 1) <= 1e-9:
                    kinks.append(y[i] * X[i])
                elif margin < 1:
                    rest = rest - y[i] * X[i]
            for part in [0] if kinks else []:
                Z = np.array(kinks)
                alpha = np.linalg.solve(Z @ Z.T, Z @ rest)
                if min(alpha) < -1e-9 or max(alpha) > 1 + 1e-9:
                    return False
                rest = rest - alpha @ Z
            return all(abs(r) < 1e-9 for r in rest)
        """,
        ALPHA: """
            n = len(y)
            alpha = np.zeros(n)
            rest = lam * n * w
            kinks = []
            for i in range(n):
                margin = y[i] * np.dot(w, X[i])
                if abs(margin - 1) <= 1e-9:
                    kinks.append(i)
                elif margin < 1:
                    alpha[i] = 1.0
                    rest = rest - y[i] * X[i]
            if kinks:
                Z = (y[:, None] * X)[kinks]
                alpha[kinks] = np.linalg.solve(Z @ Z.T, Z @ rest)
            return alpha
        """,
        STEP: """
            length = np.linalg.norm(g)
            if gap == 0 or length == 0:
                return w + 0
            eta = 0.5 * (2 * gap / length**2)
            return np.array([w[j] - eta * g[j] for j in range(len(w))])
        """,
        UP: """
            new = [w[j] - eta * g[j] for j in range(len(w))]
            rises = f(np.array(new)) > f(w)
            before = sum((w[j] - u[j]) ** 2 for j in range(len(w)))
            after = sum((new[j] - u[j]) ** 2 for j in range(len(w)))
            return bool(rises), bool(after < before)
        """,
        METHOD: """
            iterates = [np.array(start)]
            for t in range(1, T):
                w = iterates[t - 1]
                eta = D / (G * np.sqrt(t))
                iterates.append(project(w - eta * subgradient(w)))
            best = 0
            for t in range(1, T):
                if f(iterates[t]) < f(iterates[best]):
                    best = t
            average = sum(iterates) / T
            return iterates[best], average, 3 * D * G / (2 * np.sqrt(T))
        """,
        ORDER: """
            order_of_bound = ["D", "F", "I", "A", "H", "C"]
        """,
    }
)

# Right values, with all that must not cost a point: prints, warnings, 0/0, other types.
NOISY = LOOPED | dedented(
    {
        SLOPES: """
            import warnings

            warnings.warn("many lines")
            print("at", x)
            pairs = sorted(zip(a, b), key=lambda line: line[0] * x + line[1])
            high = pairs[-1][0] * x + pairs[-1][1]
            near = [slope for slope, height in pairs if abs(slope * x + height - high) < 1e-9]
            return (float(np.min(near)), float(np.max(near)))
        """,
        CHOICE: """
            print(theta)
            m = np.einsum("ij,j->i", X, w) * y
            share = np.ones(len(y))
            share[m > 1] = 0
            share[np.isclose(m, 1, rtol=0, atol=1e-9)] = theta[np.isclose(m, 1, rtol=0, atol=1e-9)]
            return lam * w - np.mean(share[:, None] * y[:, None] * X, axis=0)
        """,
        FERMAT: """
            print("asked at", w)
            n, Z = len(y), X * y.reshape(-1, 1)
            m = Z @ w
            free = np.isclose(m, 1, rtol=0, atol=1e-9)
            rest = n * lam * w - Z[~free & (m < 1)].sum(0)
            A = np.linalg.pinv(Z[free].T) @ rest
            fits = np.allclose(Z[free].T @ A, rest, rtol=0, atol=1e-9)
            return np.bool_(fits and np.all(A > -1e-9) and np.all(A < 1 + 1e-9))
        """,
        ALPHA: """
            Z = X * y.reshape(-1, 1)
            m = Z @ w
            free = np.isclose(m, 1, rtol=0, atol=1e-9)
            alpha = (m < 1) * 1.0
            alpha[free] = np.linalg.pinv(Z[free].T) @ (
                lam * len(y) * w - Z[~free & (m < 1)].sum(0)
            )
            return list(alpha)
        """,
        STEP: """
            print("gap", gap)
            with np.errstate(all="ignore"):
                eta = np.float64(gap) / np.dot(g, g)
            return w - np.where(gap > 0, eta, 0) * g if np.any(g) else w
        """,
        UP: """
            v = w - eta * g
            print(v)
            return np.all(f(v) > f(w)), np.linalg.norm(v - u) < np.linalg.norm(w - u)
        """,
        METHOD: """
            print("start", start)
            W = np.zeros((T, len(start)))
            W[0] = start
            for s in range(T - 1):
                W[s + 1] = project(W[s] - D / G / (s + 1) ** 0.5 * subgradient(W[s]))
            values = [float(np.sum(f(w))) for w in W]
            return W[values.index(min(values))], W.mean(axis=0), D * G * 1.5 * T**-0.5
        """,
        ORDER: """
            order_of_bound = list("IFDAHC")
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

OWN_BEST = {"best = 0": "best = T - 1", "for t in range(1, T):\n    if": "for t in []:\n    if"}
MISTAKES = {
    "1-first-active-only": Mistake(
        SLOPES, "p1-kink", {"min(slopes), max(slopes)": "slopes[0], slopes[0]"}
    ),
    "1-ends-swapped": Mistake(
        SLOPES, "p1-kink", {"min(slopes), max(slopes)": "max(slopes), min(slopes)"}
    ),
    "1-all-slopes": Mistake(SLOPES, "p1-smooth p1-kink", {">= top - 1e-9": "<= top"}),
    "1-exact-equality": Mistake(SLOPES, "p1-kink", {">= top - 1e-9": "== top"}),
    "1-nearly-active": Mistake(SLOPES, "p1-kink", {"top - 1e-9": "top - 1e-3"}),
    "1-a-millionth-below-is-active": Mistake(SLOPES, "p1-kink", {"top - 1e-9": "top - 1e-6"}),
    "1-slopes-of-small-steps": Mistake(
        SLOPES,
        "p1-kink",
        {
            "slopes = []": """\
def f(x):
    return max(a * x + b)
h = 2.0**-20
return (f(x) - f(x - h)) / h, (f(x + h) - f(x)) / h
slopes = []"""
        },
    ),
    "1-forgets-the-heights": Mistake(SLOPES, "p1-smooth p1-kink", {" + b[r]": ""}),
    "1-ends-as-given": Mistake(
        SLOPES, "p1-kink", {"min(slopes), max(slopes)": "slopes[0], slopes[-1]"}
    ),
    "1-changes-the-heights": Mistake(SLOPES, "p1-kink", {"top =": "b += a * x\nx = 0\ntop ="}),
    "1-theta-for-all": Mistake(CHOICE, "p1-choice", {"part = 1.0": "part = theta[i]"}),
    "1-theta-beyond-the-kink": Mistake(CHOICE, "p1-choice", {"part = 0.0": "part = theta[i]"}),
    "1-theta-ignored": Mistake(CHOICE, "p1-choice", {"part = theta[i]": "part = 0.0"}),
    "1-theta-exact-kink": Mistake(CHOICE, "p1-choice", {"abs(margin - 1) <= 1e-9": "margin == 1"}),
    "1-no-label": Mistake(CHOICE, "p1-choice", {"part * y[i] * X[i]": "part * X[i]"}),
    "1-wrong-sign": Mistake(CHOICE, "p1-choice", {"g = g - part": "g = g + part"}),
    "1-no-division-by-n": Mistake(CHOICE, "p1-choice", {" / n": ""}),
    "1-division-by-those-that-push": Mistake(
        CHOICE,
        "p1-choice",
        {"n = len(y)": "n = sum(y * (X @ w) <= 1)", "range(n)": "range(len(y))"},
    ),
    "1-C-for-lam": Mistake(CHOICE, "p1-choice", {"g = lam * w": "g = w / (lam * n)"}),
    "1-regulariser-without-half": Mistake(CHOICE, "p1-choice", {"g = lam * w": "g = lam / 2 * w"}),
    "1-changes-w": Mistake(CHOICE, "p1-choice", {"g = lam * w": "w *= lam\ng = w"}),
    "2-one-subgradient-is-0": Mistake(
        FERMAT, "p2-kinks", {"kinks.append(y[i] * X[i])": "continue"}
    ),
    "2-kink-counts-one": Mistake(
        FERMAT, "p2-kinks", {"kinks.append(y[i] * X[i])": "rest = rest - y[i] * X[i]"}
    ),
    "2-alpha-above-1": Mistake(FERMAT, "p2-kinks", {" or max(alpha) > 1 + 1e-9": ""}),
    "2-alpha-below-0": Mistake(FERMAT, "p2-kinks", {"min(alpha) < -1e-9 or ": ""}),
    "2-alpha-inside-only": Mistake(
        FERMAT, "p2-kinks", {"< -1e-9 or max(alpha) > 1 + 1e-9": "< 1e-9 or max(alpha) > 1 - 1e-9"}
    ),
    "2-never-checks-the-fit": Mistake(
        FERMAT, "p2-kinks", {"rest = rest - alpha @ Z": "return True"}
    ),
    "2-lam-without-n": Mistake(FERMAT, "p2-smooth p2-kinks", {"n * lam * w": "lam * w"}),
    "2-C-for-lam": Mistake(FERMAT, "p2-smooth p2-kinks", {"n * lam * w": "w / lam"}),
    "2-no-labels": Mistake(FERMAT, "p2-smooth p2-kinks", {"y[i] * X[i]": "X[i]"}),
    "2-pushers-above-1": Mistake(
        FERMAT, "p2-smooth p2-kinks", {"elif margin < 1": "elif margin > 1"}
    ),
    "2-perceptron": Mistake(FERMAT, "p2-smooth p2-kinks", {"elif margin < 1": "elif margin < 0"}),
    "2-roughly-zero": Mistake(FERMAT, "p2-smooth p2-kinks", {"abs(r) < 1e-9": "abs(r) < 0.1 * n"}),
    "2-nearly-zero": Mistake(FERMAT, "p2-smooth p2-kinks", {"abs(r) < 1e-9": "abs(r) < 1e-5"}),
    "2-exact-kinks": Mistake(FERMAT, "p2-kinks", {"abs(margin - 1) <= 1e-9": "margin == 1"}),
    "2-returns-a-number": Mistake(FERMAT, "p2-smooth p2-kinks", {"return all(": "return sum("}),
    "2-alpha-with-sign": Mistake(ALPHA, "p2-alpha", {"return alpha": "return alpha * y"}),
    "2-alpha-times-C": Mistake(ALPHA, "p2-alpha", {"return alpha": "return alpha / (lam * n)"}),
    "2-alpha-swapped": Mistake(ALPHA, "p2-alpha", {"return alpha": "return 1 - alpha"}),
    "2-alpha-lam-without-n": Mistake(ALPHA, "p2-alpha", {"rest = lam * n * w": "rest = lam * w"}),
    "2-alpha-forgets-the-pushers": Mistake(
        ALPHA, "p2-alpha", {"        rest = rest - y[i] * X[i]\n": ""}
    ),
    "3-norm-not-squared": Mistake(STEP, "p3-step", {"length**2": "length"}),
    "3-the-limit-itself": Mistake(STEP, "p3-step", {"0.5 * (2 *": "(2 *"}),
    "3-ascends": Mistake(STEP, "p3-step", {"- eta * g[j]": "+ eta * g[j]"}),
    "3-unit-direction": Mistake(STEP, "p3-step", {"eta * g[j]": "eta * g[j] / length"}),
    "3-divides-by-0": Mistake(
        STEP, "p3-stay", {"if gap == 0 or length == 0": "if False", "length**2": "(g @ g).item()"}
    ),
    "3-moves-at-the-minimum": Mistake(
        STEP, "p3-stay", {"gap == 0 or ": "", "gap / length": "max(gap, 1e-3) / length"}
    ),
    "3-minimum-is-0": Mistake(STEP, "p3-stay", {"w + 0": "0 * w"}),
    "3-changes-w": Mistake(STEP, "p3-step", {"return np": "w -= eta * g\nreturn w\nreturn np"}),
    "3-up-or-level": Mistake(UP, "p3-up", {"> f(w)": ">= f(w)"}),
    "3-up-from-the-minimum": Mistake(UP, "p3-up", {"> f(w)": "> f(u)"}),
    "3-down-for-up": Mistake(UP, "p3-up", {"> f(w)": "< f(w)"}),
    "3-near-or-as-near": Mistake(UP, "p3-up", {"after < before": "after <= before"}),
    "3-nearer-to-0": Mistake(UP, "p3-up", {" - u[j]": ""}),
    "3-nearer-only-below-the-limit": Mistake(
        UP, "p3-up", {"after < before": "eta < 2 * (f(w) - f(u)) / (g @ g)"}
    ),
    "3-order-of-answers": Mistake(
        UP, "p3-up", {"bool(rises), bool(after < before)": "bool(after < before), bool(rises)"}
    ),
    "3-nearer-means-not-up": Mistake(UP, "p3-up", {"bool(after < before)": "not rises"}),
    "4-printed-step": Mistake(
        METHOD, "p4-best p4-average", {"D / (G * np.sqrt(t))": "G / np.sqrt(t)"}
    ),
    "4-step-1-over-t": Mistake(METHOD, "p4-best p4-average", {"np.sqrt(t)": "t"}),
    "4-step-of-the-horizon": Mistake(METHOD, "p4-best p4-average", {"np.sqrt(t)": "np.sqrt(T)"}),
    "4-step-t-plus-1": Mistake(METHOD, "p4-best p4-average", {"np.sqrt(t)": "np.sqrt(t + 1)"}),
    "4-step-in-the-root": Mistake(
        METHOD, "p4-best p4-average", {"(G * np.sqrt(t))": "np.sqrt(G * t)"}
    ),
    "4-never-projects": Mistake(
        METHOD,
        "p4-best p4-average",
        {"project(w - eta * subgradient(w))": "w - eta * subgradient(w)"},
    ),
    "4-projects-before-the-step": Mistake(
        METHOD, "p4-best p4-average", {"project(w - eta": "(project(w) - eta"}
    ),
    "4-goes-up": Mistake(METHOD, "p4-best p4-average", {"w - eta": "w + eta"}),
    "4-last-for-best": Mistake(METHOD, "p4-best", OWN_BEST),
    "4-worst-for-best": Mistake(METHOD, "p4-best", {") < f(": ") > f("}),
    "4-latest-of-equals": Mistake(METHOD, "p4-best", {") < f(": ") <= f("}),
    "4-best-leaves-out-the-first": Mistake(METHOD, "p4-best", {"best = 0": "best = min(1, T - 1)"}),
    "4-one-step-too-many": Mistake(
        METHOD,
        "p4-best p4-average",
        {
            "in range(1, T):\n    w": "in range(1, T + 1):\n    w",
            "average = sum(iterates) / T": "average = sum(iterates) / (T + 1)",
            "in range(1, T):\n    if": "in range(1, T + 1):\n    if",
        },
    ),
    "4-average-without-the-first": Mistake(
        METHOD, "p4-average", {"sum(iterates) / T": "sum(iterates[1:]) / max(1, T - 1)"}
    ),
    "4-changes-the-start": Mistake(
        METHOD,
        "p4-best p4-average",
        {
            "np.array(start)": "start",
            "iterates.append(project(w - eta * subgradient(w)))": "w -= eta * subgradient(w)\n"
            "    iterates.append(project(w))",
        },
    ),
    "4-bound-of-the-constant-step": Mistake(
        METHOD, "p4-bound", {"3 * D * G / (2 *": "2 * D * G / (2 *"}
    ),
    "4-bound-1-over-T": Mistake(METHOD, "p4-bound", {"(2 * np.sqrt(T))": "(2 * T)"}),
    "4-bound-of-the-regret": Mistake(METHOD, "p4-bound", {"(2 * np.sqrt(T))": "2 * np.sqrt(T)"}),
    "5-lost-factor": Mistake(ORDER, "p5-lines", {'"I"': '"B"'}),
    "5-wrong-direction": Mistake(ORDER, "p5-lines", {'"D"': '"G"'}),
    "5-last-is-best": Mistake(ORDER, "p5-lines p5-order", {'"C"': '"E"'}),
    "5-one-line-too-many": Mistake(ORDER, "p5-lines p5-order", {'"C"': '"E", "C"'}),
    "5-one-line-short": Mistake(ORDER, "p5-lines p5-order", {'"F", ': ""}),
    "5-sum-before-the-inequality": Mistake(ORDER, "p5-order", {'"A", "H"': '"H", "A"'}),
    "5-mean-before-the-sum": Mistake(ORDER, "p5-order", {'"H", "C"': '"C", "H"'}),
    "5-conclusion-before-the-square": Mistake(ORDER, "p5-order", {'"I", "A"': '"A", "I"'}),
    "5-conclusion-first": Mistake(ORDER, "p5-order", {'"D", "F", "I", "A"': '"A", "D", "F", "I"'}),
    "5-subgradient-last": Mistake(ORDER, "p5-order", {'"D", ': "", '"C"': '"C", "D"'}),
    "5-line-twice": Mistake(ORDER, "p5-lines", {'"C"': '"A", "C"'}),
    "5-one-word": Mistake(
        ORDER, "p5-lines p5-order", {'["D", "F", "I", "A", "H", "C"]': '"DFIAHC"'}
    ),
}
# They go through nbgrader itself; all are run in-process.
SUBMITTED = ["2-one-subgradient-is-0", "5-lost-factor"]
