"""The concept inventory before and after the course: what was learned, question by question."""

from dataclasses import dataclass

from course.items import handed_in


@dataclass(frozen=True)
class Gain:
    """A question's shares of right answers, among the students who answered both times."""

    question: str
    before: float
    after: float

    @property
    def normalised(self):
        """Return the share of what could be gained that was, or None where all knew it before."""
        return None if self.before == 1 else (self.after - self.before) / (1 - self.before)


def shares(outcomes):
    """Return the share of each question's points that each student got: by student, by cell.

    Parameters
    ----------
    outcomes : list of Outcome
        Of one set; students who handed in nothing are left out.
    """
    points = {}
    for one in handed_in(outcomes):
        points.setdefault(one.student, {})[one.cell] = one.points / one.max_points
    return points


def gains(before, after):
    """Return a `Gain` for each question, a last one for all, and the students who count.

    Parameters
    ----------
    before, after : dict of dict
        By student, then by question: the share of its points that the student got.
    """
    both = sorted(set(before) & set(after))
    if not both:
        return [], both
    questions = list(dict.fromkeys(q for student in both for q in after[student]))

    def share(answers, wanted):
        right = [answers[student].get(q, 0.0) for student in both for q in wanted]
        return sum(right) / len(right)

    rows = [Gain(q, share(before, [q]), share(after, [q])) for q in questions]
    return [*rows, Gain("all", share(before, questions), share(after, questions))], both
