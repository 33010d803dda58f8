"""Finding a course's exercises: every file ``exercises/<assignment>/<exercise>.py``.

Nothing is registered by hand. The modules below ``exercises/`` are imported as one package of a name of their own, so
that two courses do not meet in one process; they import their neighbours relatively (``from .._attention import ...``).
"""

import hashlib
import sys
import sysconfig
import traceback
import types
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from autograder import exercise as interface
from autograder.errors import GradingError
from autograder.exercise.model import Exercise, Patch, Rule, SampleAnswer
from autograder.model.course_file import read_course_file

#: Begins the name of the package that holds a course's exercises.
PACKAGE = "exercises_of_course_"
#: Parts of the names of files that are no author's.
_LIBRARIES = (str(Path(__file__).parents[1]), sysconfig.get_path("stdlib"), "-packages", "<")
#: The folder of a course that holds its exercises and their stored references.
FOLDER = "exercises"
#: An assignment's own rules lie in this module beside its visible checks; exercises import it as one of their own.
_RULES = "_rules"


def names(folder: Path, assignment: str) -> list[str]:
    """The exercises of an assignment, in order; ``folder`` is ``exercises/`` of a course.

    Raises GradingError for a folder with an ``oracle.py``, as exercises once were.
    """
    if older := next((folder / assignment).glob("*/oracle.py"), None):
        raise GradingError(f"{older.parent}: oracle.py and answers.py become one file {older.parent.name}.py beside it")
    return sorted(path.stem for path in (folder / assignment).glob("[!_]*.py"))


def file_of(folder: Path, slug: str) -> Path:
    """The file in which an exercise is written down."""
    return folder / f"{slug}.py"


def trusted_modules(folder: Path) -> list[Path]:
    """All modules in and below a folder of exercises that judge answers, in order: those of sample answers left out."""
    return sorted(path for path in folder.rglob("*.py") if not path.name.lstrip("_").startswith("answers"))


@lru_cache
def exercises(folder: Path, assignment: str) -> dict[str, Exercise]:
    """slug -> exercise. Raises GradingError where the assignment has none, or one cannot be used."""
    found = [_exercise(folder, f"{assignment}/{name}") for name in names(folder, assignment)]
    if not found:
        raise GradingError(
            f"unknown assignment {assignment!r}: there is no exercise in {folder / assignment}; "
            f"expected {folder / assignment}/<exercise>.py"
        )
    return {exercise.slug: exercise for exercise in sorted(found, key=lambda exercise: exercise.slug)}


def exercise(folder: Path, slug: str) -> Exercise:
    """One exercise. Raises GradingError where there is none of this name."""
    known = exercises(folder, slug.partition("/")[0])
    if slug not in known:
        raise GradingError(f"unknown reference {slug!r}: known are {', '.join(known)}")
    return known[slug]


def sample_answers(folder: Path, slug: str) -> tuple[list[SampleAnswer], list[SampleAnswer]]:
    """(right, wrong) answers of an exercise, with the cell that each of them fills. Raises GradingError."""
    if not file_of(folder, slug).is_file():
        return [], []
    made = _exercise(folder, slug)
    cell = made.cell or f"{slug.partition('/')[2]}_answer"
    right, wrong = _right(made), (*_wrong(made), *made.wrong)
    return [_placed(answer, cell) for answer in right], [_placed(answer, cell) for answer in wrong]


def for_judging(folder: Path, made: Exercise) -> str:
    """A module in the place of an exercise's one file, for where nobody draws cases or tries answers.

    It has the rule and the mistakes' words, and nothing of the solution: no patch and no answer.
    """
    place, rule = _place_of_rule(folder, made)
    known = [
        f"    Mistake({one.id!r}, {one.message!r}, {one.hint!r}, patches={('',) if one.patches else ()!r}, "
        f"share={one.share!r}, by_rule={one.by_rule!r}),"
        for one in made.mistakes
    ]
    return "\n".join([
        f"from autograder.exercise import ChoiceQuestion, Exercise, Mistake{'' if place else f', {rule}'}", "",
        *([f"from .{place} import {rule}", ""] if place else []),
        "MISTAKES = [", *known, "]",
        f"SETTINGS = {made.framework!r}, {made.atol!r}, {made.rtol!r}",
        f"QUESTIONS = {list(made.questions)!r}",
        f"PARTS = {made.parts!r}",
        f"EXERCISE = Exercise(lambda generator: [], {rule}, MISTAKES, *SETTINGS, questions=QUESTIONS, parts=PARTS)",
        "",
    ])  # fmt: skip


def _place_of_rule(folder: Path, made: Exercise) -> tuple[str, str]:
    """(module beside the exercise's file, name) of its rule. Raises GradingError where it is in that file alone."""
    beside = f"{package(folder)}.{made.slug.partition('/')[0]}."
    modules = [(where.removeprefix(beside), sys.modules[where]) for where in sorted(sys.modules)
               if where.startswith(f"{beside}_")]  # fmt: skip
    place, _, name = (_named_among(modules, made.rule) or rule_name(folder, made)).rpartition(".")
    return place, name


def _named_among(places: Iterable[tuple[str, types.ModuleType]], rule: Rule | None) -> str:
    """A rule's name behind that of the first place that has it; empty where none has."""
    found = (f"{place}.{name}" for place, module in places for name, value in vars(module).items()
             if value is rule and value is not None and not name.startswith("_"))  # fmt: skip
    return next(found, "").removeprefix(".")


def _right(made: Exercise) -> Iterator[SampleAnswer]:
    for name, how in made.right.items():
        if isinstance(how, SampleAnswer):
            yield replace(how, name=name)
        else:
            yield sample(name, [how] if isinstance(how, str) else how)


def _wrong(made: Exercise) -> Iterator[SampleAnswer]:
    """The answers that the mistakes' patches make."""
    for key, mistake in made.patched():
        yield replace(
            sample(key, mistake.patches),
            share=mistake.share,
            also_costs=mistake.also_costs,
            mistake=mistake.id,
            passes_check=mistake.passes_check,
        )


def sample(name: str, patches: Sequence[Patch | str]) -> SampleAnswer:
    """The solution with these patches, or the text that stands among them."""
    text = next((patch for patch in patches if isinstance(patch, str)), "")
    pairs = [patch for patch in patches if not isinstance(patch, str)]
    changes = tuple((old, new) for old, new in pairs if isinstance(old, str))
    return SampleAnswer(name, text, changes, {place: body for place, body in pairs if not isinstance(place, str)})


def accepted_mutants(folder: Path, slug: str) -> dict[str, str]:
    """Mutants of the solution that may pass: id of one, or name of an operator -> the author's reason.

    Raises GradingError.
    """
    path = file_of(folder, slug)
    if not path.is_file():
        return {}
    accepted = _exercise(folder, slug).accepted
    if not isinstance(accepted, dict) or not all(isinstance(text, str) and text.strip() for text in accepted.values()):
        raise GradingError(f"{path}: accepted must map the id of a mutant to the reason why it may pass, a text")
    return accepted


def _placed(answer: SampleAnswer, cell: str) -> SampleAnswer:
    return answer if answer.cell else replace(answer, cell=cell)


def _exercise(folder: Path, slug: str) -> Exercise:
    path = file_of(folder, slug)
    made = getattr(module(folder, path), "EXERCISE", None)
    if not isinstance(made, Exercise):
        raise GradingError(f"{path} must define EXERCISE, an autograder.exercise.Exercise")
    return replace(made, slug=slug)


def rule_name(folder: Path, made: Exercise) -> str:
    """The name by which the library finds the exercise's rule. Raises GradingError for a rule without one."""
    if made.rule is None:
        return "compare_case"
    assignment = made.slug.partition("/")[0]
    own = _own_rules(folder, assignment)
    if name := _named_among([("", interface), *([(_RULES, own)] if own else [])], made.rule):
        return name
    raise GradingError(
        f"{made.slug}: visible checks and bundles have its rule and no answer; the rule must therefore have a name in "
        f"autograder.exercise, or in {checks_folder(folder.parent) / assignment / _RULES}.py"
    )


def checks_folder(root: Path) -> Path:
    """The package of the visible checks of a course: in its folder, or where it is installed. Imports nothing of it."""
    top, *below = (read_course_file(root).checks or "no checks").split(".")
    here = root.joinpath(top, *below)
    spec = None if here.is_dir() or not top.isidentifier() else find_spec(top)
    places = (spec.submodule_search_locations or []) if spec else []
    return next((found for place in places if (found := Path(place, *below)).is_dir()), here)


def _own_rules(folder: Path, assignment: str) -> types.ModuleType | None:
    """An assignment's own rules; None where it has none."""
    name = f"{_assignment_package(folder, assignment)}.{_RULES}"
    if source_of(name) is None:
        return None
    with _no_bytecode():
        return import_module(name)


def module(folder: Path, path: Path) -> types.ModuleType:
    """The module in a file below ``folder``. Raises GradingError."""
    name = ".".join((package(folder), *path.relative_to(folder).with_suffix("").parts))
    try:
        with _no_bytecode():
            _assignment_package(folder, path.relative_to(folder).parts[0])
            return import_module(name)
    except GradingError:
        raise
    except Exception as error:
        raise GradingError(f"{path} cannot be imported: {told(error)}") from error


def told(error: Exception) -> str:
    """An exception of an author's own code, and the line of their file that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if not any(place in one.filename for place in _LIBRARIES)]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno}: {own[-1].line})" if own else ""
    return f"{type(error).__name__}: {error}{where}"


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Nothing is written into a course by looking at it; and an edit within the same second is seen."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def package(folder: Path) -> str:
    """The name under which the modules below ``folder`` are imported."""
    folder = folder.resolve()
    name = PACKAGE + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    if name not in sys.modules:
        made = types.ModuleType(name, "The exercises of a course.")
        made.__path__ = [str(folder)]
        sys.modules[name] = made
        sys.modules[f"{name}.{_RULES}"] = interface  # what an assignment's own rules import by ``from .._rules``
    return name


def _assignment_package(folder: Path, assignment: str) -> str:
    """The name under which an assignment's modules are imported: its exercises, and its own rules.

    Rules lie beside the visible checks, and are imported from their files: the package there may import torch, and its
    classes are not the judge's.
    """
    name = f"{package(folder)}.{assignment}"
    if name not in sys.modules and (folder / assignment).is_dir():
        made = types.ModuleType(name, "The exercises of an assignment.")
        made.__path__ = [str(folder / assignment), str(checks_folder(folder.parent) / assignment)]
        sys.modules[name] = made
    return name


def folder_of(module: str) -> Path | None:
    """The folder ``exercises/`` that a module of this name lies in; None for every other module."""
    top = sys.modules.get(module.partition(".")[0]) if module.startswith(PACKAGE) else None
    return Path(top.__path__[0]) if top is not None else None


def source_of(module: str) -> Path | None:
    """The file of a module of a course's exercises, or of an assignment's own rules; None where there is no such."""
    folder = folder_of(module)
    if folder is None:
        return None
    names = module.split(".")[1:]
    bases = [folder.joinpath(*names)]
    if len(names) == 2:
        bases.append(checks_folder(folder.parent) / names[0] / names[1])
    files = [file for base in bases for file in (base / "__init__.py", base.with_name(f"{base.name}.py"))]
    return next((file for file in files if file.is_file()), None)


def forget() -> None:
    """Import every exercise anew the next time: for a process in which a course's files have changed."""
    exercises.cache_clear()
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
