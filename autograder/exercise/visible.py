"""Visible checks that are made of packs: the rule that grading has, on public cases.

``autograder references`` writes the packs into the course's library for students, whose package ``_rules`` is this
package: the grader's own where that is installed, else a copy. No hidden case is needed. A course's checks by hand fail
and pass in the same way.
"""

import dis
import io
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .case_inputs import names_around
from .compare import PROPERTY
from .hints import hint_about
from .model import Case, Earned, Rule
from .pack import Found, Pack, judge_public, pack_names, read_pack, unpack
from .rules import READY
from .values import NotComparable

#: The folder of the package of visible checks that this package lies in, by its name if not by its place.
CHECKS = Path(str(sys.modules[str(__package__)].__file__)).parents[1]
_LIBRARY = (CHECKS, *CHECKS.parents)[str(__package__).count(".") - 1]
_NOT_THE_STUDENTS = (
    "site-packages", "dist-packages", "/lib/python", f"{_LIBRARY}{os.sep}", f"{Path(__file__).parent}{os.sep}"
)  # fmt: skip
_PACKS = "_packs"
#: Of a row with more numbers the first are shown.
MAX_NUMBERS = 8
#: Of more settings than these none are shown where there are inputs; else those that are not the same in all cases.
MAX_SETTINGS = 4
SHAPES = "Print the shape after every step."


@dataclass(frozen=True)
class Lost:
    """What a part of a whole earned whose own check refuses it."""

    points: float = 0.0
    max_points: float = 1.0


class CheckFailed(AssertionError):
    """A check that says what was expected, what came, and where to look; Jupyter shows just that."""

    def __init__(self, name: str, expected: str, came: str, look: str = "") -> None:
        self.name, self.expected, self.came, self.look = name, expected, came, look
        super().__init__("\n".join(line for line in (f"{name}: {expected}", came, look) if line))

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this in place of forty lines of traceback; the cause comes last where there is one
        lines = [f"CheckFailed  {self}"]
        if self.__cause__ is not None:
            import traceback

            frames = traceback.extract_tb(self.__cause__.__traceback__)
            own = [frame for frame in frames if is_own(frame.filename)]
            lines += [
                "",
                *(f"  line {frame.lineno}, in {frame.name}: {frame.line or ''}" for frame in own[-3:]),
                f"  {type(self.__cause__).__name__}: {self.__cause__}",
            ]
        return lines


def passed(name: str, *what: str) -> None:
    """Print what was looked at and found right."""
    print(f"✓ {name}: " + ", ".join(what))


@contextmanager
def running(name: str, doing: str, look: str = "") -> Iterator[None]:
    """Turns whatever the student's code raises into a CheckFailed that says what was being done.

    A stub is told apart: the cell is simply not filled in yet.
    """
    try:
        yield
    except CheckFailed:
        raise
    except NotComparable as error:
        raise CheckFailed(name, str(error), "", hint_about("NotComparable", str(error))) from error
    except Exception as error:
        if is_stub(error):
            raise CheckFailed(
                name, "this part is not filled in yet.", "Replace 'raise NotImplementedError()' by your code."
            ) from error
        came = f"It stopped with {type(error).__name__}: {error}"
        hint = hint_about(type(error).__name__, str(error))
        own = look if look != SHAPES else ""  # an author's own words come first
        raise CheckFailed(name, f"{doing} should work.", came, f"{own} {hint}".strip() or look) from error


def is_stub(error: BaseException) -> bool:
    """Whether a ``raise`` in the student's own code raised this NotImplementedError.

    Libraries raise it for other reasons: torch does where a module has no ``forward``.
    """
    if not isinstance(error, NotImplementedError) or (trace := error.__traceback__) is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return is_own(code.co_filename) and code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def is_own(filename: str) -> bool:
    """Whether a file with code is the student's: a cell, or a file beside the notebook."""
    return not filename.startswith("<frozen") and not any(place in filename for place in _NOT_THE_STUDENTS)


def checks(package: str, path: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """name -> check, of an assignment: made of a pack, or by hand in a module with a function of its name.

    package, path: ``__name__`` and ``__path__`` of the assignment's package; its ``calls``, and modules whose name
    begins with an underscore, are no checks. All modules are imported at once: one that was imported later would take
    its function's place in the package.
    """
    names = [module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")]
    modules = {name: import_module(f"{package}.{name}") for name in names}
    by_hand = {name: getattr(module, name) for name, module in modules.items() if name != "calls"}
    return {**generated(package), **by_hand}


def generated(package: str) -> dict[str, Callable[..., Any]]:
    """name -> check, for every pack of an assignment. package: its package of checks."""
    return {name: check_of(package, name) for name in pack_names(_archive(package))}


def _archive(package: str) -> Path:
    """The packs of an assignment, by its package of checks."""
    return CHECKS / _PACKS / f"{package.rpartition('.')[2]}.zip"


def check_of(package: str, name: str, *, as_it_stands: bool = False) -> Callable[..., None]:
    """The check of an exercise that has a pack. as_it_stands: no mistake in a part of a whole is passed over."""

    def check(*given: Any) -> None:
        pack = public_cases(package, name)
        call = call_of(package, pack, name)

        handed: dict[int, Mapping[str, Any]] = {}

        def called(case: Any) -> Mapping[str, Any]:
            here, first = (_described(pack.cases[index], pack.cases) for index in (case.index, 0))
            other = f"With {first} it runs: what is different here?" if first != here else SHAPES
            with running(name, here, other):
                handed[case.index] = call(*given, case)
            return handed[case.index]

        with _quiet(pack.exercise.framework):
            try:
                found = judge_public(pack, called, {} if as_it_stands else _lost_parts(package, pack, given))
            except CheckFailed as stopped:
                if stopped.__cause__ is not None and not is_stub(stopped.__cause__):
                    _explain(package, name, given)
                raise
        if found.earned < 1:
            first = found.checks[0]
            if not first.mistake and _is_comparable(found):
                with _quiet(pack.exercise.framework):
                    _explain(package, name, given)
            raise CheckFailed(name, first.message, _seen(found, pack.cases), first.hint)
        with _quiet(pack.exercise.framework):
            notes = _notes(package, name, given)
        passed(name, *pack.exercise.shows, *notes)
        if any(key.startswith(READY) for answers in handed.values() for key in answers):
            _mention_earlier_part(pack, handed)

    check.__name__ = check.__qualname__ = name
    return check


def _lost_parts(package: str, pack: Pack, given: tuple[Any, ...]) -> dict[str, Earned]:
    """The parts of a whole that do not pass their own checks: by their slugs, as if they had lost their points."""
    lost: dict[str, Earned] = {}
    parts = pack.exercise.parts
    for name, slug in zip(parts, pack.exercise.slugs_of_parts, strict=True):
        with redirect_stdout(io.StringIO()):
            try:
                part = [names_around(given[0])[parts[name]]] if isinstance(parts, Mapping) else given
                getattr(import_module(package), name)(*part)
            except Exception:
                lost[slug] = Lost()
    return lost


def call_of(package: str, pack: Pack, name: str) -> Callable[..., Mapping[str, Any]]:
    """How an exercise is called: as it says itself, or by the function of its name in the module ``calls``."""
    if pack.exercise.given:
        return lambda target, case: case.called(target)
    call: Callable[..., Mapping[str, Any]] = getattr(import_module(f"{package}.calls"), name)
    return call


def _mention_earlier_part(pack: Pack, handed: Mapping[int, Mapping[str, Any]]) -> None:
    """Say so where the answer is right only with ready-made earlier parts."""
    own = [{key: value for key, value in answers.items() if not key.startswith(READY)} for answers in handed.values()]
    found = judge_public(pack, lambda case: own[case.index])
    if found.earned < 1:
        print(f"  A thought: it is right with ready-made earlier parts. With yours: {found.checks[0].message}")


def _explain(package: str, name: str, given: tuple[Any, ...]) -> None:
    """Where no known mistake has been made: raises CheckFailed for a property that the answer lacks.

    Properties are in the package's module ``_properties``, in a function of the exercise's name.
    """
    properties = getattr(import_module(package), "_properties", None)
    if has_property := getattr(properties, name, None):
        try:
            has_property(*given)
        except CheckFailed:
            raise
        except Exception:  # an answer of another shape, say: the rule's own words fit better
            return


def _notes(package: str, name: str, given: tuple[Any, ...]) -> list[str]:
    """What is worth a word where the answer is right: from the properties' function ``<name>_notes``."""
    properties = getattr(import_module(package), "_properties", None)
    notes: Callable[..., list[str]] = getattr(properties, f"{name}_notes", lambda *given: [])
    return notes(*given)


@lru_cache
def public_cases(package: str, name: str) -> Pack:
    """The pack of an exercise of the assignment with this package of checks."""

    def rule(called: str) -> Rule:
        module = import_module(f"{package}._rules" if called.startswith("_rules.") else __name__.rpartition(".")[0])
        found: Rule = getattr(module, called.rpartition(".")[2])
        return found

    return unpack(read_pack(_archive(package), name), f"{package.rpartition('.')[2]}/{name}", rule)


@contextmanager
def _quiet(framework: str) -> Iterator[None]:
    """A check does not move torch's random numbers on: a seeded notebook stays seeded.

    Nor those of a GPU: torch.manual_seed would seed these too, and nothing here puts them back.
    """
    if framework != "torch":
        yield
        return
    torch = import_module("torch")  # exercises with tensors need it, nothing else does

    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


def _is_comparable(found: Found) -> bool:
    """Whether answers of the right shapes came: of others, the rule's own words say enough."""
    shapes = {name: array.shape for name, array in found.answers.items()}
    return all(shapes.get(name) == array.shape for name, array in found.where.expected.items())


def _described(case: Case, cases: Sequence[Case]) -> str:
    """The case in a few words: its settings, and the shapes of its inputs, but for those that stand for other parts.

    Inputs of one shape are named together: four matrices of weights need not hide the one that matters.
    """
    settings = {key: value for key, value in case.config.items() if isinstance(value, int | float | str)}
    alike: dict[tuple[int, ...], list[str]] = {}
    for key, x in case.inputs.items():
        if not key.startswith("stand_in"):
            alike.setdefault(x.shape, []).append(key)
    names = [f"{', '.join(keys[:-1])} and {keys[-1]}" if len(keys) > 1 else keys[0] for keys in alike.values()]
    shapes = [f"{keys} of shape {shape}" for keys, shape in zip(names, alike, strict=True)]
    if len(settings) > MAX_SETTINGS:
        varied = {key for key in settings if any(other.config.get(key) != settings[key] for other in cases)}
        settings = {key: settings[key] for key in settings if key in varied and not shapes}
    return ", ".join([*(f"{key} = {value}" for key, value in settings.items()), *shapes])


def _seen(found: Found, cases: Sequence[Case]) -> str:
    """Where it was seen, with the first row of numbers that differs: the case is a public one."""
    lines = [f"Seen with {_described(found.where, cases)}."]
    main = {name: want for name, want in found.where.expected.items() if not name.startswith(PROPERTY)}
    for name, want in main.items():
        got = found.answers.get(name)
        if got is None or got.shape != want.shape or want.dtype.kind != "f" or not want.ndim:
            continue
        for place in np.ndindex(want.shape[:-1]):
            if not np.allclose(got[place], want[place], atol=1e-4, rtol=1e-3):
                row = f" in row {', '.join(map(str, place))}" if place else ""
                lines.append(f"Yours has {_numbers(got[place])}{row}; right is {_numbers(want[place])}.")
                return "\n".join(lines)
    return "\n".join(lines)


def _numbers(row: np.ndarray) -> str:
    shown = " ".join(f"{value:.3g}" for value in row[:MAX_NUMBERS])
    return shown + (" …" if row.size > MAX_NUMBERS else "")
