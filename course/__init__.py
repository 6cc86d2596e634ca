"""The course: problem sets in nbgrader's format, and what grades them."""
