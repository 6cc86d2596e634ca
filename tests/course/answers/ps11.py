"""Problem set 11: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

SHARES, FIRST = "ps11-p1-answer", "ps11-p2-answer"
LIVING, LEAST = "ps11-p3-survivors-answer", "ps11-p3-least-answer"
WEIGHT, PUSH, PART = "ps11-p4-weight-answer", "ps11-p4-push-answer", "ps11-p4-part-answer"
ORDER = "ps11-p5-order-answer"


def order(letters):
    return f"order_of_bias = {list(letters)!r}"


# A second right answer to everything: loops, no function calls another.
LOOPED = {
    SHARES: """
        seen = []
        for i in suspects:
            if i not in seen:
                seen.append(i)
        caught = sum(i in outliers for i in seen)
        precision = caught / len(seen) if len(seen) > 0 else 0
        recall = caught / len(outliers) if len(outliers) > 0 else 0
        return precision, recall, len(outliers) / n
    """,
    FIRST: """
        n = len(y)
        before = lam / 2 * sum(w**2) + sum(max(0, 1 - y[j] * (X[j] @ w)) for j in range(n)) / n
        for t in range(1, len(draws) + 1):
            i = draws[t - 1]
            margin = y[i] * (X[i] @ w)
            u = (1 - 1 / t) * w
            if margin < 1:
                u = u + y[i] * X[i] / (lam * t)
            norm = np.sqrt(sum(u**2))
            if project and norm > 1 / np.sqrt(lam):
                u = u / (norm * np.sqrt(lam))
            after = lam / 2 * sum(u**2) + sum(max(0, 1 - y[j] * (X[j] @ u)) for j in range(n)) / n
            if not after > before:
                return t
        return 0
    """,
    LIVING: """
        flags = [0] * n
        alive = [True] * n
        for t in range(len(rose)):
            A = batches[t]
            if rose[t]:
                for i in set(A.tolist()):
                    flags[i] += 1
                    if flags[i] >= threshold:
                        alive[i] = False
                if not any(alive):
                    alive[A[0]] = True
        return alive
    """,
    LEAST: """
        free = (threshold - 1) * n
        if rises <= free:
            return 0
        return min(rises - free, n - 1)
    """,
    WEIGHT: """
        n = len(psi)
        total = sum(psi)
        pi = np.array([p / total for p in psi])
        c = np.array([1 / (n * p) for p in pi])
        return pi, c
    """,
    PUSH: """
        n, k = len(y), len(batch)
        pi = psi / sum(psi)
        v = np.zeros(len(w))
        for i in batch:
            margin = y[i] * (X[i] @ w)
            if margin < 1:
                v = v + y[i] * X[i] / (n * pi[i])
        return v / k
    """,
    PART: """
        n, kept = len(y), set(part.tolist())
        missed = 0.0
        for i in range(n):
            if i not in kept:
                missed += max(0, 1 - y[i] * (X[i] @ w))
        return lam * n / len(kept), missed / n
    """,
    ORDER: order("GIECAHD"),
}
LOOPED = dedented(LOOPED)

# A third one, with arrays; it also prints, warns and divides 0 by 0 as NumPy does.
ARRAYS = {
    SHARES: """
        flagged = np.bincount(suspects, minlength=n) > 0
        bad = np.isin(np.arange(n), outliers)
        with np.errstate(invalid="ignore"):
            shares = np.array([bad[flagged].sum(), flagged[bad].sum()]) / [flagged.sum(), bad.sum()]
        print(shares)
        return *np.nan_to_num(shares), np.mean(bad)
    """,
    FIRST: """
        import warnings

        warnings.warn("all candidates at once")
        t = np.arange(1, len(draws) + 1)[:, None]
        hit = (y[draws] * (X[draws] @ w) < 1)[:, None]
        U = (t - 1) / t * w + hit * y[draws, None] * X[draws] / (lam * t)
        if project:
            U = U / np.maximum(1, np.sqrt(lam) * np.linalg.norm(U, axis=1))[:, None]
        W = np.vstack([w, U])
        P = lam / 2 * (W**2).sum(axis=1) + np.maximum(0, 1 - y * (W @ X.T)).mean(axis=1)
        taken = np.flatnonzero(P[1:] <= P[0])
        return taken[0] + 1 if taken.size else 0
    """,
    LIVING: """
        hits = np.array([np.bincount(A, minlength=n) > 0 for A in batches]) & rose[:, None]
        alive = hits.sum(axis=0) < threshold
        if not alive.any():
            # Who stayed: the first of the batch whose flags took the last ones.
            left = np.cumsum(hits, axis=0) < threshold
            t = np.flatnonzero(~left.any(axis=1))[0]
            alive[batches[t, 0]] = True
        return alive
    """,
    LEAST: """
        return int(np.clip(rises - n * threshold + n, 0, n - 1))
    """,
    WEIGHT: """
        return psi / np.sum(psi), np.mean(psi) / psi
    """,
    PUSH: """
        c = weight_of_a_draw(psi)[1][batch]
        Z = y[batch, None] * X[batch]
        return np.mean(np.where(Z @ w < 1, c, 0)[:, None] * Z, axis=0)
    """,
    PART: """
        out = np.ones(len(y), dtype=bool)
        out[part] = False
        return lam / np.mean(~out), np.mean(out * np.clip(1 - y * (X @ w), 0, None))
    """,
    ORDER: 'order_of_bias = list("EGCIAHD")',
}

RIGHT = {"looped": LOOPED, "arrays": dedented(ARRAYS)}


def shares(fails, old, new):
    return Mistake(SHARES, fails, {old: new})


def first(fails, old, new):
    return Mistake(FIRST, fails, {old: new})


def out_of_order(fails, letters):
    return Mistake(ORDER, fails, {LOOPED[ORDER]: order(letters)})


MISTAKES = {
    "1-swapped": shares(
        "p1-shares p1-repeats", "return precision, recall", "return recall, precision"
    ),
    "1-flags-for-examples": shares("p1-repeats", "if i not in seen:", "if True:"),
    "1-precision-of-all": shares("p1-shares p1-repeats", "caught / len(seen)", "caught / n"),
    "1-recall-of-all": shares("p1-shares p1-repeats", "caught / len(outliers)", "caught / n"),
    "1-false-alarms": shares(
        "p1-shares p1-repeats", "caught / len(seen)", "1 - caught / len(seen)"
    ),
    "1-blind-is-share-of-suspects": shares("p1-blind", "len(outliers) / n", "len(seen) / n"),
    "1-blind-of-the-rest": shares(
        "p1-blind", "len(outliers) / n", "len(outliers) / (n - len(outliers))"
    ),
    "1-divides-by-0": shares("p1-repeats", " if len(seen) > 0 else 0", ""),
    "1-nobody-is-perfect": shares("p1-repeats", "len(seen) > 0 else 0", "len(seen) > 0 else 1"),
    "1-nobody-is-no-case": shares(
        "p1-blind", "seen = []", "seen = []\nif len(suspects) == 0:\n    return 0, 0, 0"
    ),
    "1-accuracy": shares(
        "p1-shares p1-repeats",
        "caught / len(seen)",
        "(n - len(seen) - len(outliers) + 2 * caught) / n",
    ),
    "1-sorts-the-suspects": shares("p1-shares", "seen = []", "suspects.sort()\nseen = []"),
    "2-counts-from-0": first("p2-step p2-start p2-tie p2-ball", "return t", "return t - 1"),
    "2-first-refused": first(
        "p2-step p2-start p2-tie p2-ball", "if not after > before", "if after > before"
    ),
    "2-tie-is-a-rise": first("p2-tie", "not after > before", "after < before"),
    "2-does-not-take-back": first(
        "p2-step p2-start p2-ball", "return t\n", "return t\n    w, before = u, after\n"
    ),
    "2-objective-of-the-draw": Mistake(
        FIRST,
        "p2-step p2-start p2-ball",
        {
            "    after =": "    n, rows = 1, [i]\n    after =",
            "j in range(n)) / n\n    if": "j in rows) / n\n    before = lam / 2 * sum(w**2)"
            " + sum(max(0, 1 - y[j] * (X[j] @ w)) for j in rows)\n    if",
        },
    ),
    "2-sum-of-losses": first("p2-step p2-start p2-ball", "range(n)) / n", "range(n))"),
    "2-no-regulariser": first(
        "p2-step p2-start p2-tie p2-ball", "after = lam / 2 * sum(u**2) +", "after ="
    ),
    "2-kink-pushes": first("p2-start", "margin < 1", "margin <= 1"),
    "2-no-shrink": first("p2-start", "(1 - 1 / t) * w", "w"),
    "2-step-1-over-t": first("p2-step p2-start p2-tie p2-ball", "/ (lam * t)", "/ t"),
    "2-C-for-lam": first(
        "p2-step p2-start p2-tie p2-ball", "n = len(y)", "n = len(y)\nlam = 1 / (lam * n)"
    ),
    "2-t-stands-still": first("p2-step p2-start p2-ball", "/ (lam * t)", "/ lam"),
    "2-margin-after-shrink": Mistake(
        FIRST,
        "p2-start",
        {
            "    margin = y[i] * (X[i] @ w)\n": "",
            "    if margin < 1": "    margin = y[i] * (X[i] @ u)\n    if margin < 1",
        },
    ),
    "2-never-projects": first("p2-ball", "if project and", "if False and"),
    "2-always-projects": first("p2-step p2-tie", "if project and", "if"),
    "2-radius-1-over-lam": Mistake(
        FIRST,
        "p2-ball",
        {"> 1 / np.sqrt(lam)": "> 1 / lam", "(norm * np.sqrt(lam))": "(norm * lam)"},
    ),
    "2-changes-w": first("p2-start", "u = (1 - 1 / t) * w", "w *= 1 - 1 / t\n    u = w"),
    "3-every-step-flags": Mistake(LIVING, "p3-flags p3-last", {"if rose[t]": "if True"}),
    "3-next-batch": Mistake(
        LIVING, "p3-flags p3-last", {"batches[t]": "batches[min(t + 1, len(rose) - 1)]"}
    ),
    "3-one-flag-too-late": Mistake(LIVING, "p3-flags p3-last", {">= threshold": "> threshold"}),
    "3-flags-twice": Mistake(LIVING, "p3-flags p3-last", {"set(A.tolist())": "A"}),
    "3-first-of-the-batch": Mistake(LIVING, "p3-flags p3-last", {"set(A.tolist())": "A[:1]"}),
    "3-always-two-flags": Mistake(LIVING, "p3-flags p3-last", {"threshold:": "2:"}),
    "3-all-die": Mistake(LIVING, "p3-last", {"if not any(alive)": "if False"}),
    "3-last-of-the-batch-stays": Mistake(LIVING, "p3-last", {"alive[A[0]]": "alive[A[-1]]"}),
    "3-batch-survives": Mistake(
        LIVING, "p3-last", {"alive[A[0]] = True": "alive = [i in A for i in range(n)]"}
    ),
    "3-who-is-counted-last-stays": Mistake(
        LIVING, "p3-last", {">= threshold:": ">= threshold and sum(alive) > 1:"}
    ),
    "3-flags-are-reset": Mistake(
        LIVING,
        "p3-flags p3-last",
        {"alive[i] = False": "alive[i] = False\n                flags = [0] * n"},
    ),
    "3-least-as-most": Mistake(
        LEAST,
        "p3-least",
        {"return min(rises - free, n - 1)": "return min(rises // threshold, n - 1)"},
    ),
    "3-least-theta-n": Mistake(
        LEAST, "p3-least p3-bounds", {"(threshold - 1) * n": "threshold * n"}
    ),
    "3-least-without-free-flags": Mistake(
        LEAST, "p3-least p3-bounds", {"(threshold - 1) * n": "threshold - 1"}
    ),
    "3-least-kills-the-last": Mistake(LEAST, "p3-bounds", {"n - 1)": "n)"}),
    "3-least-negative": Mistake(LEAST, "p3-bounds", {"rises <= free": "False"}),
    "3-least-off-by-one": Mistake(LEAST, "p3-least", {"rises - free,": "rises - free + 1,"}),
    "4-no-n": Mistake(WEIGHT, "p4-weight", {"1 / (n * p)": "1 / p"}),
    "4-weight-of-psi": Mistake(WEIGHT, "p4-weight", {"for p in pi": "for p in psi"}),
    "4-weight-upside-down": Mistake(WEIGHT, "p4-weight", {"1 / (n * p)": "n * p"}),
    "4-pi-is-psi": Mistake(WEIGHT, "p4-weight", {"p / total": "p"}),
    "4-weights-sum-to-1": Mistake(WEIGHT, "p4-weight", {"return pi, c": "return pi, c / sum(c)"}),
    "4-weights-cut": Mistake(WEIGHT, "p4-weight", {"1 / (n * p)": "min(1 / (n * p), 100)"}),
    "4-changes-psi": Mistake(WEIGHT, "p4-weight", {"pi = np": "psi /= total\npi = np"}),
    "4-push-without-weights": Mistake(PUSH, "p4-push", {"/ (n * pi[i])": ""}),
    "4-push-without-k": Mistake(PUSH, "p4-push", {"v / k": "v"}),
    "4-push-by-k-pi": Mistake(PUSH, "p4-push", {"(n * pi[i])": "pi[i]"}),
    "4-push-at-the-kink": Mistake(PUSH, "p4-push", {"margin < 1": "margin <= 1"}),
    "4-push-weighs-the-margin": Mistake(
        PUSH, "p4-push", {"margin < 1": "margin / (n * pi[i]) < 1"}
    ),
    "4-push-each-once": Mistake(PUSH, "p4-push", {"in batch": "in set(batch.tolist())"}),
    "4-push-wrong-sign": Mistake(PUSH, "p4-push", {"v = v + y": "v = v - y"}),
    "4-push-changes-psi": Mistake(
        PUSH, "p4-push", {"pi = psi / sum(psi)": "pi = psi\npi /= sum(psi)"}
    ),
    "4-part-same-lam": Mistake(PART, "p4-strength", {"lam * n / len(kept)": "lam"}),
    "4-part-upside-down": Mistake(
        PART, "p4-strength", {"lam * n / len(kept)": "lam * len(kept) / n"}
    ),
    "4-part-of-the-rest": Mistake(
        PART, "p4-missed", {"missed / n": "missed / max(1, n - len(kept))"}
    ),
    "4-part-by-its-size": Mistake(PART, "p4-missed", {"missed / n": "missed / len(kept)"}),
    "4-part-counts-errors": Mistake(
        PART, "p4-missed", {"max(0, 1 - y[i] * (X[i] @ w))": "(y[i] * (X[i] @ w) < 1)"}
    ),
    "5-constant": out_of_order("p5-lines", "ECBIAHD"),
    "5-direction": out_of_order("p5-lines", "ECGFAHD"),
    "5-unbiased": out_of_order("p5-lines p5-order", "JECGIAH"),
    "5-all-lines": out_of_order("p5-lines p5-order", "ABCDEFGHIJ"),
    "5-no-lipschitz": out_of_order("p5-lines p5-order", "EGIAHD"),
    "5-lipschitz-before-definition": out_of_order("p5-order", "CEGIAHD"),
    "5-sum-before-its-terms": out_of_order("p5-order", "ECGAIHD"),
    "5-sum-before-definition": out_of_order("p5-order", "GIAECHD"),
    "5-chain-before-lipschitz": out_of_order("p5-order", "EGIAHCD"),
    "5-division-first": out_of_order("p5-order", "DECGIAH"),
    "5-a-word": Mistake(ORDER, "p5-lines p5-order", {"list(": "str("}, "arrays"),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["2-does-not-take-back", "4-part-same-lam"]
