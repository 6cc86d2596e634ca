"""Problem set 6: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

SUBGRADIENT, PROJECTION = "ps06-p1-answer", "ps06-p2-projection-answer"
STEP, RUN = "ps06-p2-step-answer", "ps06-p3-answer"

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
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = LOOPED | {
    PROJECTION: """\
import warnings
warnings.warn("slow")
print("norm", np.linalg.norm(w))
outside = np.linalg.norm(w) * np.sqrt(lam) > 1
return np.where(outside, w / np.linalg.norm(w) / np.sqrt(lam), w)""",
}


RIGHT = {"looped": LOOPED, "noisy": NOISY}

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
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["1-plane-only", "2-margin-after-shrink", "3-average-with-the-last"]
