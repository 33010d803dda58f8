"""An assignment of two plain tests, the first of ``square``, the second of ``total``."""

from __future__ import annotations

from tests.plain.tiny import assignment, cell, solution, test

HELPERS = "import os\nimport numpy as np\ndef close(a, b):\n    assert abs(a - b) < 1e-9, 'not close'"
SQUARE = solution("def square(x):\n    return x * x", "square_answer")
SQUARED = test(
    "assert square(2) == 4\nprint('seen')\n### BEGIN HIDDEN TESTS\nprint('secret')\nclose(square(3), 9)\n"
    "assert square(5) == 25, 'five'\n### END HIDDEN TESTS",
    "square",
    2,
)


TOTAL = solution("def total(xs):\n    return sum(xs)", "total_answer")
TOTALLED = test("score = 0\nif total([1, 2]) == 3: score += 1\nif total([]) == 0: score += 1\nscore", "total", 2)
OPENED = assignment(cell(HELPERS), SQUARE, SQUARED, TOTAL, TOTALLED)
