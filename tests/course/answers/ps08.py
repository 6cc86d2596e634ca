"""Problem set 8: right answers beside the course's own, and plausible wrong ones."""

from tests.course.sets import Mistake, dedented

BASELINE, PASSES, VERDICT = "ps08-p1-answer", "ps08-p2-passes-answer", "ps08-p2-verdict-answer"
MIRROR, ADAGRAD, RUN = "ps08-p3-mirror-answer", "ps08-p3-adagrad-answer", "ps08-p3-run-answer"
ORDER = "ps08-p4-order-answer"

# A second right answer to everything: loops, no function calls another.
LOOPED = {
    BASELINE: """
        m = len(y_test)
        right = sum(1 for x, label in zip(X_test, y_test, strict=True) if label * np.dot(w, x) > 0)
        positive = sum(1 for label in y if label > 0)
        constant = 1 if 2 * positive >= len(y) else -1
        same = sum(1 for label in y_test if label == constant)
        return right / m, same / m, right > same
    """,
    PASSES: """
        needs = []
        for run in objective:
            need = np.inf
            for step, value in zip(steps, run):
                if value <= target:
                    need = step * batch_size / n
                    break
            needs.append(need)
        needs.sort()
        return needs[len(needs) // 2]
    """,
    VERDICT: """
        loss = train_wrong = test_wrong = 0
        for x, label in zip(X, y):
            margin = label * np.dot(w, x)
            loss += max(0, 1 - margin)
            train_wrong += margin <= 0
        for x, label in zip(X_test, y_test):
            test_wrong += label * np.dot(w, x) <= 0
        if lam * np.dot(w, w) / 2 + loss / len(y) - lower > eps:
            return "not finished"
        if train_wrong >= min(sum(y > 0), sum(y < 0)):
            return "useless"
        if test_wrong / len(y_test) - train_wrong / len(y) > delta:
            return "overfitted"
        return "fine"
    """,
    MIRROR: """
        d = len(total)
        if geometry == "euclid":
            w = -eta * total
            length = np.linalg.norm(w)
            if length > radius:
                w = radius * w / length
            return w
        largest = eta * radius * max(abs(total))
        plus, minus = np.zeros(d), np.zeros(d)
        for j in range(d):
            plus[j] = np.exp(-eta * radius * total[j] - largest)
            minus[j] = np.exp(eta * radius * total[j] - largest)
        return radius * (plus - minus) / (plus.sum() + minus.sum())
    """,
    ADAGRAD: """
        new_w, new_Q = w.copy(), Q.copy()
        for j in range(len(w)):
            new_Q[j] = Q[j] + g[j] ** 2
            if new_Q[j] > 0:
                new_w[j] = w[j] - eta * g[j] / new_Q[j] ** 0.5
        return new_w, new_Q
    """,
    RUN: """
        T, d = len(draws), X.shape[1]
        R = max(np.linalg.norm(x) for x in X)
        largest = np.max(np.abs(X))
        if geometry == "euclid":
            eta = radius / (lam * radius + R) / np.sqrt(T)
        else:
            eta = np.sqrt(2 * np.log(2 * d) / T) / (radius * (lam * radius + largest))
        total = np.zeros(d)
        iterates = []
        w = np.zeros(d)
        for i in draws:
            iterates.append(w)
            g = lam * w
            if y[i] * np.dot(X[i], w) < 1:
                g = g - y[i] * X[i]
            total = total + g
            w = mirror_step(total, eta, radius, geometry)
        return sum(iterates) / T
    """,
    ORDER: """
        order_of_laziness = ["E", "B", "F", "H", "I", "D", "A"]
    """,
}
LOOPED = dedented(LOOPED)

# Right values, with all that must not cost a point: prints, warnings, NumPy's 0/0, own helpers.
NOISY = dedented(
    {
        BASELINE: """
            import warnings
            warnings.warn("slow")
            scores = X_test @ w
            accuracy = np.count_nonzero(np.sign(scores) == y_test) / len(y_test)
            commoner = 1 if np.mean(y) >= 0 else -1
            baseline = np.count_nonzero(y_test == commoner) / y_test.size
            print("accuracy", accuracy)
            return accuracy, baseline, np.greater(accuracy, baseline)
        """,
        PASSES: """
            def passes(run):
                print("run", run)
                places = np.flatnonzero(run <= target)
                return steps[places[0]] / n * batch_size if len(places) else float("inf")

            return np.median([passes(run) for run in objective])
        """,
        VERDICT: """
            def error(X, y):
                return 1 - np.count_nonzero(y * X.dot(w) > 0) / len(y)

            P = 0.5 * lam * np.linalg.norm(w) ** 2 + np.clip(1 - y * X.dot(w), 0, None).mean()
            constants = [np.mean(y != c) for c in (-1, 1)]
            print(P, constants)
            if P - lower > eps:
                return "not finished"
            if error(X, y) >= min(constants):
                return "useless"
            return "fine" if error(X_test, y_test) - error(X, y) <= delta else "overfitted"
        """,
        MIRROR: """
            if geometry == "euclid":
                w = -eta * total
                with_warning = radius / np.linalg.norm(w)  # radius/0 warns
                return np.where(np.linalg.norm(w) > radius, w * min(with_warning, 1), w)
            a = eta * radius * total
            top = np.max(np.abs(a))
            print("largest exponent", top)
            half_difference = -np.sign(a) * -np.expm1(-2 * np.abs(a)) * np.exp(np.abs(a) - top)
            whole = np.exp(a - top) + np.exp(-a - top)
            return list(radius * half_difference / np.sum(whole))
        """,
        ADAGRAD: """
            now = Q + np.square(g)
            move = g / np.sqrt(now)  # 0/0 warns
            print(move)
            return w - eta * np.nan_to_num(move), now
        """,
        RUN: """
            def subgradient(w, i):
                hit = 1.0 if y[i] * X[i].dot(w) < 1 else 0.0
                return lam * w - hit * y[i] * X[i]

            T = draws.size
            bound = np.sqrt((X**2).sum(axis=1)).max() if geometry == "euclid" else abs(X).max()
            G = bound + lam * radius
            eta = radius / G * T**-0.5
            if geometry == "entropy":
                eta = (2 * np.log(2 * X.shape[1])) ** 0.5 / (G * radius) * T**-0.5
            w = total = mean = np.zeros(X.shape[1])
            for t, i in enumerate(draws, 1):
                print(t, i)
                mean = mean + (w - mean) / t
                total = total + subgradient(w, i)
                w = np.array(mirror_step(total, eta, radius, geometry))
            return mean
        """,
        ORDER: """
            order_of_laziness = list("BFHEIDA")
            print(order_of_laziness)
        """,
    }
)

RIGHT = {"looped": LOOPED, "noisy": NOISY}

EXCESS = "lam * np.dot(w, w) / 2 + loss / len(y) - lower"
MISTAKES = {
    "1-test-labels-choose": Mistake(
        BASELINE,
        "p1-shares p1-verdict",
        {
            "for label in y if label > 0": "for label in y_test if label > 0",
            "len(y) else": "len(y_test) else",
        },
    ),
    "1-share-in-training": Mistake(
        BASELINE, "p1-shares", {"same / m": "max(positive, len(y) - positive) / len(y)"}
    ),
    "1-always-plus": Mistake(
        BASELINE, "p1-shares p1-verdict", {"1 if 2 * positive >= len(y) else -1": "1"}
    ),
    "1-tie-goes-to-minus": Mistake(BASELINE, "p1-shares", {"2 * positive >=": "2 * positive >"}),
    "1-score-0-is-right": Mistake(
        BASELINE, "p1-shares p1-verdict", {"np.dot(w, x) > 0)": "np.dot(w, x) >= 0)"}
    ),
    "1-margin-1-is-right": Mistake(
        BASELINE, "p1-shares p1-verdict", {"np.dot(w, x) > 0)": "np.dot(w, x) > 1)"}
    ),
    "1-as-good-is-better": Mistake(BASELINE, "p1-verdict", {"right > same": "right >= same"}),
    "1-counts-for-shares": Mistake(BASELINE, "p1-shares", {"right / m, same / m": "right, same"}),
    "1-errors-for-accuracies": Mistake(
        BASELINE, "p1-shares p1-verdict", {"label * np.dot(w, x) > 0": "label * np.dot(w, x) <= 0"}
    ),
    "1-no-verdict": Mistake(BASELINE, "p1-shares p1-verdict", {", right > same": ""}),
    "2-less-than-target": Mistake(PASSES, "p2-passes", {"value <= target": "value < target"}),
    "2-last-crossing": Mistake(PASSES, "p2-passes", {"\n            break": ""}),
    "2-place-for-step": Mistake(PASSES, "p2-passes", {"zip(steps, run)": "enumerate(run)"}),
    "2-never-is-0": Mistake(PASSES, "p2-passes", {"need = np.inf": "need = 0.0"}),
    "2-batch-forgotten": Mistake(PASSES, "p2-passes", {"step * batch_size / n": "step / n"}),
    "2-divides-by-batch": Mistake(
        PASSES, "p2-passes", {"step * batch_size / n": "step / batch_size * n"}
    ),
    "2-mean-of-seeds": Mistake(
        PASSES, "p2-passes", {"return needs[len(needs) // 2]": "return np.mean(needs)"}
    ),
    "2-not-sorted": Mistake(PASSES, "p2-passes", {"needs.sort()\n": ""}),
    "2-median-curve": Mistake(
        PASSES, "p2-passes", {"in objective:": "in [np.median(objective, axis=0)]:"}
    ),
    "2-drops-those-that-never": Mistake(
        PASSES,
        "p2-passes",
        {
            "needs.append(need)": "needs += [need] if need < np.inf else []",
            "needs.sort()": "needs = sorted(needs) or [np.inf]",
        },
    ),
    "2-errors-first": Mistake(
        VERDICT,
        "p2-finished",
        {
            f'if {EXCESS} > eps:\n    return "not finished"\n': "",
            'return "fine"': f'return "not finished" if {EXCESS} > eps else "fine"',
        },
    ),
    "2-no-lower-bound": Mistake(VERDICT, "p2-finished p2-errors", {" - lower > eps": " > eps"}),
    "2-no-regulariser": Mistake(VERDICT, "p2-finished", {"lam * np.dot(w, w) / 2 + ": ""}),
    "2-regulariser-not-halved": Mistake(VERDICT, "p2-finished p2-errors", {"w) / 2": "w)"}),
    "2-sum-of-losses": Mistake(
        VERDICT, "p2-finished p2-errors", {"loss / len(y) - lower": "loss - lower"}
    ),
    "2-test-is-useless": Mistake(
        VERDICT, "p2-errors", {"if train_wrong >= min": "if test_wrong >= min"}
    ),
    "2-as-bad-is-not-useless": Mistake(
        VERDICT, "p2-errors", {"train_wrong >= min": "train_wrong > min"}
    ),
    "2-half-is-useless": Mistake(
        VERDICT, "p2-errors", {"min(sum(y > 0), sum(y < 0))": "len(y) / 2"}
    ),
    "2-test-error-alone": Mistake(
        VERDICT, "p2-errors", {" - train_wrong / len(y) > delta": " > delta"}
    ),
    "2-at-least-delta": Mistake(VERDICT, "p2-errors", {"len(y) > delta": "len(y) >= delta"}),
    "2-counts-of-errors": Mistake(
        VERDICT,
        "p2-errors",
        {"test_wrong / len(y_test) - train_wrong / len(y)": "(test_wrong - train_wrong) / len(y)"},
    ),
    "2-score-0-is-right": Mistake(VERDICT, "p2-errors", {"margin <= 0": "margin < 0"}),
    "2-constants-of-the-test-labels": Mistake(
        VERDICT,
        "p2-errors",
        {"min(sum(y > 0), sum(y < 0))": "len(y) * min(np.mean(y_test > 0), np.mean(y_test < 0))"},
    ),
    "2-test-score-0-is-right": Mistake(
        VERDICT,
        "p2-errors",
        {"test_wrong += label * np.dot(w, x) <= 0": "test_wrong += label * np.dot(w, x) < 0"},
    ),
    "2-test-score-0-is-label-minus-1": Mistake(
        VERDICT,
        "p2-errors",
        {
            "test_wrong += label * np.dot(w, x) <= 0": "said = 1 if np.dot(w, x) > 0 else -1\n"
            "    test_wrong += label != said"
        },
    ),
    "2-score-0-is-label-minus-1": Mistake(
        VERDICT,
        "p2-errors",
        {"train_wrong += margin <= 0": "train_wrong += label != (1 if np.dot(w, x) > 0 else -1)"},
    ),
    "2-overfitted-before-useless": Mistake(
        VERDICT,
        "p2-errors",
        {
            'if train_wrong >= min(sum(y > 0), sum(y < 0)):\n    return "useless"\n': "",
            'return "fine"': "bad = train_wrong >= min(sum(y > 0), sum(y < 0))\n"
            'return "useless" if bad else "fine"',
        },
    ),
    "3-wrong-sign": Mistake(MIRROR, "p3-euclid", {"w = -eta": "w = eta"}),
    "3-never-projects": Mistake(MIRROR, "p3-euclid", {"if length > radius:": "if False:"}),
    "3-divides-by-0": Mistake(
        MIRROR,
        "p3-euclid",
        {
            "    if length > radius:\n        w = radius * w / length\n": "",
            "return w": "return w * (min(length, radius) / length)",
        },
    ),
    "3-entropy-sign": Mistake(MIRROR, "p3-entropy", {"(plus - minus)": "(minus - plus)"}),
    "3-overflow": Mistake(
        MIRROR, "p3-entropy", {"largest = eta * radius * max(abs(total))": "largest = 0"}
    ),
    "3-largest-without-size": Mistake(MIRROR, "p3-entropy", {"max(abs(total))": "max(total)"}),
    "3-no-radius-in-exponent": Mistake(
        MIRROR,
        "p3-entropy",
        {
            "-eta * radius * total[j]": "-eta * total[j]",
            "(eta * radius * total[j]": "(eta * total[j]",
            "largest = eta * radius": "largest = eta",
        },
    ),
    "3-no-radius-in-front": Mistake(
        MIRROR, "p3-entropy", {"return radius * (plus - minus)": "return (plus - minus)"}
    ),
    "3-each-pair-sums-to-1": Mistake(
        MIRROR, "p3-entropy", {"(plus.sum() + minus.sum())": "(plus + minus)"}
    ),
    "3-each-half-sums-to-1": Mistake(
        MIRROR,
        "p3-entropy",
        {
            "(plus - minus) / (plus.sum() + minus.sum())": "(plus / plus.sum() "
            "- minus / minus.sum())"
        },
    ),
    "3-Q-without-g": Mistake(
        ADAGRAD,
        "p3-adagrad",
        {"if new_Q[j] > 0": "if Q[j] > 0", "/ new_Q[j] ** 0.5": "/ Q[j] ** 0.5"},
    ),
    "3-no-root": Mistake(ADAGRAD, "p3-adagrad", {" ** 0.5": ""}),
    "3-epsilon-under-the-root": Mistake(
        ADAGRAD, "p3-adagrad", {"new_Q[j] ** 0.5": "(new_Q[j] + 1e-8) ** 0.5"}
    ),
    "3-zero-by-zero": Mistake(
        ADAGRAD,
        "p3-adagrad",
        {"if new_Q[j] > 0": "if True", "eta * g[j] / new": "eta * g[j] / np.float64(1) / new"},
    ),
    "3-one-step-for-all": Mistake(
        ADAGRAD, "p3-adagrad", {"/ new_Q[j] ** 0.5": "/ (sum(Q) + sum(g**2)) ** 0.5"}
    ),
    "3-changes-Q": Mistake(ADAGRAD, "p3-adagrad", {"Q.copy()": "Q"}),
    "3-returns-w-alone": Mistake(ADAGRAD, "p3-adagrad", {"return new_w, new_Q": "return new_w"}),
    "3-average-with-the-last": Mistake(
        RUN, "p3-run-euclid p3-run-entropy", {"sum(iterates) / T": "(sum(iterates) + w) / (T + 1)"}
    ),
    "3-not-lazy": Mistake(
        RUN,
        "p3-run-euclid p3-run-entropy",
        {"mirror_step(total, eta,": "mirror_step(g - w / eta, eta,"},
    ),
    "3-no-regulariser": Mistake(RUN, "p3-run-euclid p3-run-entropy", {"g = lam * w": "g = 0 * w"}),
    "3-margin-of-the-unprojected": Mistake(
        RUN, "p3-run-euclid p3-run-entropy", {"np.dot(X[i], w) <": "np.dot(X[i], -eta * total) <"}
    ),
    "3-margin-without-the-label": Mistake(
        RUN, "p3-run-euclid p3-run-entropy", {"y[i] * np.dot(X[i], w) <": "np.dot(X[i], w) <"}
    ),
    "3-kink-counts": Mistake(RUN, "p3-run-euclid", {"w) < 1": "w) <= 1"}),
    "3-bound-without-lam": Mistake(RUN, "p3-run-euclid p3-run-entropy", {"lam * radius + ": ""}),
    "3-drawn-rows-only": Mistake(RUN, "p3-run-euclid", {"for x in X)": "for x in X[draws])"}),
    "3-step-without-T": Mistake(RUN, "p3-run-euclid", {" / np.sqrt(T)": ""}),
    "3-signed-largest-entry": Mistake(RUN, "p3-run-entropy", {"np.max(np.abs(X))": "np.max(X)"}),
    "3-ln-d": Mistake(RUN, "p3-run-entropy", {"np.log(2 * d)": "np.log(d)"}),
    "3-no-factor-2": Mistake(RUN, "p3-run-entropy", {"np.sqrt(2 * np.log": "np.sqrt(np.log"}),
    "3-norm-for-entry": Mistake(
        RUN, "p3-run-entropy", {"largest = np.max(np.abs(X))": "largest = R"}
    ),
    "4-minimiser-above": Mistake(ORDER, "p4-lines", {'"E"': '"C"'}),
    "4-no-half": Mistake(ORDER, "p4-lines", {'"F"': '"G"'}),
    "4-inserts-too-early": Mistake(ORDER, "p4-order", {'"F", "H"': '"H", "F"'}),
    "4-definition-after-use": Mistake(ORDER, "p4-order", {'"B", "F", "H"': '"F", "H", "B"'}),
    "4-sums-first": Mistake(ORDER, "p4-order", {'"I", "D"': '"D", "I"'}),
    "4-bound-before-insertion": Mistake(ORDER, "p4-order", {'"H", "I"': '"I", "H"'}),
    "4-claim-before-its-half": Mistake(ORDER, "p4-order", {'["E", ': "[", '"A"]': '"A", "E"]'}),
    "4-as-printed": Mistake(
        ORDER, "p4-order", {'["E", "B", "F", "H", "I", "D", "A"]': 'list("ABDEFHI")'}
    ),
    "4-one-line-short": Mistake(ORDER, "p4-lines p4-order", {'"H", ': ""}),
    "4-a-word": Mistake(
        ORDER, "p4-lines p4-order", {'["E", "B", "F", "H", "I", "D", "A"]': '"EBFHIDA"'}
    ),
}
# One for each problem goes through nbgrader itself; all are run in-process.
SUBMITTED = ["2-never-is-0", "3-overflow"]
