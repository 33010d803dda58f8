"""An author's first hour in a course of ``init``: exercises of one file each, and what every slip is answered with."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from autograder import cli
from autograder.authoring.draws import watch
from autograder.model.course import Course
from autograder.references import loader

pytestmark = pytest.mark.slow

SPEEDS = '''"""Mean energy of each particle. Expected: the standard library."""

import math

import numpy as np

from autograder.exercise import Case, Exercise, Mistake


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator.normal(0, 1, size)) for size in ((3, 5), (4, 2))]


def _case(speeds: np.ndarray) -> Case:
    energies = [math.fsum(v * v / 2 for v in row) / len(row) for row in speeds.tolist()]
    return Case(inputs={"speeds": speeds}, expected={"mean_energy": energies})


MISTAKES = [
    Mistake("half", "The half is missing.", "E = m v² / 2.", ("/ 2", "")),
    Mistake("axis", "One number for each time, not for each particle.", "Which axis?", ("axis=1", "axis=0")),
]
RIGHT = {"the half last": "def mean_energy(speeds):\\n    return (speeds**2).mean(axis=1) / 2"}

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, given=("speeds",), shows=("one mean for each particle",),
)
'''
WORDS = '''"""How often each word of a sentence stands in it. Expected: the standard library's Counter."""

from collections import Counter

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

WORDS = ["heat", "work", "flow", "cold"]


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(generator.choice(WORDS, size).tolist(), least) for size, least in ((9, 2), (12, 3))]


def _case(words: list[str], least: int) -> Case:
    counted = {word: number for word, number in Counter(words).items() if number >= least}
    return Case(inputs={"words": words, "least": least}, expected={"frequent": counted})


MISTAKES = [
    Mistake("all", "Rare words are among them.", "least is the smallest count.", ("if words.count(word) >= least", "")),
    Mistake("above", "A word that is there just least times is missing.", ">= or >?", (">= least", "> least")),
]
RIGHT = {"a Counter": "from collections import Counter\\n\\n\\ndef frequent(words, least):\\n"
                      "    return {word: n for word, n in Counter(words).items() if n >= least}"}

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, given=("words", "least"), shows=("frequent words alone, with their counts",),
)
'''
PLOT = '''"""Speeds over time, drawn. Expected: what is handed in, and the words that the text asks for."""

import numpy as np

from autograder.exercise import Case, Exercise, Mistake


def cases(generator: np.random.Generator) -> list[Case]:
    return [_case(np.linspace(0, 2, number), generator.normal(5, 1, number)) for number in (6, 9)]


def _case(times: np.ndarray, speeds: np.ndarray) -> Case:
    words = {"xlabel": "time in s", "ylabel": "speed in m/s"}
    return Case(inputs={"times": times, "speeds": speeds}, expected={"x": times, "y": speeds, **words})


MISTAKES = [
    Mistake("swapped", "Times and speeds are swapped.", "Which comes first?",
            ("axes.plot(times, speeds)", "axes.plot(speeds, times)")),
    Mistake("unnamed", "The axis of time has no name.", "set_xlabel.", ('axes.set_xlabel("time in s")', "pass")),
]
RIGHT = {"a figure": "import matplotlib.pyplot as plt\\n\\n\\ndef speed_plot(times, speeds):\\n"
                     "    plt.plot(times, speeds, 'o-')\\n    plt.xlabel('time in s')\\n"
                     "    plt.ylabel('speed in m/s')\\n    return plt.gcf()"}

EXERCISE = Exercise(
    cases, mistakes=MISTAKES, right=RIGHT, given=("times", "speeds"), shows=("a curve", "both axes have names"),
)
'''
SOLUTIONS = {
    "mean_energy": "def mean_energy(speeds):\n"
    '    """Speeds (particles, times) -> mean energy of each particle of mass 1: (particles,)"""\n'
    "    ### BEGIN SOLUTION\n    return (speeds**2 / 2).mean(axis=1)\n    ### END SOLUTION",
    "speed_plot": "def speed_plot(times, speeds):\n"
    '    """A curve of speeds in m/s over times in s, both (times,): its axes, with names"""\n'
    "    ### BEGIN SOLUTION\n    import matplotlib.pyplot as plt\n\n    axes = plt.figure().gca()\n"
    '    axes.plot(times, speeds)\n    axes.set_xlabel("time in s")\n    axes.set_ylabel("speed in m/s")\n'
    "    return axes\n    ### END SOLUTION",
    "frequent": "def frequent(words, least):\n"
    '    """Words that are there at least so often, each with its count: a dictionary"""\n'
    "    ### BEGIN SOLUTION\n"
    "    return {word: words.count(word) for word in set(words) if words.count(word) >= least}\n    ### END SOLUTION",
}
NOTEBOOK, MEAN = "source/heat/1_heat.ipynb", "exercises/heat/mean_energy.py"


def run(root: Path, *words: str) -> int:
    loader.forget()
    return cli.main(["--course-dir", str(root), *words])


def edited(path: Path, change: Callable[[nbformat.NotebookNode], None]) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        change(cell)
    nbformat.write(notebook, path)


def fill_in(cell: nbformat.NotebookNode) -> None:
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "").removesuffix("_answer")
    if cell.source.startswith("def ") and name in SOLUTIONS:
        cell.source = SOLUTIONS[name]
    elif cell.cell_type == "markdown":
        cell.source = cell.source.replace("STUB: ", "").replace("?", "15")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("door") / "physics"
    assert cli.main(["init", str(root)]) == 0
    for name, text in (("mean_energy", SPEEDS), ("frequent", WORDS), ("speed_plot", PLOT)):
        assert run(root, "new", f"heat/{name}") == 0
        (root / f"exercises/heat/{name}.py").write_text(text)
        edited(root / NOTEBOOK, fill_in)
    assert run(root, "references", "heat") == 0
    return root


def test_an_exercise_is_one_file_and_three_cells(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(len(text.splitlines()) < 60 for text in (SPEEDS, WORDS, PLOT)) and not [*course.rglob("calls.py")]
    assert run(course, "check", "heat") == 0, capsys.readouterr()
    assert sum(len(path.read_text().splitlines()) for path in course.rglob("*.py")) < 200


def in_exercise(old: str, new: str) -> Callable[[Path], None]:
    def slip(root: Path) -> None:
        text = (root / MEAN).read_text()
        assert old in text
        (root / MEAN).write_text(text.replace(old, new, 1))

    return slip


def in_notebook(old: str, new: str) -> Callable[[Path], None]:
    def slip(root: Path) -> None:
        text = (root / NOTEBOOK).read_text()
        assert old in text
        (root / NOTEBOOK).write_text(text.replace(old, new, 1))

    return slip


def one_id_twice(root: Path) -> None:
    def change(cell: nbformat.NotebookNode) -> None:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "frequent":
            cell.metadata.nbgrader.grade_id = "mean_energy"

    edited(root / NOTEBOOK, change)


#: The slip, the command, and what it says: the exercise, and what to look at.
SLIPS = {
    "a wrong name": (in_exercise('given=("speeds",)', 'given=("speed",)'), "references",
                     ["heat/mean_energy", "names 'speed'", "holds speeds"]),
    "a wrong name in the oracle": (in_exercise("speeds.tolist()", "speed.tolist()"), "references",
                                   ["heat/mean_energy", "NameError", "mean_energy.py, line 15", "speed.tolist()"]),
    "a wrong key": (in_exercise('{"mean_energy": energies}', '{"energy": energies}'), "references",
                    ["heat/mean_energy, case 0", "hands over mean_energy, and energy is expected"]),
    "a solution that stops": (in_notebook("(speeds**2 / 2).mean", "(speed**2 / 2).mean"), "references",
                              ["heat/mean_energy", "the solution stops", "NameError", "notebook: return (speed"]),
    "an oracle that disagrees": (in_exercise("v * v / 2", "v * v / 3"), "references",
                                 ["heat/mean_energy, case 0", "mean_energy is [", "expected is ["]),
    "a text for an array": (in_exercise('": energies}', '": str(energies)}'), "references",
                            ["heat/mean_energy, case 0", "mean_energy is numbers", "expected is a text"]),
    "a mistake that stops": (in_exercise('("/ 2", "")', '("/ 2", "/ two")'), "references",
                             ["heat/mean_energy", "with the mistake 'half' the solution stops", "NameError", "/ two"]),
    "a missing axis": (in_exercise("energies}", "[energies]}"), "references",
                       ["heat/mean_energy, case 0", "of shape (3,)", "of shape (1, 3)"]),
    "something that cannot be stored": (in_exercise("energies}", "{1, 2}}"), "references",
                                        ["heat/mean_energy", "expected['mean_energy'] is set", "line 16"]),
    "a patch that fits nowhere": (in_exercise('("/ 2", "")', '("/ 3", "")'), "references",
                                  ["heat/mean_energy", "'/ 3'"]),
    "one id twice": (one_id_twice, "check", ["1_heat.ipynb has 2 cells 'mean_energy'"]),
    "a stub left": (in_exercise("[_case(generator.normal(0, 1, size)) for size in ((3, 5), (4, 2))]",
                                'NotImplementedError("STUB: draw the cases")'),
                    "check", ["mean_energy.py is a stub", "draw the cases"]),
    "points that do not sum": (in_notebook("| 1 | 15 minutes", "| 7 | 15 minutes"), "check",
                               ["1_heat.ipynb, cell 'mean_energy_text'", "says 7 points", "below it have 1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_answered_in_a_line(
    name: str, course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slip, command, words = SLIPS[name]
    root = tmp_path / "physics"
    shutil.copytree(course, root)
    slip(root)
    capsys.readouterr()
    assert run(root, command, "heat") != 0
    said = "".join(capsys.readouterr())
    line = next((line for line in said.splitlines() if words[0] in line), "")
    assert [word for word in words if word not in line] == [], said


CODE = """import numpy as np
from physics_checks import heat as check
def mean_energy(speeds):
    squares = speeds**2
    halves = squares / 2
    turned = halves.T
    sums = turned.sum(axis=0)
    means = sums / len(turned)
    result = means + 0 * sums
    return result
check.questions({"student": "ada"}, mean_energy=mean_energy)
"""
#: As a notebook runs a cell: its text can be looked up.
IN_A_CELL = f"""import linecache
linecache.cache["<cell>"] = (1, None, {CODE!r}.splitlines(True), "<cell>")
exec(compile({CODE!r}, "<cell>", "exec"))
"""


def test_questions_on_ones_own_code_can_be_asked(course: Path) -> None:
    words = [sys.executable, "-c", IN_A_CELL]
    said = subprocess.run(words, cwd=course, capture_output=True, text=True, check=True).stdout
    assert "halves" in said or "squares" in said


def test_mutants_of_a_solution_are_told_from_it(course: Path) -> None:
    assert cli.main(["--course", str(course), "mutants", "signals", "--exercise", "moving_average"]) == 0


class Enough(Exception):
    """Ends the watching."""


def test_watching_an_exercise_tells_after_each_change_what_its_answers_get(course: Path, tmp_path: Path) -> None:
    root, said = tmp_path / "physics", list[str]()
    shutil.copytree(course, root)
    edits = [("/ 2", "/ two"), ("/ two", "/ 2"), ('("/ 2", "")', '("(axis=1)", "(axis=1) + 0")')]

    def say(line: str) -> None:
        said.append(line)
        if "tried again when it is saved" in line:
            if not edits:
                raise Enough
            in_exercise(*edits.pop(0))(root)

    loader.forget()
    with pytest.raises(Enough):
        watch(Course(root), "heat", "mean_energy", say)
    rounds = "\n".join(said).split("tried again when it is saved")
    assert all("✓ right: 1 of 1" in one and "✓ wrong: 2 of 2" in one for one in (rounds[0], rounds[2]))
    assert "✓ untouched: 0 of 1 points" in rounds[0]
    assert "NameError" in rounds[1] and "two" in rounds[1]
    assert "tells the mistake 'half' from the right answer" in rounds[3]
