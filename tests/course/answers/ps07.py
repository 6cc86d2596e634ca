"""Problem set 7: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

REGRET, HINDSIGHT = "ps07-p1-regret-answer", "ps07-p1-hindsight-answer"
BOUNDS, CROSSOVER = "ps07-p2-bounds-answer", "ps07-p2-crossover-answer"
STEP, PLAY = "ps07-p3-step-answer", "ps07-p3-regret-answer"
SURE, ROUNDS = "ps07-p4-bounds-answer", "ps07-p4-rounds-answer"
ORDER = "ps07-p5-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = dedented(
    {
        REGRET: """
            T, k = draws.shape
            regrets, so_far = [], 0.0
            for t in range(T):
                pays = lam / 2 * np.dot(W[t], W[t])
                best = lam / 2 * np.dot(u, u)
                for i in draws[t]:
                    pays += max(0, 1 - y[i] * np.dot(W[t], X[i])) / k
                    best += max(0, 1 - y[i] * np.dot(u, X[i])) / k
                so_far += pays - best
                regrets.append(so_far)
            return np.array(regrets)
        """,
        HINDSIGHT: """
            best, smallest = -1, float("inf")
            for j in range(len(candidates)):
                u = candidates[j]
                total = 0.0
                for batch in draws:
                    total += lam / 2 * np.dot(u, u)
                    for i in batch:
                        total += max(0, 1 - y[i] * np.dot(u, X[i])) / len(batch)
                if total < smallest:
                    best, smallest = j, total
            return best
        """,
        BOUNDS: """
            logarithmic = G * G * (1 + np.log(T)) / (2 * lam)
            root = 3 / 2 * G * D * np.sqrt(T)
            return logarithmic, root
        """,
        CROSSOVER: """
            T = 3  # of all whole numbers, the quotient of the bounds is largest here
            while G * G * (1 + np.log(T)) / (2 * lam) > 1.5 * G * D * np.sqrt(T):
                T += 1
            return T if T > 3 else 1
        """,
        STEP: """
            def step(t):
                if lam > 0:
                    return 1 / (lam * t)
                return D / (G * np.sqrt(t))

            return step
        """,
        PLAY: """
            T = len(slopes)
            w = 0.0
            paid = 0.0
            for t in range(1, T + 1):
                s = slopes[t - 1]
                paid = paid + lam / 2 * w * w + s * w
                w = w - step(t) * (lam * w + s)
                w = max(-D / 2, min(D / 2, w))
            S = sum(slopes)
            ends = [-D / 2, D / 2]
            if lam > 0 and abs(S) < lam * T * D / 2:
                ends.append(-S / (lam * T))
            best = min(lam * T / 2 * u * u + S * u for u in ends)
            return paid - best
        """,
        SURE: """
            if project:
                c = (np.sqrt(lam) + R) ** 2
            else:
                c = 4 * R * R
            common = c / (lam * T)
            average = (1 + np.log(T)) / 2
            surely = 2 / (4 - np.e) * common * (average + 4 * np.log(1 / delta))
            return surely, common * average / delta
        """,
        ROUNDS: """
            c = (np.sqrt(lam) + R) ** 2 if project else 4 * R * R

            def bound(T):
                logs = (1 + np.log(T)) / 2 + 4 * np.log(1 / delta)
                return 2 / (4 - np.e) * c / (lam * T) * logs

            low, high = 0, 2**24
            while low + 1 < high:
                T = (low + high) // 2
                if bound(T) <= eps:
                    high = T
                else:
                    low = T
            return high
        """,
        ORDER: """
            order_of_lemma_1 = ["D", "J", "H", "L", "E", "B", "C", "I", "G"]
        """,
    }
)

# Right values, with all that must not cost a point: prints, warnings, other types.
NOISY = LOOPED | dedented(
    {
        REGRET: """
            import warnings

            warnings.warn("long stream")
            print(len(draws), "rounds")

            def f(batch, w):
                return lam / 2 * w @ w + np.mean(np.clip(1 - y[batch] * (X[batch] @ w), 0, None))

            return list(np.add.accumulate([f(A, w) - f(A, u) for A, w in zip(draws, W)]))
        """,
        HINDSIGHT: """
            counts = np.bincount(draws.ravel(), minlength=len(y)) / draws.size
            losses = np.clip(1 - (candidates @ X.T) * y, 0, None)
            totals = lam / 2 * np.einsum("ij,ij->i", candidates, candidates) + losses @ counts
            print(totals)
            return np.argsort(totals)[0]
        """,
        BOUNDS: """
            print(T)
            return np.array(G**2 / lam * 0.5 * (1 + np.log(T))), np.float64(1.5 * G * D * T**0.5)
        """,
        CROSSOVER: """
            from scipy.special import lambertw

            q = 3 * lam * D / G
            if q >= 2 / np.sqrt(np.e):
                return 1
            s = -2 / q * lambertw(-q / (2 * np.sqrt(np.e)), -1).real
            return np.ceil(s * s)
        """,
        STEP: """
            print("lam", lam)
            return {True: lambda t: lam**-1 / t, False: lambda t: D / G / t**0.5}[lam > 0]
        """,
        PLAY: """
            half, w, paid = 0.5 * D, np.zeros(1), np.zeros(1)
            for t, s in enumerate(slopes, 1):
                paid += 0.5 * lam * w**2 + s * w
                w = np.clip(w - step(t) * (lam * w + s), -half, half)
            S, q = np.sum(slopes), 0.5 * lam * len(slopes)
            with np.errstate(all="ignore"):
                u = np.clip(np.divide(-S, 2 * q), -half, half)
            print("best", u)
            u = u if lam > 0 else -half * np.sign(S)
            return (paid - (q * u * u + S * u)).item()
        """,
        SURE: """
            print(project)
            G = [2 * R, np.sqrt(lam) + R][bool(project)]
            mean = G**2 * (1 + np.log(T)) / (2 * lam * T)
            tail = -4 * G**2 * np.log(delta) / (lam * T)
            return np.array((mean + tail) / (2 - np.e / 2)), mean / delta
        """,
        ROUNDS: """
            G = np.sqrt(lam) + R if project else 2 * R
            factor = G**2 / (lam * (4 - np.e))
            T = 1.0
            for _ in range(500):  # T <- factor (1 + ln T + 8 ln(1/delta)) / eps grows to the root
                T = max(1.0, factor * (1 + np.log(T) - 8 * np.log(delta)) / eps)
            T = max(1, int(T) - 2)
            while factor * (1 + np.log(T) - 8 * np.log(delta)) > eps * T:
                T += 1
            print(T)
            return float(T)
        """,
        ORDER: """
            order_of_lemma_1 = list("CLHEDJBIG")
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

MISTAKES = {
    "1-not-added-up": Mistake(REGRET, "p1-regret", {"so_far += ": "so_far = "}),
    "1-mean-regret": Mistake(REGRET, "p1-regret", {"append(so_far)": "append(so_far / (t + 1))"}),
    "1-wrong-sign": Mistake(REGRET, "p1-regret", {"pays - best": "best - pays"}),
    "1-no-division-by-k": Mistake(REGRET, "p1-regret", {" / k": ""}),
    "1-no-norm-of-u": Mistake(REGRET, "p1-regret", {"best = lam / 2 * np.dot(u, u)": "best = 0.0"}),
    "1-no-norms": Mistake(REGRET, "p1-regret", {"lam / 2": "0"}),
    "1-lam-without-half": Mistake(REGRET, "p1-regret", {"lam / 2": "lam"}),
    "1-objective-for-u": Mistake(
        REGRET,
        "p1-regret",
        {
            "best += max(0, 1 - y[i] * np.dot(u, X[i])) / k": "best = lam / 2 * np.dot(u, u)\n"
            "        best += np.clip(1 - y * (X @ u), 0, None).mean()"
        },
    ),
    "1-loss-below-0": Mistake(
        REGRET, "p1-regret", {"max(0, 1 - y[i] * np.dot(u": "(1 - y[i] * np.dot(u"}
    ),
    "1-never-negative": Mistake(REGRET, "p1-regret", {"append(so_far)": "append(max(0, so_far))"}),
    "1-norm-not-squared": Mistake(
        REGRET, "p1-regret", {"best = lam / 2 * np.dot(u, u)": "best = lam / 2 * np.linalg.norm(u)"}
    ),
    "1-objective-in-hindsight": Mistake(
        HINDSIGHT, "p1-hindsight", {"in draws:": "in [range(len(y))]:"}
    ),
    "1-last-round-in-hindsight": Mistake(
        HINDSIGHT, "p1-hindsight", {"in draws:": "in draws[-1:]:"}
    ),
    "1-first-of-the-batch": Mistake(
        HINDSIGHT, "p1-hindsight", {"for i in batch": "for i in batch[:1]"}
    ),
    "1-without-the-norm": Mistake(HINDSIGHT, "p1-hindsight", {"lam / 2": "0"}),
    "1-worst-in-hindsight": Mistake(
        HINDSIGHT,
        "p1-hindsight",
        {"total < smallest": "total > smallest", 'float("inf")': '-float("inf")'},
    ),
    "1-point-for-its-number": Mistake(
        HINDSIGHT, "p1-hindsight", {"return best": "return candidates[best]"}
    ),
    "1-named-once": Mistake(HINDSIGHT, "p1-hindsight", {"in draws:": "in [np.unique(draws)]:"}),
    "2-order-of-the-bounds": Mistake(
        BOUNDS, "p2-bounds", {"return logarithmic, root": "return root, logarithmic"}
    ),
    "2-logarithm-without-1": Mistake(BOUNDS, "p2-bounds", {"(1 + np.log(T))": "np.log(T)"}),
    "2-logarithm-to-base-10-carried": Mistake(
        BOUNDS, "p2-bounds", {"np.log(T)": "np.log10(T)"}, "course"
    ),
    "2-parenthesis-of-lam": Mistake(BOUNDS, "p2-bounds", {"/ (2 * lam)": "/ 2 * lam"}),
    "2-root-without-3-halves": Mistake(BOUNDS, "p2-bounds", {"3 / 2 * G": "G"}),
    "2-printed-regret": Mistake(BOUNDS, "p2-bounds", {"3 / 2 * G * D": "G"}),
    "2-first-time": Mistake(
        CROSSOVER, "p2-crossover", {"T = 3 ": "T = 1 ", "return T if T > 3 else 1": "return T"}
    ),
    "2-searches-from-2": Mistake(
        CROSSOVER, "p2-crossover", {"T = 3 ": "T = 2 ", "if T > 3": "if T > 2"}
    ),
    "2-last-time-above": Mistake(CROSSOVER, "p2-crossover", {"return T if": "return T - 1 if"}),
    "2-never-1": Mistake(CROSSOVER, "p2-crossover", {"return T if T > 3 else 1": "return T"}),
    "2-crossover-without-1": Mistake(CROSSOVER, "p2-crossover", {"(1 + np.log(T))": "np.log(T)"}),
    "2-crossover-constant-step": Mistake(CROSSOVER, "p2-crossover", {"1.5 * G": "G"}),
    "2-crossover-forgets-D": Mistake(CROSSOVER, "p2-crossover", {"1.5 * G * D": "1.5 * G"}),
    "2-stops-early": Mistake(CROSSOVER, "p2-crossover", {"while G": "while T < 500 and G"}),
    "3-printed-step": Mistake(STEP, "p3-step", {"D / (G * np.sqrt(t))": "G / np.sqrt(t)"}),
    "3-step-by-t": Mistake(STEP, "p3-step", {"np.sqrt(t)": "t"}),
    "3-step-lam-over-t": Mistake(STEP, "p3-step", {"1 / (lam * t)": "1 / lam * t"}),
    "3-a-number": Mistake(STEP, "p3-step", {"return step": "return step(1)"}),
    "3-step-from-0": Mistake(
        STEP, "p3-step", {"(lam * t)": "(lam * (t + 1))", "sqrt(t)": "sqrt(t + 1)"}
    ),
    "3-pays-after-the-step": Mistake(
        PLAY,
        "p3-lines p3-parabolas",
        {
            "    paid = paid + lam / 2 * w * w + s * w\n": "",
            "w))": "w))\n    paid = paid + lam / 2 * w * w + s * w",
        },
    ),
    "3-never-projects": Mistake(
        PLAY, "p3-lines p3-parabolas", {"    w = max(-D / 2, min(D / 2, w))\n": ""}
    ),
    "3-radius-D": Mistake(
        PLAY, "p3-lines p3-parabolas", {"max(-D / 2, min(D / 2, w))": "max(-D, min(D, w))"}
    ),
    "3-steps-from-0": Mistake(PLAY, "p3-lines p3-parabolas", {"step(t)": "step(t + 1)"}),
    "3-gradient-without-lam": Mistake(PLAY, "p3-parabolas", {"(lam * w + s)": "s"}),
    "3-goes-up": Mistake(PLAY, "p3-lines p3-parabolas", {"w - step(t)": "w + step(t)"}),
    "3-best-is-0": Mistake(PLAY, "p3-lines p3-parabolas", {"for u in ends": "for u in [0.0]"}),
    "3-best-of-each-round": Mistake(
        PLAY,
        "p3-lines p3-parabolas",
        {
            "best = min(lam * T / 2 * u * u + S * u for u in ends)": "best = 0.0\n"
            "for s in slopes:\n"
            "    best += min(lam / 2 * u * u + s * u for u in ends)"
        },
    ),
    "3-best-outside-the-set": Mistake(PLAY, "p3-parabolas", {" and abs(S) < lam * T * D / 2": ""}),
    "3-bottom-without-T": Mistake(PLAY, "p3-parabolas", {"-S / (lam * T)": "-S / lam"}),
    "3-best-end-only": Mistake(PLAY, "p3-parabolas", {"if lam > 0 and": "if lam < 0 and"}),
    "4-delta-not-inverted-carried": Mistake(
        SURE, "p4-bounds", {"np.log(1 / delta)": "np.log(delta)"}, "course"
    ),
    "4-markov-times-delta": Mistake(SURE, "p4-bounds", {"average / delta": "average * delta"}),
    "4-order-of-the-bounds": Mistake(
        SURE, "p4-bounds", {"surely, common * average / delta": "common * average / delta, surely"}
    ),
    "4-one-constant-for-both": Mistake(SURE, "p4-bounds", {"if project": "if True"}),
    "4-projection-swapped": Mistake(SURE, "p4-bounds", {"if project": "if not project"}),
    "4-lam-not-rooted": Mistake(SURE, "p4-bounds", {"np.sqrt(lam) + R": "lam + R"}),
    "4-rounded-factor": Mistake(SURE, "p4-bounds", {"2 / (4 - np.e)": "1.56"}),
    "4-logarithm-without-1": Mistake(SURE, "p4-bounds", {"(1 + np.log(T)) / 2": "np.log(T) / 2"}),
    "4-parenthesis-of-lam-T": Mistake(SURE, "p4-bounds", {"c / (lam * T)": "c / lam * T"}),
    "4-logs-multiplied": Mistake(SURE, "p4-bounds", {"average + 4 *": "average * 4 *"}),
    "4-one-round-short": Mistake(ROUNDS, "p4-rounds", {"return high": "return max(low, 1)"}),
    "4-power-of-2": Mistake(
        ROUNDS, "p4-rounds", {"return high": "return 2 ** int(np.ceil(np.log2(high)))"}
    ),
    "4-rounds-of-the-mean": Mistake(ROUNDS, "p4-rounds", {" + 4 * np.log(1 / delta)": ""}),
    "4-rounds-of-markov": Mistake(
        ROUNDS, "p4-rounds", {"2 / (4 - np.e)": "1 / delta", " + 4 * np.log(1 / delta)": ""}
    ),
    "4-rounds-always-projected": Mistake(ROUNDS, "p4-rounds", {" if project else 4 * R * R": ""}),
    "5-step-upside-down": Mistake(ORDER, "p5-lines", {'"J"': '"A"'}),
    "5-logarithm-without-1": Mistake(ORDER, "p5-lines", {'"C"': '"F"'}),
    "5-first-distance-stays": Mistake(ORDER, "p5-lines", {'"I"': '"K"'}),
    "5-both-steps": Mistake(ORDER, "p5-lines", {'"J"': '"A", "J"'}),
    "5-no-strong-convexity": Mistake(ORDER, "p5-lines p5-order", {'"H", ': ""}),
    "5-joined-before-both": Mistake(ORDER, "p5-order", {'"L", "E"': '"E", "L"'}),
    "5-solved-before-it-stands": Mistake(ORDER, "p5-order", {'"D", "J"': '"J", "D"'}),
    "5-put-in-too-early": Mistake(ORDER, "p5-order", {'"E", "B"': '"B", "E"'}),
    "5-sum-too-early": Mistake(ORDER, "p5-order", {'"B", "C", "I"': '"I", "B", "C"'}),
    "5-end-before-the-logarithm": Mistake(ORDER, "p5-order", {'"C", "I", "G"': '"I", "G", "C"'}),
    "5-end-before-the-sum": Mistake(ORDER, "p5-order", {'"I", "G"': '"G", "I"'}),
    "5-one-word": Mistake(
        ORDER, "p5-lines p5-order", {'["D", "J", "H", "L", "E", "B", "C", "I", "G"]': '"DJHLEBCIG"'}
    ),
}
# They go through nbgrader itself; all are run in-process.
SUBMITTED = ["2-first-time", "5-logarithm-without-1"]
