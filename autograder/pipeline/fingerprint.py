"""What a grade depends on, as named parts, so that a change has a name: ``rule softmax``, ``grader``.

A part is a name and a digest. Some change what a run gives, others only what is made of it (:func:`run_parts`). The
trusted side's parts are the code that runs in the notebooks, points, rules and
stored references of the exercises, files beside the notebooks, the grader, the course library and the versions of what
both are built on. Text that no grade depends on is no part of it, and neither is an instructor's solution.
"""

import ast
import functools
import hashlib
import json
import os
import platform
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib.util import resolve_name
from pathlib import Path, PurePath

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import NOT_HANDED_IN, Submission
from autograder.exercise.pack import deciding, pack_names, read_pack
from autograder.kernel.imports import library_places
from autograder.model import cells
from autograder.model.cells import tree_of
from autograder.model.course import Course
from autograder.model.limits import Limits
from autograder.model.questions import asking
from autograder.references import loader
from autograder.references.loader import trusted_modules
from autograder.references.store import FOLDER, PACKS
from autograder.references.write import INPUTS, checksums, inputs_among, installed_version

#: Rules and mistakes live here. What they import from elsewhere is part of the grader or of the course library.
_RULES = loader.PACKAGE
_PACKAGE = "autograder"
_GRADER = Path(__file__).resolve().parents[1]

#: (module, name of one of its definitions); an empty name stands for all of them.
Definition = tuple[str, str]


def imported_files(roots: Iterable[str]) -> list[Path]:
    """The files of ``autograder`` that these modules come to import, rules left out."""
    waiting, found = list(roots), dict[str, Path]()
    while waiting:
        name = waiting.pop()
        if name in found or name.startswith(_RULES) or (path := _file(name)) is None:
            continue
        found[name] = path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += [name.rpartition(".")[0], *_modules(path, package)]
    return sorted(found.values())


def _modules(path: Path, package: str) -> set[str]:
    """What a module imports of this package, as names of modules; among them names that are none.

    Read by a pattern: to parse fifty modules would take a fifth of a second in every run.
    """
    text = path.read_text(encoding="utf-8")
    found = set(re.findall(r"(?m)^\s*import (autograder[\w.]*)", text))
    for module, names in re.findall(r"(?m)^\s*from ((?:autograder|\.)[\w.]*) import (\([^)]*\)|.*)$", text):
        module = resolve_name(module, package)
        found |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", names))}
    return found


def described(value: object, within: tuple[int, ...] = ()) -> object:
    """A value as JSON can hold it, with the code of the rules' package that its functions and classes reach."""
    if isinstance(value, str | bytes | int | float | complex | None):
        return repr(value)
    if id(value) in within:  # a function that calls itself
        return "itself"
    inside = functools.partial(described, within=(*within, id(value)))
    if isinstance(value, functools.partial):
        return [inside(value.func), inside(value.args), inside(value.keywords)]
    if isinstance(value, types.MethodType):
        return [inside(value.__func__), inside(value.__self__)]
    if isinstance(value, types.FunctionType):
        bound = [inside(cell.cell_contents) for cell in value.__closure__ or ()]
        return [_reached(value.__module__, value.__qualname__), bound, inside(value.__defaults__)]
    if isinstance(value, type):
        return _reached(value.__module__, value.__qualname__)
    if isinstance(value, Mapping):
        return [[inside(key), inside(inner)] for key, inner in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, Sequence):
        return [inside(inner) for inner in value]
    if callable(as_bytes := getattr(value, "tobytes", None)):  # an array
        return hashlib.sha256(as_bytes()).hexdigest()
    names = [field.name for field in fields(value)] if is_dataclass(value) else sorted(getattr(value, "__dict__", ()))
    return [inside(type(value)), [[name, inside(getattr(value, name))] for name in names]]


@lru_cache(maxsize=4096)
def _reached(module: str, qualified: str) -> str:
    """Digest of a definition of the rules' package and of all that it reaches there; elsewhere its name alone."""
    name = qualified.partition(".")[0]
    waiting, found = [(module, "" if name.startswith("<") else name)], dict[Definition, str]()
    while waiting:
        module, name = one = waiting.pop()
        if one in found or not module.startswith(_RULES) or (path := _file(module)) is None:
            continue
        text = _read(path, module)
        if name in text.imported:
            waiting.append(text.imported[name])
        elif not name:
            waiting += [(module, other) for other in text.defined]
        found[one] = "\n".join(text.defined.get(name, ()))
        waiting += [(used[0] or module, used[1]) for used in text.uses.get(name, ())]
    # without the package's name, which is made of the folder that the course lies in
    texts = sorted(((module.partition(".")[2], name), text) for (module, name), text in found.items())
    return hashlib.sha256(repr((qualified, texts)).encode()).hexdigest()[:16]


class _Text:
    """A module's definitions by name, as text without comments and docstrings, and what each of them uses."""

    def __init__(self, path: Path, module: str) -> None:
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        tree = tree_of(path.read_text(encoding="utf-8"))
        self.imported: dict[str, Definition] = {}
        self.defined: dict[str, list[str]] = {}
        self.uses: dict[str, set[Definition]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self._import_from(resolve_name("." * node.level + (node.module or ""), package), node.names)
        known = {name for node in tree.body for name in _bound(node)} | self.imported.keys()
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                continue
            text, uses = ast.unparse(_WithoutDocstrings().visit(node)), set(self._used(node, known))
            # a statement that binds nothing may change whatever it names
            for name in _bound(node) or {used for _, used in uses}:
                self.defined.setdefault(name, []).append(text)
                self.uses.setdefault(name, set()).update(uses)

    def _import_from(self, module: str, names: Sequence[ast.alias]) -> None:
        for alias in names:
            inner = f"{module}.{alias.name}"
            self.imported[alias.asname or alias.name] = (inner, "") if _file(inner) else (module, alias.name)

    def _used(self, node: ast.AST, known: set[str]) -> Iterator[Definition]:
        """``attention.softmax`` is one definition of the module ``attention``, not all of it."""
        parts = {
            id(inner.value): (self.imported[inner.value.id][0], inner.attr)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Attribute)
            and isinstance(inner.value, ast.Name)
            and self.imported.get(inner.value.id, ("", "?"))[1] == ""
        }
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in known:
                yield parts.get(id(inner), ("", inner.id))


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    inside = list(ast.walk(node))
    stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    return stored | {one.name for one in inside if isinstance(one, ast.FunctionDef | ast.ClassDef)}


@lru_cache(maxsize=512)
def _read(path: Path, module: str) -> _Text:
    return _Text(path, module)


@lru_cache(maxsize=2048)
def _file(name: str) -> Path | None:
    """The source of a module of this package or of a course's exercises; None where there is no such module."""
    if name.startswith(_RULES):
        return loader.source_of(name)
    if name.partition(".")[0] != _PACKAGE:
        return None
    base = os.path.join(_GRADER, *name.split(".")[1:])
    return next((Path(path) for path in (f"{base}/__init__.py", f"{base}.py") if os.path.isfile(path)), None)


#: The line of a setup cell that names where it installs from: no grade depends on it.
REPOSITORY = re.compile(r'(?m)^REPOSITORY = ".*"$')
#: Files beside the notebooks that nobody computes with.
TO_LOOK_AT = {".md", ".pdf", ".html", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"}
#: name -> digest
Parts = dict[str, str]

#: What runs a submission: the modules from which everything is imported that decides what its kernels produce.
_RUNS = (
    "autograder.pipeline.running",
    "autograder.kernel.warm_process",
    "autograder.testing",
    "autograder.tester.cell",
    "autograder.tester.serve",
)
#: What makes verdicts of that, and pages of these.
_JUDGES = ("autograder.pipeline.grade",)
#: Their arithmetic, or how they run a cell, can change a result. To them come the packages that the course uses.
_BUILT_ON = ("numpy", "safetensors", "ipykernel", "ipython", "matplotlib")
#: The names of :func:`machine_parts`.
MACHINE = ("grader", "judge", "course library", "environment")
#: The parts that a verdict depends on, and no run does: their kinds, or whole names.
_OF_A_VERDICT = ("judge", "rule", "expected", "groups")
_MARKS = ("grade", "solution", "locked", "task")


def digest(*values: object) -> str:
    """Of texts, bytes and what JSON can hold. 64 bits: enough to notice a change, short enough for a journal."""
    total = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, default=str).encode()
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:16]


def run_parts(parts: Parts) -> Parts:
    """Those of the trusted side's parts that can change what running a submission gives."""
    return {name: value for name, value in parts.items() if name.partition(" ")[0] not in _OF_A_VERDICT}


def machine_of_runs(course: Course, isolation: str) -> str:
    """Digest of what runs submissions: the grader, the course library, their environment, how kernels are confined.

    What is imported before the first cell, and what is drawn in place of a kernel, is the course's to say.
    """
    file = course.file
    return digest(run_parts(machine_parts(course)), isolation, file.warm, file.drawings, file.parts)


def basis_of_runs(machine: str, content: Parts, submission: Parts, room: str) -> str:
    """Digest of all that running a submission depends on, but for time limits.

    machine: of :func:`machine_of_runs`; content: of :func:`content_parts`; room: of the limits.
    """
    return digest(machine, run_parts(content), submission, room)


def machine_parts(course: Course) -> Parts:
    """The grader, the course library and their environment. Raises GradingError where the library is not installed."""
    return dict(_machine_parts(_library(course), course.file.packages))


def _library(course: Course) -> tuple[Path, ...]:
    return tuple(library_places(course.root, course.file)) if course.file.library else ()


@lru_cache(maxsize=8)
def _machine_parts(library: tuple[Path, ...], packages: tuple[str, ...]) -> Parts:
    built_on = [(name, installed_version(name)) for name in sorted({*_BUILT_ON, *packages})]
    package, runs = Path(__file__).resolve().parents[1], imported_files(_RUNS)
    grader = _of_files(package, runs)
    judge = _of_files(package, sorted({*imported_files(_JUDGES)} - {*runs}))
    course_library = digest(*map(_of_place, library))
    environment = digest(platform.python_version_tuple()[:2], built_on)
    return dict(zip(MACHINE, (grader, judge, course_library, environment), strict=True))


def imported_version(course: Course) -> str:
    """Digest of all that a process imports to grade, rules included: two processes grade alike where it is the same.

    Kept for the process's life: a worker that has imported one version must not pass for another.
    """
    return _imported_version(course.root / FOLDER, _library(course), course.file.packages)


@lru_cache(maxsize=8)
def _imported_version(exercises: Path, library: tuple[Path, ...], packages: tuple[str, ...]) -> str:
    return digest(_machine_parts(library, packages), _of_files(exercises, trusted_modules(exercises)))


def _of_place(place: Path) -> str:
    """Of a package's folder, or of a module's file. What is said of mistakes in public cases changes no run."""
    if not place.is_dir():
        return _of_files(place.parent, [place])
    files = [path for path in place.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    packs = [path for path in files if path.parent.name == PACKS]
    public = [[path.name, name, deciding(read_pack(path, name))] for path in packs for name in pack_names(path)]
    return digest(_of_files(place, [path for path in files if path not in packs]), repr(public).encode())


def _of_files(folder: Path, paths: list[Path]) -> str:
    named = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    return digest(named)


def content_parts(assignment: Assignment) -> Parts:
    """What a grade depends on in the course's folder: notebooks, stored references, files."""
    parts: Parts = {}
    for name, source in assignment.source.items():
        parts |= _notebook_parts(name, source, assignment.release[name])
    for slug in _slugs(assignment):
        stored = assignment.references.stored(slug)
        others = {name: data for name, data in stored.items() if not name.startswith(INPUTS)}
        parts[f"inputs {_short(slug)}"] = digest(checksums(inputs_among(stored)))
        parts[f"expected {_short(slug)}"] = digest(checksums(others))
    parts |= {
        f"file {name}": digest(data)
        for name, data in assignment.files.items()
        if PurePath(name).suffix.lower() not in TO_LOOK_AT
    }
    parts["deliverables"] = digest(sorted(assignment.deliverables))
    if assignment.calibration is not None:
        parts["calibration"] = digest(assignment.calibration.to_json())
    if assignment.mates and any(asking(cell) for notebook in assignment.source.values() for cell in notebook.cells):
        parts["groups"] = digest(assignment.mates)
    return parts


def rule_parts(assignment: Assignment) -> Parts:
    """Per exercise its rule, mistakes and tolerance. How its cases are drawn is told by the stored references."""
    parts: Parts = {}
    for slug in _slugs(assignment):
        exercise = assignment.references.exercise(slug)
        judged_by = described((exercise.rule, exercise.mistakes, *exercise.questions))
        parts[f"rule {_short(slug)}"] = digest(judged_by, exercise.framework, exercise.atol, exercise.rtol)
    return parts


def _slugs(assignment: Assignment) -> list[str]:
    graded = [cell for notebook in assignment.source.values() for cell in notebook.cells if cells.is_autograded(cell)]
    return sorted({slug for cell in graded for slug in cells.references_of(cell.source)})


def _short(slug: str) -> str:
    return slug.partition("/")[2] or slug


def _notebook_parts(name: str, source: NotebookNode, release: NotebookNode) -> Parts:
    """Per graded cell its points and its text; per notebook all code around them, in order."""
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells if cells.grade_id(cell)}
    parts: Parts = {}
    around: list[object] = []
    for cell in source.cells:
        grade_id, marks = cells.grade_id(cell), [cells.nbgrader(cell).get(mark) for mark in _MARKS]
        if not grade_id or not (cells.is_graded(cell) or cells.is_solution(cell)):
            if cell.cell_type == "code":
                around.append(REPOSITORY.sub("", cell.source))
            continue
        around.append([grade_id, cell.cell_type])
        # an instructor's solution never runs beside a student's, but the model answer is what a person grades by
        own = cell.source if cell.cell_type != "code" or not cells.is_solution(cell) else ""
        parts[f"cell {grade_id}"] = digest(own, stubs.get(grade_id, ""), marks)
        if cells.is_graded(cell):
            parts[f"points {grade_id}"] = digest(cells.max_points(cell))
    released = [cell.source for cell in release.cells if cell.cell_type == "code" and not cells.grade_id(cell)]
    parts[f"notebook {name}"] = digest(around, [REPOSITORY.sub("", text) for text in released])
    return parts


def submission_parts(submission: Submission) -> Parts:
    """Of everything that a student handed in and the grader reads, and of what it says of the rest."""
    read = {**submission.beside, **submission.notebooks, **submission.files}
    parts = {name: digest(data) for name, data in read.items()}
    left_out = [note for note in submission.notes if not note.endswith(NOT_HANDED_IN)]
    return parts | ({"what was left out": digest(left_out)} if left_out else {})


def limits_matter(times: str, cut: bool, slowest: float, seconds: float, limits: Limits) -> bool:
    """Other limits change what was cut off by the old ones, ``times``, or what would not keep to the new ones."""
    if times == times_of(limits):
        return False
    shortest = min([limits.cell_seconds, *(limit for found in limits.cells.values() for limit in found.values())])
    return cut or slowest > shortest or seconds > limits.submission_seconds


def times_of(limits: Limits) -> str:
    """Tells the time limits of one run from those of another."""
    return digest(limits.cell_seconds, limits.submission_seconds, limits.cells)
