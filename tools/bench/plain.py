"""A course that knows nothing of us: two notebooks with plain asserts, graded by stock nbgrader and by ours."""

from pathlib import Path
from textwrap import dedent

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook

from autograder.model.course import Course
from tools.bench.courses import call

ASSIGNMENT = "ps1"
CONFIG = "c = get_config()\nc.CourseDirectory.course_id = 'plain'\n"
IMPORTS = "import random\nimport unittest\n\nimport numpy as np"
#: Notebook -> exercises: name, right answer, wrong answer, visible tests, hidden tests.
NOTEBOOKS = {
    "1_numbers": [
        (
            "squares",
            "def squares(n):\n    if n < 1:\n        raise ValueError('n must be 1 or more')\n    return [i ** 2 for i in range(1, n + 1)]",
            "def squares(n):\n    return [i ** 2 for i in range(n)]",
            "assert squares(1) == [1]\nassert squares(3) == [1, 4, 9]",
            "try:\n    squares(0)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('did not raise')",
        ),
        (
            "mean",
            "def mean(xs):\n    return sum(xs) / len(xs)",
            "def mean(xs):\n    return sum(xs)",
            "assert mean([1, 2, 3]) == 2",
            "for n in range(1, 20):\n    assert abs(mean(range(n)) - (n - 1) / 2) < 1e-12",
        ),
        (
            "dice",
            "def dice(n):\n    return [random.randint(1, 6) for _ in range(n)]",
            "def dice(n):\n    return [0] * n",
            "rolls = dice(50)\nassert len(rolls) == 50",
            "assert set(rolls) <= {1, 2, 3, 4, 5, 6}\nrandom.seed(3)\nfirst = dice(5)\nrandom.seed(3)\nassert dice(5) == first",
        ),
        (
            "account",
            "class Account:\n    def __init__(self):\n        self.balance = 0\n\n    def deposit(self, amount):\n        self.balance += amount",
            "class Account:\n    balance = 0\n\n    def deposit(self, amount):\n        pass",
            "account = Account()\nassert account.balance == 0",
            "account.deposit(5)\naccount.deposit(7)\nassert account.balance == 12",
        ),
    ],
    "2_arrays": [
        (
            "scale",
            "def scale(x):\n    return (x - x.mean(0)) / x.std(0)",
            "def scale(x):\n    return x - x.mean()",
            "x = np.arange(12.0).reshape(4, 3)\nassert scale(x).shape == (4, 3)",
            "np.testing.assert_allclose(scale(x).mean(0), 0, atol=1e-12)\nnp.testing.assert_allclose(scale(x).std(0), 1)",
        ),
        (
            "distances",
            "def distances(a, b):\n    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))",
            "def distances(a, b):\n    return ((a[:, None] - b[None]) ** 2).sum(-1)",
            "a, b = np.eye(3), np.zeros((2, 3))\ncase = unittest.TestCase()\ncase.assertEqual(distances(a, b).shape, (3, 2))",
            "c = 2 * np.eye(3)\nnp.testing.assert_allclose(distances(c, b), 2)",
        ),
        (
            "words",
            "def words(text):\n    counts = {}\n    for word in text.lower().split():\n        counts[word] = counts.get(word, 0) + 1\n    return counts",
            "def words(text):\n    return {word: 1 for word in text.split()}",
            "assert words('a b') == {'a': 1, 'b': 1}",
            "assert words('To be or not to be') == {'to': 2, 'be': 2, 'or': 1, 'not': 1}",
        ),
        (
            "primes",
            "def primes(n):\n    return [p for p in range(2, n) if all(p % d for d in range(2, p))]",
            "def primes(n):\n    return [p for p in range(2, n) if p % 2]",
            "assert primes(8) == [2, 3, 5, 7]",
            "assert len(primes(100)) == 25",
        ),
    ],
}  # fmt: skip


def make_plain_course(root: Path, submissions: int, *, calibrated: bool = False, copies: int = 1) -> Course:
    """The course, released. Every second submission is right, the others wrong in every second exercise.

    copies: so often it has each notebook. calibrated: by ``autograder release``, which finds out where each test can be
    judged; else by nbgrader, and the first ``autograder grade`` finds that out.
    """
    source = root / "source" / ASSIGNMENT
    source.mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    notebooks = {f"{name}{'_again' * copy}": one for copy in range(copies) for name, one in NOTEBOOKS.items()}
    for name, exercises in notebooks.items():
        nbformat.write(_notebook(name, exercises), source / f"{name}.ipynb")
    call(root, *(("autograder.cli", "release") if calibrated else ("nbgrader", "generate_assignment")), ASSIGNMENT)
    for number in range(submissions):
        folder = root / "submitted" / f"student{number:04d}" / ASSIGNMENT
        folder.mkdir(parents=True)
        for name, exercises in notebooks.items():
            released = nbformat.read(root / "release" / ASSIGNMENT / f"{name}.ipynb", as_version=4)
            answers = {f"{one[0]}_answer": one[2] if number % 2 and at % 2 else one[1]
                       for at, one in enumerate(exercises)}  # fmt: skip
            for cell in released.cells:
                cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
            nbformat.write(released, folder / f"{name}.ipynb")
    return Course(root)


def _notebook(name: str, exercises: list[tuple[str, str, str, str, str]]) -> NotebookNode:
    cells = [new_markdown_cell(f"# {name}", id="title"), new_code_cell(IMPORTS, id="imports")]
    for exercise, right, _, visible, hidden in exercises:
        cells.append(cell(f"### BEGIN SOLUTION\n{right}\n### END SOLUTION", f"{exercise}_answer", solution=True))
        tests = f"{visible}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
        cells.append(cell(tests, exercise, grade=True, locked=True, points=2))
    made = new_notebook(cells=cells)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def cell(text: str, grade_id: str, **marks: object) -> NotebookNode:
    made = new_code_cell(dedent(text), id=grade_id.replace("_", "-"))
    base = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }
    made.metadata["nbgrader"] = base | marks
    return made


def grades(course: Course) -> dict[tuple[str, str], float | None]:
    """(student, graded cell) -> automatic points."""
    with Gradebook(course.db_url) as gradebook:
        return {
            (submission.student.id, grade.name): grade.auto_score
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def require_right(course: Course, submissions: int) -> None:
    """Raise SystemExit unless everybody has the points that were meant: only right grades are worth timing."""
    meant = {
        (f"student{number:04d}", exercise[0]): 0.0 if number % 2 and at % 2 else 2.0
        for number in range(submissions)
        for exercises in NOTEBOOKS.values()
        for at, exercise in enumerate(exercises)
    }
    found = grades(course)
    if found != meant:
        wrong = sorted(one for one in meant.keys() | found.keys() if found.get(one) != meant.get(one))
        raise SystemExit(f"{course.root}: {len(wrong)} grades are not what was meant, the first: {wrong[0]}")
