"""Answers to the assignment ``ps1`` of nbgrader's quickstart course."""

from __future__ import annotations

from pathlib import Path

from tests.plain.notebooks import hand_in

RIGHT = {
    "squares": """
        def squares(n):
            if n < 1:
                raise ValueError("n must be positive")
            return [number ** 2 for number in range(1, n + 1)]
    """,
    "sum_of_squares": "def sum_of_squares(n):\n    return sum(squares(n))",
    "sum_of_squares_equation": r"$\sum_{i=1}^n i^2$",
    "sum_of_squares_application": "def pyramid(n):\n    return sum_of_squares(n)",
    "part-a": "Fibonacci's numbers, by recursion.",
    "part-b": "Numbers below zero: it never ends.",
}
STUDENTS: dict[str, dict[str, str]] = {
    "ada": RIGHT,
    "bob": {  # wrong, and the sum does not call squares
        "squares": "def squares(n):\n    return [number * 2 for number in range(n)]",
        "sum_of_squares": "def sum_of_squares(n):\n    return 385",
    },
    "cyd": RIGHT | {"squares": "def squares(n):\n    return [i * i for i in range(1, n + 1)]"},  # nothing is raised
    "dan": {},  # untouched
    "eve": RIGHT | {"sum_of_squares": "def sum_of_squares(n):\n    import os\n    os._exit(1)"},
}


def hand_in_all(root: Path) -> None:
    for student, texts in STUDENTS.items():
        hand_in(root, student, "ps1", texts)
        if student != "ada":  # stock nbgrader takes seconds for each notebook
            (root / "submitted" / student / "ps1" / "problem2.ipynb").unlink()
