"""Problem set 1: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

CONVERT, SAME = "ps01-p1-convert-answer", "ps01-p1-same-answer"
SLOPE, RAY = "ps01-p2-slope-answer", "ps01-p2-ray-answer"
RADIUS, BOUNDS = "ps01-p3-radius-answer", "ps01-p3-bounds-answer"
FEATURE, READ, TAU = "ps01-p4-feature-answer", "ps01-p4-read-answer", "ps01-p4-tau-answer"
ORDER = "ps01-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    CONVERT: """
        lam = 2 * r / (s * n)
        return lam, r / (lam / 2)
    """,
    SAME: """
        lam_times_n = 1 / C
        lam_times_n = lam_times_n * copies
        lam_times_n = lam_times_n * rho * rho
        return 1 / lam_times_n, rho**-1
    """,
    SLOPE: """
        n = len(y)
        slope = lam * sum(w[j] * h[j] for j in range(len(w)))
        for i in range(n):
            m = y[i] * np.dot(X[i], w)
            rate = y[i] * np.dot(X[i], h)
            if m < 1:
                slope = slope - rate / n
            elif m == 1:
                slope = slope + max(0, -rate) / n
        return slope
    """,
    RAY: """
        found = []
        for i in range(len(y)):
            m = y[i] * np.dot(X[i], w)
            rate = y[i] * np.dot(X[i], h)
            if rate == 0:
                continue
            theta = (1 - m) / rate
            if theta > 0 and theta not in found:
                found.append(theta)
        return np.array(sorted(found))
    """,
    RADIUS: """
        R = 0
        for x in X:
            R = max(R, sum(x_j**2 for x_j in x) ** 0.5)
        if lam > R**2:
            return R / lam
        return 1 / lam**0.5
    """,
    BOUNDS: """
        n = len(y)
        R = max(np.linalg.norm(x) for x in X)
        radius = min(1 / np.sqrt(lam), R / lam)
        margins = [y[i] * np.dot(X[i], u) for i in range(n)]
        m = min(margins)
        if m <= 0:
            return radius, n
        v = u / m
        loss = lam / 2 * np.dot(v, v)
        mistakes = 0
        while mistakes < n and (mistakes + 1) / n <= loss:
            mistakes += 1
        return min(radius, np.linalg.norm(v)), mistakes
    """,
    FEATURE: """
        n, d = X.shape
        more = np.zeros((n, d + 1))
        for j in range(d):
            shift = sum(X[:, j]) / n if center else 0
            for i in range(n):
                more[i, j] = X[i, j] - shift
        more[:, d] = tau
        return more
    """,
    READ: """
        d = len(mean)
        w = v[:d]
        b = tau * v[d]
        for j in range(d):
            b = b - w[j] * mean[j]
        return w, b
    """,
    TAU: """
        tau = np.sqrt(lam * b_free**2 / (2 * eps))
        R_tau = np.sqrt(R**2 + tau**2)
        return tau, R_tau**2 / lam
    """,
    ORDER: """
        order_of_ball = ["G", "B", "E", "I", "H", "D", "A", "K"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = {
    CONVERT: """
        import warnings
        warnings.warn("slow")
        at_zero = s * n
        return np.array(r / at_zero) * 2, np.float64(at_zero)
    """,
    SAME: """
        print("C", C)
        return (C / copies / rho / rho, np.exp(-np.log(rho)))
    """,
    SLOPE: """
        def loss_slope(m, rate):
            if m > 1:
                return 0.0
            return -rate if m < 1 else max(0.0, -rate)
        print(np.zeros(1) / np.zeros(1))
        rows = zip(y * (X @ w), y * (X @ h))
        return np.mean([loss_slope(m, rate) for m, rate in rows]) + lam * np.dot(h, w)
    """,
    RAY: """
        theta = (1 - y * (X @ w)) / (y * (X @ h))  # 0/0 and 1/0 are not finite
        theta = theta[np.isfinite(theta) & (theta > 0)]
        print(theta)
        return sorted(set(theta.tolist()))
    """,
    RADIUS: """
        print("radius of", X.shape)
        R = np.sqrt((X**2).sum(axis=1)).max()
        return np.minimum(1 / np.sqrt(lam), R / np.array(lam))
    """,
    BOUNDS: """
        n = X.shape[0]
        length = np.linalg.norm(u) / np.min(y * X.dot(u))  # 0/0 if u is 0
        print("length", length)
        if not np.all(y * X.dot(u) > 0):
            return optimum_radius(X, lam), n
        bound = n * lam * length**2 / 2
        return min(optimum_radius(X, lam), length), min(float(n), np.floor(bound))
    """,
    FEATURE: """
        import warnings
        warnings.warn("copying")
        X = np.array(X, dtype=float)
        if center:
            X -= X.mean(axis=0, keepdims=True)
        return np.hstack([X, tau * np.ones((len(X), 1))])
    """,
    READ: """
        original = np.array(v)[: len(v) - 1]
        at_zero = np.concatenate([-mean, [tau]])  # what the original x = 0 becomes
        print(at_zero)
        return original, np.dot(v, at_zero)
    """,
    TAU: """
        print("smallest tau")
        squared = lam / 2 * b_free**2 / eps
        return squared**0.5, R**2 / lam + squared / lam
    """,
    ORDER: """
        order_of_ball = tuple("EHGBIDAK")
        print(order_of_ball)
    """,
}
NOISY = dedented(NOISY)


RIGHT = {"looped": LOOPED, "noisy": NOISY}

ALL_OF_2A = "p2-smooth p2-kink"
BOTH_ORDER = "p5-lines p5-order"
MISTAKES = {
    "1-forgets-the-half": Mistake(CONVERT, "p1-lambda", {"2 * r / q": "r / q"}, "course"),
    "1-forgets-n": Mistake(CONVERT, "p1-lambda p1-factor", {"s * n": "s"}, "course"),
    "1-C-for-lam": Mistake(CONVERT, "p1-lambda", {"2 * r / q": "q / (2 * r)"}, "course"),
    "1-divides-C-by-n": Mistake(CONVERT, "p1-lambda p1-factor", {"s * n": "s / n"}, "course"),
    "1-q-upside-down": Mistake(CONVERT, "p1-factor", {"r / (lam / 2)": "(lam / 2) / r"}),
    "1-q-is-1-over-lam": Mistake(CONVERT, "p1-factor", {"r / (lam / 2)": "1 / lam"}),
    "1-lam-for-lam-squared": Mistake(  # E000-15
        CONVERT, "p1-lambda", {"return lam,": "return lam**2,"}
    ),
    "1-returns-nothing": Mistake(CONVERT, "p1-lambda p1-factor", {"return": "answer ="}),
    "1-copies-multiply-C": Mistake(
        SAME, "p1-data", {"lam_times_n * copies": "lam_times_n / copies"}
    ),
    "1-rho-not-squared": Mistake(SAME, "p1-data", {"rho * rho": "rho"}),
    "1-rho-wrong-way": Mistake(SAME, "p1-data", {"* rho * rho": "/ rho / rho"}),
    "1-w-wrong-way": Mistake(SAME, "p1-data", {"rho**-1": "rho"}),
    "2-wrong-sign": Mistake(SLOPE, ALL_OF_2A, {"slope - rate": "slope + rate"}),
    "2-sum-for-mean": Mistake(SLOPE, ALL_OF_2A, {" / n": ""}),
    "2-no-regulariser": Mistake(SLOPE, ALL_OF_2A, {"slope = lam * sum": "slope = 0 * sum"}),
    "2-lam-halved": Mistake(SLOPE, ALL_OF_2A, {"slope = lam * sum": "slope = lam / 2 * sum"}),
    "2-kink-never-counts": Mistake(SLOPE, "p2-kink", {"max(0, -rate)": "0"}),
    "2-kink-always-counts": Mistake(SLOPE, "p2-kink", {"max(0, -rate)": "-rate"}),
    "2-kink-wrong-side": Mistake(SLOPE, "p2-kink", {"max(0, -rate)": "max(0, rate)"}),
    "2-kink-without-the-label": Mistake(
        SLOPE, "p2-kink", {"max(0, -rate)": "max(0, -rate * y[i])"}
    ),
    "2-perceptron": Mistake(SLOPE, ALL_OF_2A, {"m < 1": "m < 0"}),
    "2-label-left-out": Mistake(SLOPE, ALL_OF_2A, {"m = y[i] * ": "m = "}),
    "2-unit-length-h": Mistake(
        SLOPE, ALL_OF_2A, {"return slope": "return slope / (np.linalg.norm(h) or 1)"}
    ),
    "2-difference-quotient": Mistake(
        SLOPE,
        ALL_OF_2A,
        {
            "n = len(y)": """\
def P(w):
    return lam / 2 * w @ w + np.maximum(0, 1 - y * (X @ w)).mean()
return (P(w + 1e-3 * h) - P(w)) / 1e-3
n = len(y)""",
        },
    ),
    "2-difference-quotient-of-the-losses": Mistake(  # they are linear between kinks
        SLOPE,
        "p2-smooth",
        {
            "n = len(y)": """\
def loss(w):
    return np.maximum(0, 1 - y * (X @ w)).mean()
return (loss(w + 2.0**-20 * h) - loss(w)) / 2.0**-20 + lam * w @ h
n = len(y)""",
        },
    ),
    "2-kinks-share-one-maximum": Mistake(
        SLOPE,
        "p2-kink",
        {"np.maximum(0, -rates[margins == 1]).sum()": "max(0, -rates[margins == 1].sum())"},
        "course",
    ),
    "2-two-sided-slope": Mistake(
        SLOPE,
        "p2-kink",
        {"max(0, -rate)": "(-rate / 2)"},
    ),
    "2-changes-w": Mistake(SLOPE, "p2-smooth", {"return": "w += h\nreturn"}),
    "2-ray-with-the-start": Mistake(RAY, "p2-ray", {"theta > 0": "theta >= 0"}),
    "2-ray-both-ways": Mistake(RAY, "p2-ray", {"theta > 0": "theta != 0"}),
    "2-ray-only-upwards": Mistake(RAY, "p2-ray", {"rate == 0": "rate <= 0"}),
    "2-ray-kinks-twice": Mistake(RAY, "p2-ray", {" and theta not in found": ""}),
    "2-ray-unsorted": Mistake(RAY, "p2-ray", {"sorted(found)": "found"}),
    "2-ray-divides-by-0": Mistake(RAY, "p2-ray", {"rate == 0": "m > 1"}),
    "3-radius-1-over-lam": Mistake(RADIUS, "p3-radius", {"1 / lam**0.5": "1 / lam"}),
    "3-radius-sqrt-2-over-lam": Mistake(RADIUS, "p3-radius", {"1 / lam**0.5": "(2 / lam) ** 0.5"}),
    "3-never-R": Mistake(RADIUS, "p3-radius", {"lam > R**2": "R < 0"}),
    "3-R-squared": Mistake(RADIUS, "p3-radius", {"return R / lam": "return R**2 / lam"}),
    "3-R-of-the-whole-matrix": Mistake(RADIUS, "p3-radius", {"for x in X": "for x in [X.ravel()]"}),
    "3-R-in-the-maximum-norm": Mistake(
        RADIUS, "p3-radius", {"sum(x_j**2 for x_j in x) ** 0.5": "max(abs(x))"}
    ),
    "3-separator-not-scaled": Mistake(BOUNDS, "p3-separator", {"v = u / m": "v = u"}),
    "3-scaled-to-length-1": Mistake(BOUNDS, "p3-separator", {"u / m": "u / np.linalg.norm(u)"}),
    "3-largest-margin": Mistake(
        BOUNDS, "p3-separator p3-no-separator", {"m = min(margins)": "m = max(margins)"}
    ),
    "3-margin-of-0-separates": Mistake(  # E000-02
        BOUNDS, "p3-no-separator", {"m <= 0": "m < 0"}
    ),
    "3-believes-every-u": Mistake(BOUNDS, "p3-no-separator", {"m <= 0": "m == -np.inf"}),
    "3-no-separator-no-mistakes": Mistake(
        BOUNDS, "p3-no-separator", {"return radius, n": "return radius, 0"}
    ),
    "3-forgets-the-other-radii": Mistake(
        BOUNDS, "p3-separator", {"min(radius, np.linalg.norm(v))": "np.linalg.norm(v)"}
    ),
    "3-never-R-beside-a-separator": Mistake(
        BOUNDS, "p3-separator", {"min(radius, np": "min(lam**-0.5, np"}
    ),
    "3-loss-of-the-smallest-radius": Mistake(
        BOUNDS,
        "p3-separator",
        {
            "loss = lam / 2 * np.dot(v, v)": """\
v = min(radius / np.linalg.norm(v), 1) * v
loss = lam / 2 * np.dot(v, v)"""
        },
    ),
    "3-loss-without-the-half": Mistake(BOUNDS, "p3-separator", {"lam / 2": "lam"}),
    "3-share-for-number": Mistake(BOUNDS, "p3-separator", {"(mistakes + 1) / n": "(mistakes + 1)"}),
    "3-rounds-up": Mistake(BOUNDS, "p3-separator", {"(mistakes + 1) / n": "mistakes / n"}),
    "3-more-mistakes-than-examples": Mistake(
        BOUNDS, "p3-separator", {"mistakes = 0": "mistakes = int(n * loss)\nn = mistakes"}
    ),
    "4-feature-first": Mistake(
        FEATURE, "p4-feature", {"more[i, j] =": "more[i, j + 1] =", "more[:, d] =": "more[:, 0] ="}
    ),
    "4-feature-of-1": Mistake(FEATURE, "p4-feature", {"= tau": "= 1"}),
    "4-always-centres": Mistake(FEATURE, "p4-feature", {" if center else 0": ""}),
    "4-never-centres": Mistake(FEATURE, "p4-feature", {"if center else": "if False else"}),
    "4-centres-the-feature-too": Mistake(
        FEATURE, "p4-feature", {"return more": "return more - more.mean(axis=0) * center"}
    ),
    "4-keeps-integers": Mistake(
        FEATURE, "p4-feature", {"np.zeros((n, d + 1))": "np.zeros((n, d + 1), dtype=X.dtype)"}
    ),
    "4-changes-X": Mistake(FEATURE, "p4-feature", {"return more": "X[:, 0] = 0\nreturn more"}),
    "4-b-is-the-weight": Mistake(READ, "p4-read", {"tau * v[d]": "v[d]"}),
    "4-b-divided-by-tau": Mistake(READ, "p4-read", {"tau * v[d]": "v[d] / tau"}),
    "4-mean-added": Mistake(READ, "p4-read", {"b - w": "b + w"}),
    "4-mean-ignored": Mistake(READ, "p4-read", {"b - w[j] * mean[j]": "b"}),
    "4-w-divided-by-tau": Mistake(READ, "p4-read", {"w = v[:d]": "w = v[:d] / tau"}),
    "4-tau-without-the-half": Mistake(TAU, "p4-tau", {"(2 * eps)": "eps"}),
    "4-tau-of-b-not-squared": Mistake(TAU, "p4-tau", {"b_free**2": "abs(b_free)"}),
    "4-tau-negative": Mistake(
        TAU, "p4-tau", {"np.sqrt(lam * b_free**2 / (2 * eps))": "b_free * np.sqrt(lam / (2 * eps))"}
    ),
    "4-tau-at-least-1": Mistake(TAU, "p4-tau", {"R_tau =": "tau = max(1, tau)\nR_tau ="}),
    "4-radii-added": Mistake(TAU, "p4-tau", {"np.sqrt(R**2 + tau**2)": "(R + tau)"}),
    "4-pace-of-the-old-radius": Mistake(TAU, "p4-tau", {"R_tau**2 / lam": "R**2 / lam"}),
    "5-kink-at-0": Mistake(ORDER, "p5-lines", {'"H"': '"C"'}),  # E000-01
    "5-slopes-are-0": Mistake(ORDER, "p5-lines", {'"I"': '"F"'}),
    "5-loses-sqrt-2": Mistake(ORDER, "p5-lines", {'"A"': '"J"'}),
    "5-sum-before-its-slope": Mistake(
        ORDER, "p5-order", {'"G", "B", "E", "I"': '"B", "G", "E", "I"'}
    ),
    "5-uses-the-inequality-early": Mistake(ORDER, "p5-order", {'"E", "I"': '"I", "E"'}),
    "5-divides-by-0": Mistake(ORDER, "p5-order", {'"H", "D"': '"D", "H"'}),
    "5-term-bound-before-the-sum": Mistake(
        ORDER, "p5-order", {'["G"': '["A", "G"', '"D", "A"': '"D"'}
    ),
    "5-claim-before-one-bound": Mistake(ORDER, "p5-order", {'"A", "K"': '"K", "A"'}),
    "5-all-lines": Mistake(ORDER, BOTH_ORDER, {'"K"]': '"K", "C", "F", "J"]'}),
    "5-without-the-minimality": Mistake(ORDER, BOTH_ORDER, {' "E",': ""}),
    "5-a-line-twice": Mistake(ORDER, BOTH_ORDER, {'"H", "D"': '"D", "D"'}),
    "5-one-word": Mistake(
        ORDER, BOTH_ORDER, {'["G", "B", "E", "I", "H", "D", "A", "K"]': '"G,B,E,I"'}
    ),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["2-kink-always-counts", "3-margin-of-0-separates"]
