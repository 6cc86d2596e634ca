"""Problem set 12: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

WORK, STEP, RUN = "ps12-p1-answer", "ps12-p2-step-answer", "ps12-p2-run-answer"
GAP, BATCH = "ps12-p3-work-answer", "ps12-p3-batch-answer"
PIECES, ORDER = "ps12-p4-answer", "ps12-p5-order-answer"


def order(letters):
    return f"order_of_machines = {list(letters)!r}"


# A second right answer to everything: loops, no function calls another.
LOOPED = {
    WORK: """
        n = len(indptr) - 1
        R2, s = 0.0, 0
        for i in range(n):
            values = data[indptr[i] : indptr[i + 1]]
            R2 = max(R2, sum(v**2 for v in values))
            s = max(s, len(values))
        R = R2**0.5
        if project:
            c = (lam**0.5 + R) ** 2
        else:
            c = 4 * R**2
        N = c / (lam * eps)
        T = int(np.ceil(N * (1 + np.log(N))))
        checks = 0
        if every > 0:
            checks = T // every
        return T, T * k + checks * n, T * k * s + checks * len(data)
    """,
    STEP: """
        old = read(indices)
        dot, norm2 = 0.0, 0.0
        for v, x in zip(old, values):
            dot += v * x
            norm2 += x * x
        hit = t == 1 or y * q * dot < lam * (t - 1)
        if hit:
            push = y / q
            add(indices, push * values)
            square = square + 2 * push * dot + push**2 * norm2
        if project and square > 0:
            limit = np.sqrt(lam) * t / np.sqrt(square)
            if limit < q:
                q = limit
        return q, square
    """,
    RUN: """
        V = np.zeros(d)
        q = 1.0
        square = 0.0
        T = len(draws)
        for t in range(1, T + 1):
            i = draws[t - 1]
            columns = indices[indptr[i] : indptr[i + 1]]
            x = data[indptr[i] : indptr[i + 1]]
            dot = sum(V[columns] * x)
            if t == 1 or y[i] * q * dot < lam * (t - 1):
                push = y[i] / q
                V[columns] += push * x
                square += 2 * push * dot + push**2 * sum(x**2)
            if project and square > 0:
                q = min(q, np.sqrt(lam) * t / np.sqrt(square))
            if q < 1e-100:
                V = q * V
                square = sum(V**2)
                q = 1.0
        return q * V / (lam * T)
    """,
    GAP: """
        firsts = []
        for run in gaps:
            first = np.inf
            for t, gap in zip(iterations, run):
                if gap <= eps:
                    first = t
                    break
            firsts.append(first)
        steps = np.median(firsts)
        return steps, steps * k
    """,
    BATCH: """
        n = len(X)
        R2 = max(sum(row**2) for row in X)
        omega = max(np.linalg.eigvalsh(X.T @ X)) / (n * R2)
        best, least = None, np.inf
        for k in sizes:
            steps = 1 / k + (1 - 1 / k) * omega
            cost = steps * (c_step + k * c_example)
            if cost < least:
                best, least = k, cost
        return best
    """,
    PIECES: """
        w = np.zeros(d)
        total = np.zeros(d)
        t = 0
        batch = []
        while True:
            piece = next_piece()
            if piece is None:
                break
            X, y = piece
            for x_i, y_i in zip(X, y):
                batch.append(y_i * x_i)
                if len(batch) < k:
                    continue
                t += 1
                total = total + w
                push = np.zeros(d)
                for z in batch:
                    if w @ z < 1:
                        push = push + z
                w = (1 - 1 / t) * w + push / (lam * t * k)
                norm = np.linalg.norm(w)
                if norm > 1 / np.sqrt(lam):
                    w = w / (np.sqrt(lam) * norm)
                batch = []
        return w, total / max(t, 1), t
    """,
    ORDER: order("GDAFHC"),
}
LOOPED = dedented(LOOPED)

# A third one: other formulas for the same, with prints, warnings and nested functions.
OTHER = {
    WORK: """
        sizes = indptr[1:] - indptr[:-1]
        sums = np.concatenate([[0.0], np.cumsum(data**2)])
        R = np.sqrt((sums[indptr[1:]] - sums[indptr[:-1]]).max())
        G = np.sqrt(lam) + R if project else 2 * R
        x = G * G / lam / eps
        T = -int(-x * (1 + np.log(x)) // 1)
        passes = len(range(every, T + 1, every)) if every else 0
        return T, T * k + passes * sizes.size, T * k * sizes.max() + passes * sizes.sum()
    """,
    STEP: """
        import warnings

        warnings.warn("one entry at a time")
        entries = [float(np.ravel(read(np.array([j])))[0]) for j in indices]
        dot = float(np.dot(entries, values))
        print("margin", dot)
        if t > 1 and y * q * dot >= lam * (t - 1):
            return q, square
        for j, v, x in zip(indices, entries, values):
            add(np.array([j]), np.array([y / q * x]))
            square += (v + y / q * x) ** 2 - v**2
        with np.errstate(divide="ignore"):
            limit = t * np.sqrt(lam / np.float64(square))
        return (min(q, limit) if project else q), square
    """,
    RUN: """
        w, factor, square = np.zeros(d), 1.0, 0.0  # the iterate is factor * w; ||w||^2
        for t, i in enumerate(draws.tolist(), start=1):
            at = slice(indptr[i], indptr[i + 1])
            product = w[indices[at]] @ data[at]
            margin = y[i] * factor * product
            factor *= 1 - 1 / t
            if factor < 1e-50:
                w, factor = w * factor, 1.0
                product, square = w[indices[at]] @ data[at], w @ w
            if margin < 1:
                a = y[i] / (factor * lam * t)
                w[indices[at]] += a * data[at]
                square += a * (2 * product + a * (data[at] @ data[at]))
            norm = factor * np.sqrt(square)
            if project and norm > 1 / np.sqrt(lam):
                factor /= norm * np.sqrt(lam)
        return factor * w
    """,
    GAP: """
        padded = np.hstack([gaps, np.full((len(gaps), 1), -np.inf)]) <= eps
        steps = float(np.median(np.append(iterations, np.inf)[np.argmax(padded, axis=1)]))
        return steps, k * steps
    """,
    BATCH: """
        omega = np.linalg.svd(X)[1].max() ** 2 / X.shape[0] / np.max(np.sum(X * X, axis=1))
        return min(sizes, key=lambda k: (1 + (k - 1) * omega) * (c_step / k + c_example))
    """,
    PIECES: """
        def rows():
            while (piece := next_piece()) is not None:
                yield from piece[1][:, None] * piece[0]

        def batches(source):
            while len(batch := [z for _, z in zip(range(k), source)]) == k:
                yield np.array(batch)

        w, mean, T = np.zeros(d), np.zeros(d), 0
        for T, Z in enumerate(batches(rows()), start=1):
            mean = mean + (w - mean) / T
            w = w - w / T + (Z @ w < 1) @ Z / (lam * T * k)
            w = w / max(1, np.sqrt(lam * (w @ w)))
        return w, mean, T
    """,
    ORDER: 'order_of_machines = list("GDFAHC")',
}

RIGHT = {"looped": LOOPED, "other": dedented(OTHER)}


def work(fails, old, new):
    return Mistake(WORK, fails, {old: new})


def step(fails, old, new):
    return Mistake(STEP, fails, {old: new})


def run(fails, old, new):
    return Mistake(RUN, fails, {old: new})


def pieces(fails, old, new):
    return Mistake(PIECES, fails, {old: new})


def out_of_order(fails, letters):
    return Mistake(ORDER, fails, {LOOPED[ORDER]: order(letters)})


MISTAKES = {
    "1-printed-constant": work(
        "p1-steps p1-empty p1-work", "c = 4 * R**2", "c = (lam**0.5 + R) ** 2"
    ),
    "1-lam-for-its-root": work("p1-steps p1-empty p1-work", "lam**0.5 + R", "lam + R"),
    "1-no-logarithm": work("p1-steps p1-empty p1-work", "N * (1 + np.log(N))", "N"),
    "1-logarithm-base-10": work("p1-steps p1-empty p1-work", "np.log(N)", "np.log10(N)"),
    "1-rounds-down": work("p1-steps p1-empty p1-work", "np.ceil", "np.floor"),
    "1-mean-length": work(
        "p1-steps p1-empty p1-work",
        "R2 = max(R2, sum(v**2 for v in values))",
        "R2 += sum(v**2 for v in values) / n",
    ),
    "1-steps-per-batch": work("p1-steps p1-empty p1-work", "N = c /", "N = c / k /"),
    "1-C-for-lam": work(
        "p1-steps p1-empty p1-work", "N = c / (lam * eps)", "N = c / (eps / (lam * n))"
    ),
    "1-n-rows-a-step": work("p1-empty p1-work", "return T, T * k", "return T, T * n"),
    "1-evaluation-is-one-look": work("p1-work", "checks * n,", "checks,"),
    "1-empty-rows-by-reduceat": work(
        "p1-empty",
        "R = R2**0.5",
        "R = np.add.reduceat(data**2, np.minimum(indptr[:-1], len(data) - 1)).max() ** 0.5",
    ),
    "1-last-row-forgotten": work("p1-steps p1-work", "for i in range(n)", "for i in range(n - 1)"),
    "1-only-what-is-not-0": work("p1-work", "len(values))", "np.count_nonzero(values))"),
    "2-first-step-no-hit": step("p2-hit p2-ball p2-work", "t == 1 or ", ""),
    "2-kink-is-a-hit": step("p2-hit", "< lam * (t - 1)", "<= lam * (t - 1)"),
    "2-margin-of-V": step("p2-hit p2-ball", "y * q * dot", "y * dot"),
    "2-label-forgotten": step("p2-hit p2-ball", "y * q * dot", "q * dot"),
    "2-margin-with-t": step("p2-hit p2-ball", "lam * (t - 1)", "lam * t"),
    "2-push-not-divided-by-q": step("p2-hit p2-ball", "push = y / q", "push = y"),
    "2-push-with-step-size": step(
        "p2-hit p2-ball p2-work", "push = y / q", "push = y / (q * lam * t)"
    ),
    "2-norm-without-cross-term": step("p2-hit p2-ball", " + 2 * push * dot", ""),
    "2-norm-not-squared-push": step("p2-hit p2-ball", "push**2 * norm2", "push * norm2"),
    "2-norm-reads-all-again": step(
        "p2-work",
        "add(indices, push * values)",
        "add(indices, push * values)\n    read(indices), read(indices)",
    ),
    "2-adds-zeros": step(
        "p2-work", "if hit:", "if not hit:\n    add(indices, 0 * values)\nif hit:"
    ),
    "2-touches-other-columns": step(
        "p2-work", "old = read(indices)", "old = read(np.arange(max(indices) + 1))[indices]"
    ),
    "2-changes-values": step(
        "p2-hit", "add(indices, push * values)", "values *= push\n    add(indices, values)"
    ),
    "2-q-may-grow": step("p2-ball", "if limit < q", "if True"),
    "2-ball-of-radius-1-over-lam": step("p2-ball", "np.sqrt(lam) * t / np", "t / np"),
    "2-never-projects": step("p2-ball", "if project and", "if False and"),
    "2-always-projects": step("p2-hit", "if project and", "if"),
    "2-projects-0": Mistake(
        STEP,
        "p2-ball",
        {
            " and square > 0": "",
            "np.sqrt(lam) * t / np.sqrt(square)": "t * (lam / float(square)) ** 0.5",
        },
    ),
    "2-does-not-fold": run("p2-fold", "if q < 1e-100", "if False"),
    "2-folds-and-forgets-V": run("p2-fold", "V = q * V", "pass"),
    "2-folds-and-forgets-the-norm": run("p2-fold", "square = sum(V**2)\n", "pass\n"),
    "2-folds-the-norm-once": run("p2-fold", "square = sum(V**2)", "square = q * square"),
    "2-folds-at-every-step": run("p2-run", "if q < 1e-100", "if True"),
    "2-folds-at-every-projection": run("p2-run", "if q < 1e-100", "if q < 1"),
    "2-run-kink-is-a-hit": run("p2-run", "< lam * (t - 1)", "<= lam * (t - 1)"),
    "2-norm-of-all-of-V": run(
        "p2-run", "    if project and", "    square = sum(V**2)\n    if project and"
    ),
    "2-run-is-dense": Mistake(
        RUN,
        "p2-run",
        {
            LOOPED[RUN]: dedented(
                {
                    RUN: """
        w = np.zeros(d)
        for t, i in enumerate(draws, start=1):
            x = np.zeros(d)
            x[indices[indptr[i] : indptr[i + 1]]] = data[indptr[i] : indptr[i + 1]]
            hit = y[i] * (x @ w) < 1
            w = (1 - 1 / t) * w + hit * y[i] * x / (lam * t)
            if project:
                w = w / max(1, np.sqrt(lam) * np.linalg.norm(w))
        return w
    """
                }
            )[RUN]
        },
    ),
    "2-run-without-q": run("p2-run p2-fold", "return q * V", "return V"),
    "2-run-divides-by-T-plus-1": run("p2-run p2-fold", "(lam * T)", "(lam * (T + 1))"),
    "2-run-counts-from-0": run("p2-run p2-fold", "range(1, T + 1)", "range(T)"),
    "2-run-starts-at-draw-1": run("p2-run p2-fold", "draws[t - 1]", "draws[t % T]"),
    "3-changes-gaps": Mistake(
        GAP,
        "p3-work",
        {"for run in gaps": "gaps -= eps\nfor run in gaps", "gap <= eps": "gap <= 0"},
    ),
    "3-place-for-step": Mistake(
        GAP, "p3-work p3-never", {"first = t": "first = list(iterations).index(t)"}
    ),
    "3-strictly-below": Mistake(GAP, "p3-work", {"gap <= eps": "gap < eps"}),
    "3-upper-median": Mistake(
        GAP, "p3-work", {"np.median(firsts)": "sorted(firsts)[len(firsts) // 2]"}
    ),
    "3-mean-for-median": Mistake(GAP, "p3-work p3-never", {"np.median": "np.mean"}),
    "3-last-time": Mistake(GAP, "p3-work p3-never", {"            break\n": ""}),
    "3-never-is-the-end": Mistake(GAP, "p3-never", {"first = np.inf": "first = iterations[-1]"}),
    "3-drops-who-never-gets-there": Mistake(
        GAP, "p3-never", {"firsts.append(first)": "firsts += [first] if first < np.inf else []"}
    ),
    "3-examples-are-steps": Mistake(GAP, "p3-work p3-never", {"steps * k": "steps"}),
    "3-omega-0": Mistake(BATCH, "p3-batch", {"(1 - 1 / k) * omega": "0"}),
    "3-omega-1": Mistake(BATCH, "p3-batch", {"(1 - 1 / k) * omega": "(1 - 1 / k)"}),
    "3-omega-frobenius": Mistake(
        BATCH, "p3-batch", {"max(np.linalg.eigvalsh(X.T @ X))": "np.sum(X**2)"}
    ),
    "3-omega-without-n": Mistake(BATCH, "p3-batch", {"(n * R2)": "R2"}),
    "3-cost-of-a-step-once": Mistake(
        BATCH, "p3-batch", {"(c_step + k * c_example)": "(c_step + c_example)"}
    ),
    "3-nearest-to-the-best-number": Mistake(
        BATCH,
        "p3-batch",
        {
            "return best": "best = (max(0, c_step / c_example * (1 / omega - 1))) ** 0.5\n"
            "return min(sizes, key=lambda k: abs(k - best))"
        },
    ),
    "3-stops-where-it-rises": Mistake(
        BATCH,
        "p3-batch",
        {
            "    if cost < least:\n        best": "    if cost >= least:\n        break\n"
            "    if cost < least:\n        best"
        },
    ),
    "3-fewest-steps": Mistake(
        BATCH, "p3-batch", {"cost = steps * (c_step + k * c_example)": "cost = steps"}
    ),
    "3-place-for-size": Mistake(
        BATCH, "p3-batch", {"best, least = k, cost": "best, least = sizes.index(k), cost"}
    ),
    "4-starts-again": pieces(
        "p4-pieces",
        "    X, y = piece\n",
        "    X, y = piece\n    w, total, t = np.zeros(d), np.zeros(d), 0\n",
    ),
    "4-counts-t-again": pieces("p4-pieces", "    X, y = piece\n", "    X, y = piece\n    t = 0\n"),
    "4-drops-the-rest-of-a-piece": pieces(
        "p4-pieces", "    X, y = piece\n", "    X, y = piece\n    batch = []\n"
    ),
    "4-first-piece-only": pieces(
        "p4-pieces p4-once", "piece = next_piece()", "piece = next_piece() if t == 0 else None"
    ),
    "4-empty-piece-is-the-end": pieces(
        "p4-pieces p4-once", "if piece is None", "if piece is None or len(piece[1]) == 0"
    ),
    "4-holds-all": Mistake(
        PIECES,
        "p4-once",
        {
            "batch = []\nwhile": "batch, held = [], []\nwhile",
            "X, y = piece": "held.append(piece)\n    X, y = piece",
        },
    ),
    "4-reads-all-first": Mistake(
        PIECES,
        "p4-once",
        {
            "while True:\n    piece = next_piece()\n": "held = list(iter(next_piece, None))\n"
            "while True:\n    piece = held.pop(0) if held else None\n"
        },
    ),
    "4-asks-once-more": pieces(
        "p4-once", "        break\n", "        next_piece()\n        break\n"
    ),
    "4-average-with-the-last": pieces(
        "p4-whole p4-pieces", "total / max(t, 1)", "(total + w) / (t + 1)"
    ),
    "4-average-without-the-first": pieces(
        "p4-whole p4-pieces", "total / max(t, 1)", "(total + w) / max(t, 1)"
    ),
    "4-average-of-nothing": pieces("p4-pieces", "max(t, 1)", "t"),
    "4-no-division-by-k": pieces("p4-whole p4-pieces", "(lam * t * k)", "(lam * t)"),
    "4-divides-by-hits": pieces(
        "p4-whole p4-pieces", "(lam * t * k)", "(lam * t * max(1, sum(z @ w < 1 for z in batch)))"
    ),
    "4-kink-pushes": pieces("p4-whole p4-pieces", "w @ z < 1", "w @ z <= 1"),
    "4-never-projects": pieces("p4-whole p4-pieces", "if norm >", "if False and norm >"),
    "4-t-from-0": pieces(
        "p4-whole p4-pieces",
        "(1 - 1 / t) * w + push / (lam * t * k)",
        "(1 - 1 / (t + 1)) * w + push / (lam * (t + 1) * k)",
    ),
    "5-same-bias-in-products": out_of_order("p5-lines", "GDHBFC"),
    "5-no-bias": out_of_order("p5-lines p5-order", "EGDHAC"),
    "5-factor-of-the-sum": out_of_order("p5-lines", "GDHAIC"),
    "5-all-lines": out_of_order("p5-lines p5-order", "ABCDEFGHI"),
    "5-no-cross-term": out_of_order("p5-lines p5-order", "GDAFC"),
    "5-square-before-split": out_of_order("p5-order", "DGHAFC"),
    "5-terms-before-square": out_of_order("p5-order", "GHDAFC"),
    "5-independence-first": out_of_order("p5-order", "AGDHFC"),
    "5-sum-before-its-terms": out_of_order("p5-order", "GDHACF"),
    "5-a-word": Mistake(ORDER, "p5-lines p5-order", {"list(": "str("}, "other"),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["2-norm-without-cross-term", "4-drops-the-rest-of-a-piece"]
