"""Problem set 6: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

SUBGRADIENT, PROJECTION = "ps06-p1-answer", "ps06-p2-projection-answer"
STEP, RUN = "ps06-p2-step-answer", "ps06-p3-answer"
JUDGE, ORDER = "ps06-p4-answer", "ps06-p5-order-answer"


def order(letters):
    return f"order_of_average = {list(letters)!r}"


# A second right answer to everything: loops, no function calls another.
LOOPED = {
    SUBGRADIENT: """
        g = [lam * w_j for w_j in w]
        for i in batch:
            margin = sum(y[i] * X[i, j] * w[j] for j in range(len(w)))
            if margin < 1:
                for j in range(len(w)):
                    g[j] -= y[i] * X[i, j] / len(batch)
        return np.array(g)
    """,
    PROJECTION: """
        norm = np.linalg.norm(w)
        if norm == 0:
            return np.zeros(len(w))
        return min(1.0, 1.0 / (np.sqrt(lam) * norm)) * w
    """,
    STEP: """
        kept = (1 - 1 / t) * w
        total = np.zeros(len(w))
        for i in batch:
            if y[i] * np.dot(w, X[i]) < 1:
                total = total + y[i] * X[i]
        moved = kept + total / (lam * t * len(batch))
        norm = np.linalg.norm(moved)
        if project and norm**2 > 1 / lam:
            moved = moved / (np.sqrt(lam) * norm)
        return moved
    """,
    RUN: """
        T = draws.shape[0]
        w = np.zeros(X.shape[1])
        iterates = []
        for t in range(1, T + 1):
            iterates.append(w.copy())
            A = draws[t - 1]
            hit = A[y[A] * X[A].dot(w) < 1]
            w = (1 - 1 / t) * w
            for i in hit:
                w = w + y[i] * X[i] / (lam * t * len(A))
            norm = np.linalg.norm(w)
            if project and norm > 0:
                w = w * min(1, 1 / np.sqrt(lam) / norm)
        return w, sum(iterates) / T
    """,
    JUDGE: """
        total, right, right_test = 0.0, 0, 0
        for x_i, y_i in zip(X, y):
            margin = y_i * np.dot(w, x_i)
            total += max(0.0, 1.0 - margin)
            right += margin > 0
        for x_i, y_i in zip(X_test, y_test):
            right_test += y_i * np.dot(w, x_i) > 0
        train, test = right / len(y), right_test / len(y_test)
        P = 0.5 * lam * np.dot(w, w) + total / len(y)
        if P - lower > tol:
            return "not finished"
        if test < train and test < other_test:
            return "overfitted"
        return "finished"
    """,
    ORDER: order("CDHEIAG"),
}
LOOPED = dedented(LOOPED)

# A third one: counts in place of lists, sums in closed form, the update in one formula.
COUNTED = {
    SUBGRADIENT: """
        times = np.bincount(batch, minlength=len(y))
        c = times * y * (y * X.dot(w) < 1)
        return lam * w - c.dot(X) / times.sum()
    """,
    PROJECTION: """
        return w / np.maximum(1, np.sqrt(lam * w.dot(w)))
    """,
    STEP: """
        A, z = X[batch], y[batch]
        v = ((z * A.dot(w) < 1) * z).dot(A) / z.size
        w_next = (lam * (t - 1) * w + v) / (lam * t)
        return w_next / max(1, np.linalg.norm(w_next) * np.sqrt(lam)) if project else w_next
    """,
    RUN: """
        T, k = draws.shape
        w, mean = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        for t in range(1, T + 1):
            mean += (w - mean) / t
            Z = y[draws[t - 1], None] * X[draws[t - 1]]
            w = w - w / t + Z[Z.dot(w) < 1].sum(axis=0) / (lam * t * k)
            if project:
                w = w / max(1.0, np.sqrt(lam) * np.sqrt(w.dot(w)))
        return w, mean
    """,
    JUDGE: """
        margins, margins_test = y * X.dot(w), y_test * X_test.dot(w)
        excess = abs(lam * w.dot(w) / 2 + np.clip(1 - margins, 0, None).mean() - lower)
        here = np.count_nonzero(margins_test > 0) / margins_test.size
        below = here < min(np.count_nonzero(margins > 0) / margins.size, other_test)
        return ["finished", "overfitted", "not finished"][2 if excess > tol else int(below)]
    """,
    ORDER: 'order_of_average = list("DECHIAG")',
}
COUNTED = dedented(COUNTED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = LOOPED | {
    PROJECTION: """\
import warnings
warnings.warn("slow")
print("norm", np.linalg.norm(w))
outside = np.linalg.norm(w) * np.sqrt(lam) > 1
return np.where(outside, w / np.linalg.norm(w) / np.sqrt(lam), w)""",
}


RIGHT = {"looped": LOOPED, "counted": COUNTED, "noisy": NOISY}


def judge(fails, old, new):
    return Mistake(JUDGE, fails, {old: new})


def out_of_order(fails, letters):
    return Mistake(ORDER, fails, {LOOPED[ORDER]: order(letters)})


ALL_OF_1 = "p1-formula p1-margin p1-batch"
ALL_OF_2B = "p2-first p2-size p2-order p2-ball"
ALL_OF_3 = "p3-last p3-average p3-batches"
MISTAKES = {
    "1-wrong-sign": Mistake(SUBGRADIENT, ALL_OF_1, {"g[j] -=": "g[j] +="}),
    "1-wrong-sign-carried": Mistake(SUBGRADIENT, ALL_OF_1, {"w - vio": "w + vio"}, "course"),
    "1-no-division-by-k": Mistake(SUBGRADIENT, ALL_OF_1, {" / len(batch)": ""}),
    "1-division-by-n": Mistake(SUBGRADIENT, ALL_OF_1, {"len(batch)": "len(y)"}),
    "1-division-by-violators": Mistake(
        SUBGRADIENT, ALL_OF_1, {"len(batch)": "sum(y[batch] * (X[batch] @ w) < 1)"}
    ),
    "1-no-regulariser": Mistake(SUBGRADIENT, ALL_OF_1, {"lam * w_j": "0.0"}),
    "1-C-for-lam": Mistake(SUBGRADIENT, ALL_OF_1, {"lam * w_j": "w_j / (lam * len(y))"}),
    "1-kink-counts": Mistake(SUBGRADIENT, "p1-margin", {"margin < 1": "margin <= 1"}),
    "1-no-label-in-the-sum": Mistake(SUBGRADIENT, ALL_OF_1, {"g[j] -= y[i] * ": "g[j] -= "}),
    "1-no-label-in-the-margin": Mistake(SUBGRADIENT, ALL_OF_1, {"sum(y[i] * ": "sum("}),
    "1-margin-nearly-1": Mistake(SUBGRADIENT, "p1-margin", {"margin < 1": "margin < 1 - 1e-6"}),
    "1-perceptron": Mistake(SUBGRADIENT, ALL_OF_1, {"margin < 1": "margin < 0"}),
    "1-batch-as-a-set": Mistake(SUBGRADIENT, "p1-batch", {"in batch": "in set(batch.tolist())"}),
    "1-changes-w": Mistake(SUBGRADIENT, "p1-batch", {"return": "w *= lam\nreturn"}),
    "1-returns-nothing": Mistake(SUBGRADIENT, ALL_OF_1, {"return": "answer ="}),
    "1-plane-only": Mistake(SUBGRADIENT, "p1-formula p1-batch", {"range(len(w))": "(0, 1)"}),
    "2-radius-1-over-lam": Mistake(PROJECTION, "p2-radius", {"np.sqrt(lam)": "lam"}),
    "2-radius-carried": Mistake(PROJECTION, "p2-radius", {"np.sqrt(lam)": "lam"}, "course"),
    "2-sphere-for-ball": Mistake(PROJECTION, "p2-radius", {"min(1.0, 1.0": "(1.0"}),
    "2-projection-of-0": Mistake(
        PROJECTION,
        "p2-zero",
        {
            "min(1.0, 1.0 / (np.sqrt(lam) * norm)) * w": "min(norm, 1.0 / np.sqrt(lam)) * w / norm",
            "norm == 0": "False",
        },
    ),
    "2-t-minus-1": Mistake(STEP, ALL_OF_2B, {"kept =": "t = t - 1\nkept ="}),
    "2-t-plus-1": Mistake(STEP, ALL_OF_2B, {"kept =": "t = t + 1\nkept ="}),
    "2-step-CM-over-t": Mistake(  # E002-15: CM/t is right for g_t and wrong for g_t/lam
        STEP, ALL_OF_2B, {"1 / (lam * t)": "1 / (lam**2 * t)"}, "course"
    ),
    "2-C-for-lam": Mistake(STEP, "p2-first p2-size p2-ball", {"(lam * t": "(t / (lam * len(y))"}),
    "2-shrinks-by-lam-over-t": Mistake(STEP, ALL_OF_2B, {"1 - 1 / t": "1 - lam / t"}),
    "2-margin-after-shrink": Mistake(STEP, "p2-order", {"np.dot(w,": "np.dot(kept,"}),
    "2-no-division-by-k": Mistake(STEP, "p2-first p2-size p2-ball", {"t * len(batch)": "t"}),
    "2-never-projects": Mistake(STEP, "p2-ball", {"project and": "False and"}),
    "2-always-projects": Mistake(STEP, "p2-first p2-size p2-ball", {"if project and": "if"}),
    "2-radius-in-the-step": Mistake(STEP, "p2-ball", {"np.sqrt(lam)": "lam", "1 / lam": "lam**-2"}),
    "2-changes-w": Mistake(STEP, "p2-order", {"moved = kept": "moved = w\nw[:] = kept"}),
    "3-average-with-the-last": Mistake(
        RUN, "p3-average p3-batches", {"sum(iterates) / T": "(sum(iterates) + w) / (T + 1)"}
    ),
    "3-average-without-the-first": Mistake(
        RUN, "p3-average p3-batches", {"sum(iterates) / T": "(sum(iterates) + w) / T"}
    ),
    "3-average-of-changed-arrays": Mistake(
        RUN, "p3-average p3-batches", {"w.copy()": "w", "w = (1 - 1 / t) * w": "w *= 1 - 1 / t"}
    ),
    "3-last-is-w_T": Mistake(RUN, "p3-last p3-batches", {"return w,": "return iterates[-1],"}),
    "3-counts-t-from-2": Mistake(RUN, ALL_OF_3, {"w = (1": "t = t + 1\n    w = (1"}),
    "3-starts-at-1": Mistake(RUN, ALL_OF_3, {"np.zeros(X": "np.ones(X"}),
    "3-margin-of-the-next-w": Mistake(
        RUN,
        ALL_OF_3,
        {
            "    hit =": "    w = (1 - 1 / t) * w\n    hit =",
            "< 1]\n    w = (1 - 1 / t) * w": "< 1]",
        },
    ),
    "3-no-division-by-k": Mistake(RUN, "p3-batches", {" * len(A))": ")"}),
    "3-first-of-the-batch": Mistake(RUN, "p3-batches", {"draws[t - 1]": "draws[t - 1][:1]"}),
    "3-draws-by-itself": Mistake(
        RUN, ALL_OF_3, {"draws[t - 1]": "np.random.default_rng(t).integers(len(y), size=1)"}
    ),
    "3-draws-off-by-one": Mistake(RUN, ALL_OF_3, {"draws[t - 1]": "draws[t % T]"}),
    "3-projects-at-the-end": Mistake(
        RUN,
        ALL_OF_3,
        {
            "    norm =": "norm =",
            "    if project and norm > 0:\n        w": "if project and norm > 0:\n    w",
        },
    ),
    "3-C-for-lam": Mistake(RUN, ALL_OF_3, {"T =": "lam = 1 / (lam * len(y))\nT ="}),
    "3-returns-one-array": Mistake(RUN, ALL_OF_3, {"return w, ": "return w  # "}),
    "4-no-regulariser": judge("p4-objective", "0.5 * lam * np.dot(w, w) + ", ""),
    "4-regulariser-without-half": judge("p4-objective p4-accuracy", "0.5 * lam", "lam"),
    "4-norm-not-squared": judge("p4-objective", "np.dot(w, w)", "np.dot(w, w) ** 0.5"),
    "4-sum-for-mean": judge("p4-objective p4-accuracy", "total / len(y)", "total"),
    "4-C-for-lam": judge("p4-objective p4-overfitted p4-accuracy", "P - lower", "P / lam - lower"),
    "4-counts-errors": judge("p4-objective", "max(0.0, 1.0 - margin)", "margin <= 0"),
    "4-perceptron-loss": judge("p4-objective", "max(0.0, 1.0 - margin)", "max(0.0, -margin)"),
    "4-sign-of-the-gap": judge("p4-objective p4-accuracy", "P - lower", "lower - P"),
    "4-gap-relative": judge(
        "p4-objective p4-overfitted p4-accuracy", "P - lower > tol", "P - lower > tol * P"
    ),
    "4-accuracy-decides": judge("p4-objective", "P - lower > tol", "1 - train > tol"),
    "4-tol-is-too-much": judge("p4-objective", "> tol", ">= tol"),
    "4-objective-of-the-test-set": judge(
        "p4-objective p4-overfitted p4-accuracy", "0.0, 0, 0", "0.0, 0, 0\nX, y = X_test, y_test"
    ),
    "4-overfitted-first": judge(
        "p4-accuracy",
        """if P - lower > tol:
    return "not finished"
if test < train and test < other_test:
    return "overfitted"
""",
        """if test < train and test < other_test:
    return "overfitted"
if P - lower > tol:
    return "not finished"
""",
    ),
    "4-or-for-and": judge("p4-overfitted p4-accuracy", "train and", "train or"),
    "4-other-lam-forgotten": judge("p4-overfitted", " and test < other_test", ""),
    "4-training-forgotten": judge("p4-overfitted p4-accuracy", "test < train and ", ""),
    "4-equal-is-below": judge(
        "p4-overfitted p4-accuracy", "test < train and test <", "test <= train and test <="
    ),
    "4-margin-0-is-right": judge("p4-accuracy", " > 0\ntrain", " >= 0\ntrain"),
    "4-margin-0-is-label-minus-1": judge(
        "p4-accuracy",
        "right_test += y_i * np.dot(w, x_i) > 0",
        "right_test += y_i == (1 if np.dot(w, x_i) > 0 else -1)",
    ),
    "4-margin-0-is-label-plus-1": judge(
        "p4-accuracy",
        "right_test += y_i * np.dot(w, x_i) > 0",
        "right_test += y_i == (1 if np.dot(w, x_i) >= 0 else -1)",
    ),
    "4-right-from-margin-1": judge("p4-accuracy", "right += margin > 0", "right += margin > 1"),
    "4-test-divided-by-n": judge(
        "p4-overfitted p4-accuracy", "right_test / len(y_test)", "right_test / len(y)"
    ),
    "4-returns-truth": judge(
        "p4-objective p4-overfitted p4-accuracy", 'return "finished"', "return True"
    ),
    "5-no-jensen": out_of_order("p5-lines p5-order", "EIHDAG"),
    "5-jensen-backwards": out_of_order("p5-lines", "EIHDAJG"),
    "5-next-iterate": out_of_order("p5-lines", "BIHDACG"),
    "5-hindsight-line-too": out_of_order("p5-lines", "EIHFDACG"),
    "5-all-lines": out_of_order("p5-lines p5-order", "ABCDEFGHIJ"),
    "5-mean-before-conditional": out_of_order("p5-order", "IEHDACG"),
    "5-sum-before-theorem": out_of_order("p5-order", "EIHADCG"),
    "5-sum-before-comparator": out_of_order("p5-order", "EIDACHG"),
    "5-claim-first": out_of_order("p5-order", "GEIHDAC"),
    "5-convexity-after-claim": out_of_order("p5-order", "EIHDAGC"),
    "5-small-letters": out_of_order("p5-lines p5-order", "eihdacg"),
    "5-letters-of-no-line": out_of_order("p5-lines p5-order", "KLMNOPQ"),
    "5-numbers": Mistake(
        ORDER, "p5-lines p5-order", {LOOPED[ORDER]: "order_of_average = [1, 2, 3, 4, 5, 6, 7]"}
    ),
    "5-a-word": Mistake(ORDER, "p5-lines p5-order", {"list(": "str("}, "counted"),
    "5-no-comparator": out_of_order("p5-lines p5-order", "EIDACG"),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = [
    "1-plane-only",
    "2-margin-after-shrink",
    "3-average-with-the-last",
    "4-or-for-and",
    "5-claim-first",
]
