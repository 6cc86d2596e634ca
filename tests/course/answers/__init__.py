"""For each problem set, right answers and plausible wrong ones, in a module of its name.

RIGHT : dict of dicts of str
    Name -> answer cell -> what stands there instead of the course's own solution, at least two of
    them for a set: with the course's own, each problem has three.
MISTAKES : dict of `Mistake`
    Name, which begins with the number of its problem -> a wrong answer; at least eight a problem.
SUBMITTED : list of str
    The mistakes that nbgrader itself grades; all are graded in the tests' process.
"""
