"""Problem set 5: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

VARIANCE, BIAS = "ps05-p1-variance-answer", "ps05-p1-bias-answer"
SGD = "ps05-p2-answer"
FLOOR, LONGEST = "ps05-p3-floor-answer", "ps05-p3-step-answer"
READ, CHEAPER = "ps05-p4-read-answer", "ps05-p4-cheaper-answer"
ORDER = "ps05-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = dedented(
    {
        VARIANCE: """
            n = len(y)
            pushes = []
            for i in range(n):
                margin = y[i] * np.dot(w, X[i])
                pushes.append(y[i] * X[i] if margin < 1 else np.zeros(len(w)))
            center = sum(pushes) / n
            sigma2 = sum(np.dot(z - center, z - center) for z in pushes) / n
            variance = sigma2 / k
            if not replacement:
                variance = variance * (n - k) / (n - 1) if n > 1 else 0.0
            return lam * w - center, variance
        """,
        BIAS: """
            n = len(y)
            total, still = np.zeros(len(w)), np.zeros(len(w))
            for i in range(n):
                g = lam * w
                if y[i] * np.dot(w, X[i]) < 1:
                    g = g - y[i] * X[i]
                total = total + g
                if i not in drawn:
                    still = still + g
            return still / (n - len(drawn)) - total / n
        """,
        SGD: """
            T, k = draws.shape
            R = max(np.sqrt(np.dot(x, x)) for x in X)
            D, G = 2 / np.sqrt(lam), np.sqrt(lam) + R
            w = np.zeros(X.shape[1])
            iterates = []
            for t in range(1, T + 1):
                iterates.append(w)
                g = lam * w
                for i in draws[t - 1]:
                    if y[i] * np.dot(w, X[i]) < 1:
                        g = g - y[i] * X[i] / k
                eta = D / (G * np.sqrt(t))
                w = w - eta * g
                norm = np.linalg.norm(w)
                if norm > 1 / np.sqrt(lam):
                    w = w / (np.sqrt(lam) * norm)
            return sum(iterates) / T, 3 * G * D / (2 * np.sqrt(T))
        """,
        FLOOR: """
            keep = (1 - eta * lam) ** 2
            noise = eta**2 / k
            square = 0.0
            for t in range(T):
                square = keep * square + noise
            return square, noise / (1 - keep)
        """,
        LONGEST: """
            if 1 / (k * lam * lam) <= eps:
                return 1 / lam
            return 2 * eps * k * lam / (1 + eps * k * lam * lam)
        """,
        READ: """
            for t in range(len(gaps)):
                if gaps[t] <= eps:
                    return t * per_step
            return -1
        """,
        CHEAPER: """
            costs = []
            for gaps, each in ((gaps_gd, n), (gaps_sgd, k)):
                cost = float("inf")
                for t in range(len(gaps)):
                    if gaps[t] <= eps:
                        cost = t * each
                        break
                costs.append(cost)
            if costs[0] == costs[1]:
                return "equal"
            return "GD" if costs[0] < costs[1] else "SGD"
        """,
        ORDER: """
            order_of_floor = ["B", "I", "G", "C", "J", "F", "A", "D"]
        """,
    }
)

# Right values, with all that must not cost a point: prints, warnings, 0/0, other types.
NOISY = LOOPED | dedented(
    {
        VARIANCE: """
            import warnings

            warnings.warn("polling")
            n = len(y)
            z = np.where((y * (X @ w) < 1)[:, None], y[:, None] * X, 0)
            S = np.cov(z.T, bias=True).reshape(len(w), len(w))
            share = 1 if replacement or n == 1 else (n - k) / (n - 1)
            print("trace", np.trace(S))
            return lam * w - z.mean(0), np.trace(S) * share / k
        """,
        BIAS: """
            print(drawn)
            n, s = len(y), len(drawn)
            z = np.where((y * (X @ w) < 1)[:, None], y[:, None] * X, 0)
            if s == 0:
                return 0 * w
            return s / (n - s) * (z[drawn].mean(0) - z.mean(0))
        """,
        SGD: """
            print(len(draws), "steps")
            T = len(draws)
            G = lam**0.5 + np.sqrt((X**2).sum(1)).max()
            W = np.zeros((T + 1, X.shape[1]))
            for t in range(T):
                A = draws[t]
                hit = A[y[A] * (X[A] @ W[t]) < 1]
                v = np.sum(y[hit, None] * X[hit], axis=0) / len(A)
                new = W[t] - 2 / (G * np.sqrt(lam * (t + 1))) * (lam * W[t] - v)
                with np.errstate(all="ignore"):
                    W[t + 1] = new * np.minimum(1, 1 / (np.sqrt(lam) * np.linalg.norm(new)))
            return W[:T].mean(0), 3 * G / np.sqrt(lam * T)
        """,
        FLOOR: """
            a = 1 - eta * lam
            print(a)
            terms = [a ** (2 * j) * eta**2 / k for j in range(T)]
            return np.float64(sum(terms)), np.array(eta**2 / k / (1 - a**2))
        """,
        LONGEST: """
            low, high = 0.0, 1 / lam
            for _ in range(60):
                middle = (low + high) / 2
                if constant_step_floor(lam, middle, k, 0)[1] <= eps:
                    low = middle
                else:
                    high = middle
            return high
        """,
        READ: """
            print("gaps", gaps)
            below = [t for t, gap in enumerate(gaps) if not gap > eps]
            return np.int64(min(below) * per_step) if below else -1.0
        """,
        CHEAPER: """
            def cost(gaps, each):
                first = np.argmax(gaps <= eps)
                return first * each if gaps[first] <= eps else 10**12

            gd, sgd = cost(gaps_gd, n), cost(gaps_sgd, k)
            return np.array(["SGD", "equal", "GD"])[1 + int(np.sign(sgd - gd))].item()
        """,
        ORDER: """
            order_of_floor = list("GCBJIFAD")
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

MISTAKES = {
    "1-sample-variance": Mistake(
        VARIANCE, "p1-with p1-without", {"in pushes) / n": "in pushes) / max(n - 1, 1)"}
    ),
    "1-variance-of-one-coordinate": Mistake(
        VARIANCE, "p1-with p1-without", {"variance = sigma2 / k": "variance = sigma2 / len(w) / k"}
    ),
    "1-deviation-for-variance": Mistake(
        VARIANCE, "p1-with p1-without", {"sigma2 / k": "np.sqrt(sigma2 / k)"}
    ),
    "1-second-moment": Mistake(
        VARIANCE, "p1-with p1-without", {"np.dot(z - center, z - center)": "np.dot(z, z)"}
    ),
    "1-variance-without-k": Mistake(VARIANCE, "p1-with p1-without", {"sigma2 / k": "sigma2"}),
    "1-factor-n-minus-k-over-n": Mistake(VARIANCE, "p1-without", {"/ (n - 1) if": "/ n if"}),
    "1-factor-n-minus-k-minus-1": Mistake(
        VARIANCE, "p1-without", {"(n - k) / (n - 1)": "(n - k - 1) / (n - 1)"}
    ),
    "1-replacement-swapped": Mistake(
        VARIANCE, "p1-with p1-without", {"if not replacement": "if replacement"}
    ),
    "1-replacement-ignored": Mistake(VARIANCE, "p1-without", {"if not replacement": "if False"}),
    "1-divides-by-n-minus-1": Mistake(VARIANCE, "p1-without", {" if n > 1 else 0.0": ""}),
    "1-mean-of-the-pushers": Mistake(
        VARIANCE,
        "p1-mean p1-with p1-without",
        {"center = sum(pushes) / n": "center = sum(pushes) / max(1, sum(y * (X @ w) < 1))"},
    ),
    "1-kink-pushes": Mistake(VARIANCE, "p1-mean", {"margin < 1": "margin <= 1"}),
    "1-bias-wrong-sign": Mistake(
        BIAS,
        "p1-bias",
        {"still / (n - len(drawn)) - total / n": "total / n - still / (n - len(drawn))"},
    ),
    "1-bias-of-the-drawn": Mistake(
        BIAS,
        "p1-bias",
        {"if i not in drawn": "if i in drawn", "(n - len(drawn))": "max(1, len(drawn))"},
    ),
    "1-bias-is-0": Mistake(
        BIAS, "p1-bias", {"if i not in drawn": "if True", "(n - len(drawn))": "n"}
    ),
    "1-bias-forgets-the-last": Mistake(BIAS, "p1-bias", {"not in drawn": "not in drawn[:-1]"}),
    "1-bias-kink-pushes": Mistake(BIAS, "p1-bias", {"< 1:": "<= 1:"}),
    "1-bias-of-the-pushers": Mistake(
        BIAS, "p1-bias", {"if i not in drawn": "if i not in drawn and y[i] * np.dot(w, X[i]) < 1"}
    ),
    "2-printed-step": Mistake(SGD, "p2-steps p2-ball", {"D / (G * np.sqrt(t))": "G / np.sqrt(t)"}),
    "2-step-of-pegasos": Mistake(
        SGD, "p2-steps p2-ball", {"D / (G * np.sqrt(t))": "1 / (lam * t)"}
    ),
    "2-step-of-the-horizon": Mistake(SGD, "p2-steps p2-ball", {"np.sqrt(t))": "np.sqrt(T))"}),
    "2-radius-for-diameter": Mistake(
        SGD, "p2-steps p2-ball p2-bound", {"D, G = 2 /": "D, G = 1 /"}
    ),
    "2-R-of-the-drawn": Mistake(
        SGD, "p2-steps p2-ball p2-bound", {"for x in X)": "for x in X[draws.ravel()])"}
    ),
    "2-G-without-lam": Mistake(
        SGD, "p2-steps p2-ball p2-bound", {"np.sqrt(lam) + R": "max(R, 1e-9)"}
    ),
    "2-no-division-by-k": Mistake(SGD, "p2-steps p2-ball", {"X[i] / k": "X[i]"}),
    "2-batch-as-a-set": Mistake(
        SGD, "p2-steps p2-ball", {"in draws[t - 1]": "in set(draws[t - 1].tolist())"}
    ),
    "2-wrong-sign": Mistake(SGD, "p2-steps p2-ball", {"g - y[i]": "g + y[i]"}),
    "2-never-projects": Mistake(SGD, "p2-ball", {"if norm >": "if False and norm >"}),
    "2-projects-at-the-end": Mistake(
        SGD,
        "p2-ball",
        {
            "    norm = np": "norm = np",
            "    if norm > 1": "if norm > 1",
            "        w = w / (np": "    w = w / (np",
        },
    ),
    "2-always-on-the-sphere": Mistake(
        SGD, "p2-steps p2-ball", {"if norm > 1 / np.sqrt(lam)": "if norm > 0"}
    ),
    "2-radius-1-over-lam": Mistake(
        SGD,
        "p2-steps p2-ball",
        {"norm > 1 / np.sqrt(lam)": "norm > 1 / lam", "(np.sqrt(lam) * norm)": "(lam * norm)"},
    ),
    "2-box-for-ball": Mistake(
        SGD,
        "p2-ball",
        {
            "w = w / (np.sqrt(lam) * norm)": "w = np.clip(w, -1 / np.sqrt(lam), 1 / np.sqrt(lam))",
        },
    ),
    "2-kink-pushes": Mistake(SGD, "p2-ball", {"< 1:": "<= 1:"}),
    "2-margin-without-the-label": Mistake(SGD, "p2-ball", {"y[i] * np.dot(w": "np.dot(w"}),
    "2-margin-of-the-average": Mistake(
        SGD, "p2-ball", {"np.dot(w, X[i]) <": "np.dot(sum(iterates) / t, X[i]) <"}
    ),
    "2-average-with-the-last": Mistake(
        SGD, "p2-steps p2-ball", {"sum(iterates) / T": "(sum(iterates) + w) / (T + 1)"}
    ),
    "2-last-iterate": Mistake(SGD, "p2-steps p2-ball", {"sum(iterates) / T": "w"}),
    "2-bound-of-the-constant-step": Mistake(
        SGD, "p2-bound", {"3 * G * D / (2 *": "2 * G * D / (2 *"}
    ),
    "2-bound-of-the-regret": Mistake(SGD, "p2-bound", {"(2 * np.sqrt(T))": "2 * np.sqrt(T)"}),
    "2-bound-by-examples": Mistake(SGD, "p2-bound", {"(2 * np.sqrt(T))": "(2 * np.sqrt(T * k))"}),
    "3-recursion-without-square": Mistake(
        FLOOR, "p3-start p3-limit", {"(1 - eta * lam) ** 2": "(1 - eta * lam)"}
    ),
    "3-recursion-of-the-theorem": Mistake(
        FLOOR, "p3-start p3-limit", {"(1 - eta * lam) ** 2": "1 - 2 * eta * lam"}
    ),
    "3-noise-over-k-squared": Mistake(FLOOR, "p3-start p3-limit", {"eta**2 / k": "(eta / k) ** 2"}),
    "3-noise-without-k-carried": Mistake(
        FLOOR, "p3-start p3-limit", {"eta**2 / k": "eta**2"}, "noisy"
    ),
    "3-lam-is-1": Mistake(FLOOR, "p3-start p3-limit", {"(1 - eta * lam)": "(1 - eta)"}),
    "3-one-step-too-many": Mistake(FLOOR, "p3-start", {"range(T)": "range(T + 1)"}),
    "3-floor-is-the-last": Mistake(FLOOR, "p3-limit", {"noise / (1 - keep)": "square"}),
    "3-floor-from-the-square": Mistake(
        FLOOR, "p3-limit", {"noise / (1 - keep)": "square / max(1e-9, 1 - keep**T)"}
    ),
    "3-floor-of-the-theorem": Mistake(FLOOR, "p3-limit", {"noise / (1 - keep)": "eta / (2 * lam)"}),
    "3-step-of-the-theorem": Mistake(
        LONGEST, "p3-step", {"2 * eps * k * lam / (1 + eps * k * lam * lam)": "2 * eps * k * lam"}
    ),
    "3-step-not-limited": Mistake(LONGEST, "p3-step", {"1 / (k * lam * lam) <= eps": "False"}),
    "3-step-limit-of-the-theorem": Mistake(
        LONGEST, "p3-step", {"return 1 / lam": "return 1 / (2 * lam)"}
    ),
    "3-step-without-k": Mistake(LONGEST, "p3-step", {"k * ": ""}),
    "3-step-lam-is-1": Mistake(
        LONGEST, "p3-step", {"k * lam / (1 + eps * k * lam * lam)": "k / (1 + eps * k)"}
    ),
    "4-one-step-too-many": Mistake(READ, "p4-read", {"t * per_step": "(t + 1) * per_step"}),
    "4-less-not-at-most": Mistake(READ, "p4-read", {"<= eps": "< eps"}),
    "4-never-is-0-carried": Mistake(READ, "p4-read", {"else -1": "else 0"}, "course"),
    "4-last-time-above": Mistake(READ, "p4-read", {"range(len(gaps))": "range(len(gaps))[::-1]"}),
    "4-skips-the-start": Mistake(READ, "p4-read", {"range(len(gaps))": "range(1, len(gaps))"}),
    "4-returns-nothing": Mistake(READ, "p4-read", {"\nreturn -1": ""}),
    "4-fewer-steps": Mistake(CHEAPER, "p4-cheaper", {"t * each": "t"}),
    "4-one-example-a-step": Mistake(CHEAPER, "p4-cheaper", {"(gaps_sgd, k)": "(gaps_sgd, 1)"}),
    "4-never-is-free": Mistake(CHEAPER, "p4-cheaper", {'float("inf")': "-1"}),
    "4-equal-is-GD": Mistake(CHEAPER, "p4-cheaper", {'return "equal"': 'return "GD"'}),
    "4-last-time-below": Mistake(CHEAPER, "p4-cheaper", {"            break\n": ""}),
    "4-lower-gap-wins": Mistake(
        CHEAPER, "p4-cheaper", {"costs[0] < costs[1]": "min(gaps_gd) < min(gaps_sgd)"}
    ),
    "5-unbiased-in-every-run": Mistake(ORDER, "p5-lines", {'"B"': '"E"'}),
    "5-noise-neglected": Mistake(ORDER, "p5-lines", {'"F"': '"H"'}),
    "5-no-noise-at-the-minimum": Mistake(ORDER, "p5-lines p5-order", {'"D"': '"K"'}),
    "5-one-line-too-many": Mistake(ORDER, "p5-lines", {'"D"': '"K", "D"'}),
    "5-one-line-short": Mistake(ORDER, "p5-lines p5-order", {'"G", ': ""}),
    "5-growth-before-the-mean": Mistake(ORDER, "p5-order", {'"B", "I"': '"I", "B"'}),
    "5-means-before-the-square": Mistake(ORDER, "p5-order", {'"C", "J"': '"J", "C"'}),
    "5-recursion-before-its-parts": Mistake(ORDER, "p5-order", {'"J", "F"': '"F", "J"'}),
    "5-repeats-before-the-recursion": Mistake(ORDER, "p5-order", {'"F", "A"': '"A", "F"'}),
    "5-sum-before-it-stands": Mistake(ORDER, "p5-order", {'"A", "D"': '"D", "A"'}),
    "5-inner-product-last": Mistake(ORDER, "p5-order", {'"B", "I", ': "", '"D"': '"D", "B", "I"'}),
    "5-one-word": Mistake(
        ORDER, "p5-lines p5-order", {'["B", "I", "G", "C", "J", "F", "A", "D"]': '"BIGCJFAD"'}
    ),
}
# They go through nbgrader itself; all are run in-process.
SUBMITTED = ["1-divides-by-n-minus-1", "4-never-is-0-carried"]
