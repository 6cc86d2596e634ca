"""Problem set 9: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

DUAL, PARTS = "ps09-p1-dual-answer", "ps09-p1-parts-answer"
CASE, PRICES, CERTIFY = "ps09-p2-case-answer", "ps09-p2-prices-answer", "ps09-p3-answer"
STEP, RISE, ORDER = "ps09-p4-step-answer", "ps09-p4-rise-answer", "ps09-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    DUAL: """
        n = len(y)
        v = np.zeros(X.shape[1])
        for i in range(n):
            if not 0 <= alpha[i] <= 1:
                return -np.inf
            v = v + alpha[i] * y[i] * X[i]
        w = v / (lam * n)
        return sum(alpha) / n - lam / 2 * np.dot(w, w)
    """,
    PARTS: """
        n = len(y)
        v = np.zeros(len(w))
        unpaid = needless = 0
        for i in range(n):
            v = v + alpha[i] * y[i] * X[i] / (lam * n)
            m = y[i] * np.dot(w, X[i])
            if m < 1:
                unpaid += (1 - alpha[i]) * (1 - m)
            else:
                needless += alpha[i] * (m - 1)
        return lam / 2 * np.linalg.norm(w - v) ** 2, unpaid / n, needless / n
    """,
    CASE: """
        if m > 1 + tol:
            return "zero"
        if m < 1 - tol:
            return "one"
        return "between"
    """,
    PRICES: """
        n = len(y)
        alpha = np.zeros(n)
        missing = lam * n * w
        between = []
        for i in range(n):
            m = y[i] * np.dot(w, X[i])
            if abs(m - 1) <= tol:
                between.append(i)
            elif m < 1:
                alpha[i] = 1
                missing = missing - y[i] * X[i]
        if between:
            A = np.array([y[i] * X[i] for i in between])
            alpha[between] = np.linalg.solve(A @ A.T, A @ missing)
        return alpha
    """,
    CERTIFY: """
        T, k = draws.shape
        n, d = X.shape
        w, N = np.zeros(d), np.zeros(n)
        for t in range(1, T + 1):
            push = np.zeros(d)
            for i in draws[t - 1]:
                if y[i] * np.dot(w, X[i]) < 1:
                    N[i] += 1
                    push = push + y[i] * X[i]
            w = (1 - 1 / t) * w + push / (lam * t * k)
        alpha = np.minimum(1, N * n / (T * k))
        v = (alpha * y) @ X / (lam * n)
        P = lam / 2 * np.dot(w, w) + sum(max(0, 1 - y[i] * np.dot(w, X[i])) for i in range(n)) / n
        D = alpha.mean() - lam / 2 * np.dot(v, v)
        return w, alpha, P - D
    """,
    STEP: """
        n = len(y)
        norm2 = np.dot(X[i], X[i])
        m = y[i] * np.dot(w, X[i])
        if norm2 == 0:
            best = 1
        else:
            best = alpha[i] + lam * n * (1 - m) / norm2
            best = max(0, min(1, best))
        new_alpha = alpha.copy()
        new_alpha[i] = best
        return new_alpha, w + (best - alpha[i]) * y[i] * X[i] / (lam * n)
    """,
    RISE: """
        n = len(y)
        before, after = w, w + (new - alpha[i]) * y[i] * X[i] / (lam * n)
        prices = (new - alpha[i]) / n
        return prices - lam / 2 * (np.dot(after, after) - np.dot(before, before))
    """,
    ORDER: """
        order_of_strong_duality = ["C", "E", "B", "J", "H", "K", "G", "A"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = dedented(
    {
        DUAL: """
            import warnings
            warnings.warn("slow")
            inside = bool(np.all((alpha >= 0) & (alpha <= 1)))
            v = X.T @ (alpha * y)
            print("inside", inside)
            value = np.sum(alpha) / len(y) - np.sum(v**2) / (2 * lam * len(y) ** 2)
            return value if inside else float("-inf")
        """,
        PARTS: """
            def positive(q):
                return (q + abs(q)) / 2

            margins = y * X.dot(w)
            print(margins)
            v = w - X.T @ (alpha * y) / lam / len(y)
            brackets = (1 - alpha) * positive(1 - margins), alpha * positive(margins - 1)
            return (lam * v.dot(v) / 2, *(bracket.sum() / len(y) for bracket in brackets))
        """,
        CASE: """
            print("margin", m)
            names = {1: "zero", -1: "one", 0: "between"}
            return names[int(np.sign(m - 1)) if abs(m - 1) > tol else 0]
        """,
        PRICES: """
            import warnings
            warnings.warn("slow")
            Z = X * y[:, None]
            m = Z.dot(w)
            alpha = np.where(m < 1 - tol, 1.0, 0.0)
            on = np.flatnonzero(np.abs(m - 1) <= tol)
            print("on the margin line", on)
            if on.size:
                alpha[on] = np.linalg.pinv(Z[on].T) @ (lam * len(y) * w - Z.T @ alpha)
            return alpha
        """,
        CERTIFY: """
            def hits(w, batch):
                return [i for i in batch if y[i] * X[i].dot(w) < 1]

            n, (T, k) = len(y), draws.shape
            sums, counts = np.zeros(X.shape[1]), {}
            w = sums
            for t, batch in enumerate(draws, 1):
                for i in hits(w, batch):
                    counts[i] = counts.get(i, 0) + 1
                    sums = sums + y[i] * X[i]
                w = sums / (lam * t * k)
                print(t, w)
            alpha = np.array([min(1.0, n * counts.get(i, 0) / draws.size) for i in range(n)])
            P = 0.5 * lam * np.sum(w**2) + np.mean(np.clip(1 - y * X.dot(w), 0, None))
            return w, alpha, P - dual_value(alpha, X, y, lam)
        """,
        STEP: """
            x, n = X[i], len(y)
            top = lam * n * (1 - y[i] * x.dot(w)) / x.dot(x)  # divides by 0 for a row of zeros
            print("top at", top)
            change = np.clip(top, -alpha[i], 1 - alpha[i]) if np.isfinite(top) else 1 - alpha[i]
            unit = np.zeros(n)
            unit[i] = change
            return alpha + unit, w + change / lam / n * y[i] * x
        """,
        RISE: """
            def parabola(delta):
                linear = (1 - y[i] * X[i].dot(w)) / len(y) * delta
                return linear - X[i].dot(X[i]) * (delta / len(y)) ** 2 / (2 * lam)

            print(new)
            return parabola(new - alpha[i])
        """,
        ORDER: """
            order_of_strong_duality = list("CBEJHKGA")
            print(order_of_strong_duality)
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

MISTAKES = {
    "1-plus-as-printed": Mistake(DUAL, "p1-dual", {"n - lam / 2": "n + lam / 2"}),  # E000-16
    "1-to-be-minimised": Mistake(
        DUAL,
        "p1-dual p1-outside",
        {"return": "return -1 *", "n - lam / 2": "n + lam / 2"},
    ),
    "1-not-halved": Mistake(DUAL, "p1-dual", {"lam / 2": "lam"}),
    "1-sum-of-prices": Mistake(DUAL, "p1-dual", {"sum(alpha) / n": "sum(alpha)"}),
    "1-C-for-lam": Mistake(DUAL, "p1-dual", {"w = v / (lam * n)": "w = v"}),  # E000-15
    "1-lam-squared": Mistake(DUAL, "p1-dual", {"w = v / (lam * n)": "w = v / n"}),
    "1-no-labels": Mistake(DUAL, "p1-dual", {"alpha[i] * y[i]": "alpha[i]"}),
    "1-always-finite": Mistake(DUAL, "p1-outside", {"not 0 <= alpha[i] <= 1": "False"}),
    "1-ends-outside": Mistake(
        DUAL, "p1-dual p1-outside", {"not 0 <= alpha[i] <= 1": "not 0 <= alpha[i] < 1"}
    ),
    "1-parts-swapped": Mistake(
        PARTS, "p1-parts", {"unpaid / n, needless / n": "needless / n, unpaid / n"}
    ),
    "1-prices-swapped": Mistake(
        PARTS,
        "p1-parts",
        {
            "(1 - alpha[i]) * (1 - m)": "alpha[i] * (1 - m)",
            "needless += alpha[i]": "needless += (1 - alpha[i])",
        },
    ),
    "1-margins-of-w-alpha": Mistake(
        PARTS,
        "p1-parts",
        {"m = y[i] * np.dot(w,": "m = y[i] * np.dot((alpha * y) @ X / (lam * n),"},
    ),
    "1-distance-not-halved": Mistake(PARTS, "p1-parts", {"lam / 2 *": "lam *"}),
    "1-parts-change-w": Mistake(PARTS, "p1-parts", {"v = w - X.T": "v = w\nv -= X.T"}, "noisy"),
    "2-sides-swapped": Mistake(
        CASE, "p2-case", {'"zero"': '"one "', '"one"': '"zero"', '"one "': '"one"'}
    ),
    "2-never-between": Mistake(CASE, "p2-case", {"m > 1 + tol": "m > 1", "m < 1 - tol": "m <= 1"}),
    "2-no-tolerance": Mistake(CASE, "p2-case", {"m > 1 + tol": "m > 1", "m < 1 - tol": "m < 1"}),
    "2-tolerance-excluded": Mistake(
        CASE, "p2-case", {"> 1 + tol": ">= 1 + tol", "< 1 - tol": "<= 1 - tol"}
    ),
    "2-one-sided-tolerance": Mistake(CASE, "p2-case", {"m < 1 - tol": "m < 1"}),
    "2-all-on-the-line-1": Mistake(
        PRICES, "p2-prices", {"np.linalg.solve(A @ A.T, A @ missing)": "1"}
    ),
    "2-ones-forgotten": Mistake(PRICES, "p2-prices", {"missing = missing - y[i] * X[i]": "pass"}),
    "2-n-forgotten": Mistake(PRICES, "p2-prices", {"lam * n * w": "lam * w"}),
    "2-no-labels-in-the-system": Mistake(
        PRICES, "p2-prices", {"[y[i] * X[i] for i in between]": "[X[i] for i in between]"}
    ),
    "2-one-at-a-time": Mistake(
        PRICES,
        "p2-prices",
        {"np.linalg.solve(A @ A.T, A @ missing)": "A @ missing / np.sum(A**2, axis=1)"},
    ),
    "2-zero-row-free": Mistake(PRICES, "p2-prices", {"elif m < 1": "elif m < 1 and np.any(X[i])"}),
    "2-a-tolerance-of-its-own": Mistake(PRICES, "p2-prices", {"tol": "1e-3"}, "noisy"),
    "2-no-tolerance-in-the-prices": Mistake(PRICES, "p2-prices", {"<= tol": "<= 1e-9"}),
    "2-prices-change-X": Mistake(
        PRICES, "p2-prices", {"Z = X * y[:, None]": "Z = X\nZ *= y[:, None]"}, "noisy"
    ),
    "3-no-cut": Mistake(
        CERTIFY, "p3-prices p3-gap", {"np.minimum(1, N * n / (T * k))": "N * n / (T * k)"}
    ),
    "3-draws-for-hits": Mistake(
        CERTIFY,
        "p3-prices p3-gap",
        {"N[i] += 1": "N[i] += 0", "in draws[t - 1]:": "in draws[t - 1]:\n        N[i] += 1"},
    ),
    "3-k-forgotten": Mistake(CERTIFY, "p3-prices p3-gap", {"N * n / (T * k)": "N * n / T"}),
    "3-kink-is-a-hit": Mistake(CERTIFY, "p3-run p3-gap", {"X[i]) < 1:": "X[i]) <= 1:"}),
    "3-margin-after-shrink": Mistake(
        CERTIFY,
        "p3-run p3-prices p3-gap",
        {"if y[i] * np.dot(w, X": "if y[i] * np.dot((1 - 1 / t) * w, X"},
    ),
    "3-projects": Mistake(
        CERTIFY,
        "p3-run p3-gap",
        {"alpha = np.min": "w = w / max(1, np.sqrt(lam) * np.linalg.norm(w))\nalpha = np.min"},
    ),
    "3-gap-of-w-alpha": Mistake(
        CERTIFY,
        "p3-gap",
        {
            "P = lam / 2 * np.dot(w, w)": "u, w = w, v\nP = lam / 2 * np.dot(w, w)",
            "return w,": "return u,",
        },
    ),
    "3-dual-of-w_T": Mistake(
        CERTIFY, "p3-gap", {"lam / 2 * np.dot(v, v)": "lam / 2 * np.dot(w, w)"}
    ),
    "3-dual-before-the-cut": Mistake(
        CERTIFY,
        "p3-gap",
        {"v = (alpha": "v = (N * n / (T * k)", "alpha.mean()": "np.mean(N * n / (T * k))"},
    ),
    "3-C-for-lam": Mistake(
        CERTIFY, "p3-run p3-prices p3-gap", {"push / (lam * t * k)": "push / (lam * n) / (t * k)"}
    ),
    "3-sorts-the-draws": Mistake(
        CERTIFY, "p3-run", {"T, k = draws.shape": "draws.sort(axis=1)\nT, k = draws.shape"}
    ),
    "4-printed": Mistake(
        STEP, "p4-step p4-ends", {"(1 - m)": "(1 - np.dot(w, X[i])) * y[i]"}
    ),  # E004-01
    "4-length-for-square": Mistake(STEP, "p4-step p4-ends", {"/ norm2": "/ np.sqrt(norm2)"}),
    "4-no-old-price": Mistake(STEP, "p4-step p4-ends", {"best = alpha[i] + lam": "best = lam"}),
    "4-no-cut": Mistake(
        STEP, "p4-step p4-ends", {"best = max(0, min(1, best))": "best = best + 0"}
    ),
    "4-cuts-the-step": Mistake(
        STEP,
        "p4-step p4-ends",
        {
            "alpha[i] + lam": "lam",
            "best = max(0, min(1, best))": "best = alpha[i] + np.clip(best, 0, 1)",
        },
    ),
    "4-zero-row-stays": Mistake(STEP, "p4-ends", {"best = 1\n": "best = alpha[i]\n"}),
    "4-divides-by-0": Mistake(
        STEP,
        "p4-ends",
        {"if norm2 == 0:": "if False:", "(1 - m) / norm2": "(1 - m).item() / norm2.item()"},
    ),
    "4-w-by-the-price": Mistake(STEP, "p4-step p4-ends", {"(best - alpha[i])": "best"}),
    "4-w-without-label": Mistake(
        STEP, "p4-step p4-ends", {"* y[i] * X[i] / (lam": "* X[i] / (lam"}
    ),
    "4-changes-alpha": Mistake(STEP, "p4-step p4-ends", {"alpha.copy()": "alpha"}),
    "4-all-scores": Mistake(STEP, "p4-step", {"np.dot(w, X[i])": "(X @ w)[i]"}),
    "4-w-anew": Mistake(
        STEP,
        "p4-step",
        {"w + (best - alpha[i]) * y[i] * X[i]": "(new_alpha * y) @ X"},
    ),
    "4-rise-by-all-rows": Mistake(
        RISE,
        "p4-rise",
        {
            "y[i] * X[i] / (lam * n)": "((np.arange(n) == i) * y) @ X / (lam * n)",
        },
    ),
    "4-rise-of-new": Mistake(
        RISE, "p4-rise", {"prices = (new - alpha[i]) / n": "prices = new / n"}
    ),
    "4-rise-not-halved": Mistake(RISE, "p4-rise", {"lam / 2": "lam"}),
    "4-rise-n-once": Mistake(RISE, "p4-rise", {"/ (lam * n)": "/ (lam * np.sqrt(n))"}),
    "4-rise-changes-alpha": Mistake(
        RISE,
        "p4-rise",
        {"n = len(y)": "n, old = len(y), alpha[i]\nalpha[i] = new", "new - alpha[i]": "new - old"},
    ),
    "5-slope-turned": Mistake(ORDER, "p5-lines", {'"J"': '"F"'}),
    "5-weak-duality-turned": Mistake(ORDER, "p5-lines", {'"E"': '"I"'}),
    "5-no-existence": Mistake(ORDER, "p5-order", {'"C", "E", "B", "J"': '"E", "B", "J", "C"'}),
    "5-slackness-too-early": Mistake(ORDER, "p5-order", {'"J", "H"': '"H", "J"'}),
    "5-gap-before-slackness": Mistake(ORDER, "p5-order", {'"H", "K"': '"K", "H"'}),
    "5-minimiser-before-gap": Mistake(ORDER, "p5-order", {'"K", "G"': '"G", "K"'}),
    "5-unique-first": Mistake(ORDER, "p5-order", {'"G", "A"': '"A", "G"'}),
    "5-bound-at-the-end": Mistake(ORDER, "p5-order", {'"E", ': "", '"A"]': '"A", "E"]'}),
    "5-as-printed": Mistake(
        ORDER, "p5-order", {'["C", "E", "B", "J", "H", "K", "G", "A"]': 'list("ABCEGHJK")'}
    ),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["3-no-cut", "4-printed"]
