"""A course of anybody's, graded by stock nbgrader and by ``autograder grade``: where the points differ, and why.

Works on copies. Stock nbgrader runs the course's code unconfined, as the user who calls this.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import ClearSolutions

from autograder.model.verdict import read
from tests.plain.variants import class_of
from tools.bench.courses import environment

#: What a run makes, and what is too large or nobody's business.
_NOT_COPIED = (
    "submitted", "autograded", "feedback", "release", "exchange", "gradebook.db*", ".git", "*.zip", "__pycache__",
    ".ipynb_checkpoints", ".autograder",
)  # fmt: skip
_LINES = """
import os
c = get_config()
for name in ("submitted", "autograded", "feedback", "release", "source", "solution"):
    c.CourseDirectory[name + "_directory"] = name
c.CourseDirectory.root = os.path.dirname(os.path.abspath(__file__))
c.CourseDirectory.db_url = "sqlite:///" + c.CourseDirectory.root + "/gradebook.db"
c.CourseDirectory.db_students = c.CourseDirectory.db_assignments = []
c.CourseDirectory.course_id = "plain"
c.Exchange.root = c.CourseDirectory.root + "/exchange"
c.NbGrader.logfile = ""
c.Execute.timeout = c.ExecutePreprocessor.timeout = {seconds}
"""
#: (student, notebook, grade id)
Place = tuple[str, str, str]


@dataclass(frozen=True)
class Judged:
    """One graded cell of one submission. points: None where a person decides. where: ``judged`` of the verdict."""

    points: float | None
    reason: str = ""
    where: str = ""
    named: bool = False  # it waits for the instructor, under "for you to do"


@dataclass(frozen=True, order=True)
class Difference:
    """kind: ``more`` or ``less`` is a fault of ours; ``for you``, ``stderr`` and ``no grade`` are told."""

    kind: str
    cell: str
    points: str
    reason: str

    @property
    def is_fault(self) -> bool:
        return self.kind in ("more", "less")


@dataclass
class Compared:
    """One assignment. refused: why nothing was compared. solution: cells that it passes in stock, here, of all."""

    assignment: str
    notes: list[str] = field(default_factory=list)
    refused: str = ""
    refused_by_us: bool = False  # or there was nothing to look at
    submissions: int = 0
    solution: tuple[int, int, int] = (0, 0, 0)
    judged: dict[str, int] = field(default_factory=dict)
    differences: dict[Difference, list[str]] = field(default_factory=dict)

    @property
    def has_fault(self) -> bool:
        return self.refused_by_us or any(one.is_fault for one in self.differences)


@dataclass(frozen=True)
class Options:
    seed: int = 1
    mutants: int = 3
    styles: int = 2
    seconds: int = 30
    only: tuple[str, ...] = ()


def compare(course: Path, work: Path, options: Options) -> Iterator[Compared]:
    """One result for each assignment, as it is ready. work: an empty folder, or that of an earlier call.

    What stock nbgrader gave is kept there; a later call grades anew only with ours.
    """
    ready = work / "course"
    if not ready.is_dir():
        shutil.rmtree(begun := work / "begun", ignore_errors=True)
        _prepare(course, begun, options)
        begun.rename(ready)
    clear = _settings(ready).get("ClearSolutions", {})
    begin, end = (clear.get(name, getattr(ClearSolutions, name).default_value) for name in _REGION)
    folders = sorted(path for path in (ready / "source").glob("*") if path.is_dir())
    if not folders:
        yield Compared(course.name, refused=f"there is no assignment in {course / 'source'}", refused_by_us=True)
    for folder in folders:
        if not options.only or folder.name in options.only:
            found = Compared(folder.name)
            try:
                _compare_assignment(found, ready, work / folder.name, (begin, end), options)
            except Exception as error:  # one broken assignment never stops the others
                found.refused = f"{type(error).__name__}: {error}"[:500]
            yield found


_REGION = "begin_solution_delimeter", "end_solution_delimeter"


def _compare_assignment(found: Compared, ready: Path, work: Path, region: tuple[str, str], options: Options) -> None:
    name, released, stock, ours = found.assignment, work / "released", work / "stock", work / "ours"
    kept = work / "points.json"
    if not kept.is_file():
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(ready, released)
        found.notes += _made_readable(released / "source" / name)
        source = _notebooks(released / "source" / name)
        if not any(_is_tested(cell) for notebook in source.values() for cell in notebook.cells):
            found.refused = "it has no cell in Python that nbgrader grades by itself"
            return
        done = _run(released, "nbgrader", "generate_assignment", name)
        if done.returncode:
            found.refused = f"nbgrader generate_assignment: {_last_line(done)}"
            return
        release = _notebooks(released / "release" / name)
        for student, notebooks in class_of(source, release, region, options.seed, options.mutants, options.styles):
            _hand_in(released, name, student, notebooks)
        shutil.copytree(released, stock)
        _run(stock, "nbgrader", "autograde", name)
        points = [[*place, one.points, one.reason] for place, one in _stock_points(stock, name).items()]
        kept.write_text(json.dumps(points))
    theirs = {(a, b, c): Judged(points, reason) for a, b, c, points, reason in json.loads(kept.read_text())}
    shutil.rmtree(ours, ignore_errors=True)
    shutil.copytree(released, ours)
    done = _run(ours, "autograder.cli", "grade", name, "--json", "--workers", "2")
    if not (here := _our_points(ours, name, done)):
        found.refused, found.refused_by_us = f"autograder grade: {done.stderr.strip()[-500:]}", True
        return
    _put_together(found, theirs, here)


def _prepare(course: Path, copy: Path, options: Options) -> None:
    """Copy what instructors write, with the course's own configuration where it can be loaded, turned to the copy."""
    left_out = shutil.ignore_patterns(*_NOT_COPIED)
    shutil.copytree(course, copy, ignore=left_out)
    source = _settings(copy).get("CourseDirectory", {}).get("source_directory", "source")
    if source != "source" and (copy / source).is_dir():
        shutil.copytree(copy / source, copy / "source", dirs_exist_ok=True)
    path, lines = copy / "nbgrader_config.py", _LINES.format(seconds=options.seconds)
    own = path.read_text(encoding="utf-8") if path.is_file() else ""
    path.write_text(f"{own}\n{lines}")
    if _settings(copy).get("CourseDirectory", {}).get("course_id") != "plain":
        path.write_text(lines)
    _run(copy, "nbgrader", "update", str(copy / "source"))


def _put_together(found: Compared, theirs: Mapping[Place, Judged], here: Mapping[Place, Judged]) -> None:
    found.submissions = len({place[0] for place in theirs})
    solved = [place for place in theirs if place[0] == "solution"]
    found.solution = (
        sum(bool(theirs[place].points) for place in solved),
        sum(bool(here[place].points) for place in solved if place in here),
        len(solved),
    )
    for place in solved:
        where = here[place].where if place in here else "not judged"
        found.judged[where] = found.judged.get(where, 0) + 1
    for place, stock in theirs.items():
        one = here.get(place, Judged(None, "has no verdict"))
        if (told := difference(f"{place[1]}/{place[2]}", stock, one)) is not None:
            found.differences.setdefault(told, []).append(place[0])


def difference(cell: str, stock: Judged, ours: Judged) -> Difference | None:
    if stock.points is None and ours.points is None:
        return None
    if stock.points is not None and ours.points is not None and abs(stock.points - ours.points) < 1e-6:
        return None
    more = ours.points is not None and (stock.points is None or ours.points > stock.points)
    if more:
        kind = "no grade" if stock.points is None else "stderr" if stock.reason == STDERR else "more"
    else:
        kind = "for you" if ours.named else "less"
    told = " → ".join("none" if one.points is None else f"{one.points:g}" for one in (stock, ours))
    return Difference(kind, cell, told, f"[{ours.where}] {stock.reason if more else ours.reason}".strip())


#: Stock nbgrader takes every line on stderr for a failed test.
STDERR = "wrote on stderr"


def _stock_points(root: Path, assignment: str) -> dict[Place, Judged]:
    """Those cells that nbgrader grades by itself; points None where it gave the notebook up."""
    found: dict[Place, Judged] = {}
    for path in sorted((root / "source" / assignment).glob("*.ipynb")):
        cells = [
            cell.metadata.nbgrader.grade_id for cell in nbformat.read(path, as_version=4).cells if _is_tested(cell)
        ]
        for student in (root / "submitted").iterdir():
            found |= {(student.name, path.stem, cell): Judged(None, "stock nbgrader gave up") for cell in cells}
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        for submission in gradebook.assignment_submissions(assignment):
            for notebook in submission.notebooks:
                path = root / "autograded" / submission.student.id / assignment / f"{notebook.name}.ipynb"
                outputs = _outputs(path) if path.is_file() else {}
                for grade in notebook.grades:
                    if (place := (submission.student.id, notebook.name, grade.name)) in found and path.is_file():
                        found[place] = Judged(grade.auto_score, outputs.get(grade.name, ""))
    return found


def _is_tested(cell: NotebookNode) -> bool:
    marks = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and bool(marks.get("grade")) and not marks.get("solution") and not marks.get("task")


def _outputs(path: Path) -> dict[str, str]:
    """grade id -> what stock nbgrader saw: the first error, words on stderr, or nothing."""
    found = {}
    for cell in nbformat.read(path, as_version=4).cells:
        outputs = cell.get("outputs", [])
        errors = [f"{one.ename}: {one.evalue}"[:160] for one in outputs if one.output_type == "error"]
        loud = [STDERR for one in outputs if one.output_type == "stream" and one.name == "stderr"]
        found[cell.metadata.get("nbgrader", {}).get("grade_id", "")] = (*errors, *loud, "")[0]
    return found


def _our_points(root: Path, assignment: str, done: subprocess.CompletedProcess[str]) -> dict[Place, Judged]:
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return {}
    found = {}
    for row in document["students"]:
        path = root / "autograded" / row["student"] / assignment / "verdicts.json"
        if not path.is_file():
            continue
        for notebook in read(path).notebooks:
            for cell in notebook.cells:
                reason = " | ".join(check.message for check in cell.checks if not check.passed and check.message)
                waits = cell.points is None and cell.status != "infrastructure"  # the grader's own failure is a fault
                found[row["student"], notebook.notebook, cell.cell] = Judged(
                    cell.points,
                    f"{cell.status}: {cell.refused} {reason}"[:400].replace("\n", " "),
                    cell.judged,
                    waits,
                )
    return found


def _made_readable(folder: Path) -> Iterator[str]:
    """Take out what no one can grade here, and give Python's notebooks a kernel that there is. What was done."""
    kernels, missing = KernelSpecManager().find_kernel_specs(), set()
    for path in sorted(folder.glob("*.ipynb")):
        try:
            notebook = nbformat.read(path, as_version=4)
        except Exception as error:
            path.unlink()
            yield f"{path.name} left out: {type(error).__name__}: {error}"[:200]
            continue
        spec = notebook.metadata.get("kernelspec", {})
        language = notebook.metadata.get("language_info", {}).get("name", spec.get("language", "python"))
        if not str(language).lower().startswith(("python", "ipython")):
            path.unlink()
            yield f"{path.name} left out: written in {language}"
            continue
        if spec.get("name") not in kernels:
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
            nbformat.write(notebook, path)
        missing |= {name for name in _imports(notebook) if not find_spec(name) and not (folder / name).exists()
                    and not (folder / f"{name}.py").exists()}  # fmt: skip
    if missing:
        yield f"packages that are missing here: {', '.join(sorted(missing))}"


def _imports(notebook: NotebookNode) -> Iterator[str]:
    for cell in notebook.cells:
        try:
            tree = ast.parse(cell.source if cell.cell_type == "code" else "")
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]


_LOAD = """
import json
from traitlets.config.loader import PyFileConfigLoader
print()
print(json.dumps(PyFileConfigLoader("nbgrader_config.py").load_config(), default=str))
"""


def _settings(folder: Path) -> dict[str, dict]:
    """The nbgrader settings of a folder; none where its configuration is missing or stops with an error."""
    done = subprocess.run([sys.executable, "-c", _LOAD], cwd=folder, text=True, errors="replace", capture_output=True)
    return json.loads(done.stdout.splitlines()[-1]) if not done.returncode else {}


def _hand_in(root: Path, assignment: str, student: str, notebooks: Mapping[str, NotebookNode]) -> None:
    folder = root / "submitted" / student / assignment
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(root / "release" / assignment, folder)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, folder / f"{name}.ipynb")


def _notebooks(folder: Path) -> dict[str, NotebookNode]:
    return {path.stem: nbformat.read(path, as_version=4) for path in sorted(folder.glob("*.ipynb"))}


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=environment() | {"MPLBACKEND": "agg"}, text=True,
        errors="replace", capture_output=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The last line with which an exception ends, or else with which nbgrader complains."""
    lines = done.stderr.splitlines()
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return (errors or [line for line in lines if "ERROR" in line] or lines or [""])[-1].strip()[:300]


def show(found: Compared) -> None:
    print(f"  {found.assignment}: ", end="")
    if found.refused:
        print(f"not compared: {found.refused}")
    else:
        stock, ours, of = found.solution
        places = ", ".join(f"{number} {where}" for where, number in sorted(found.judged.items()))
        print(f"{found.submissions} submissions, {of} cells ({places}); the solution passes {stock}, here {ours}")
    for note in found.notes:
        print(f"    {note}")
    for one, students in sorted(found.differences.items()):
        print(f"    {one.kind.upper():8} {one.cell} {one.points} {', '.join(students)}: {one.reason}")
    sys.stdout.flush()


def main(courses: Sequence[Path], work: Path, options: Options) -> int:
    """Print what differs. Returns 1 where ours gives more than stock, or less without a word to the instructor."""
    faults = 0
    for course in courses:
        print(course)
        place = work / os.path.relpath(course.absolute(), "/").replace(os.sep, "+")
        place.mkdir(parents=True, exist_ok=True)
        for found in compare(course.absolute(), place, options):
            show(found)
            faults += found.has_fault
    return 1 if faults else 0
