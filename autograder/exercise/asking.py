"""How a student's code is run to ask about it, and how the visible check asks.

In a student's kernel the code runs once, watched, and none of its variants; no question keeps which choice is right.
"""

import ast
import contextlib
import io
import json
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .own_code import (
    NOTE,
    OwnCode,
    Source,
    line_of,
    needed,
    parts,
    parts_near,
    read,
    watched,
    watching,
)
from .pack import Pack
from .questions import CodeQuestion, Facts, Noted, digest_of, id_key, questions, same
from .values import TEXT, text_array
from .visible import _quiet, call_of, public_cases

#: The name under which facts are handed over when grading.
SLUG = "questions"
#: Of a value with more numbers only the shape is noted.
_MAX_NUMBERS = 1 << 16
#: So much is noted of code that goes through a loop for every token.
_MAX_NOTES = 120


class _Seen(BaseException):
    """Ends a variant, of which no more is to be seen; no code that tries several ways goes on after it."""


class Notes:
    """Called by a watched copy: notes the first value of each name in each line, and whether its shape stays.

    until: the line and name whose value ends the run.
    """

    def __init__(self, until: tuple[int, str] | None = None) -> None:
        self._until = until
        self.found: dict[tuple[int, str], Noted] = {}
        self.values: dict[tuple[int, str], np.ndarray] = {}

    def __call__(self, line: int, name: str, value: Any) -> Any:
        if isinstance(value, tuple) and name == "return":
            for place, one in enumerate(value):
                self._note((line, f"return {place}"), one)
        else:
            self._note((line, name), value)
        return value

    def _note(self, key: tuple[int, str], value: Any) -> None:
        shape = getattr(value, "shape", None)
        sizes = tuple(map(int, shape)) if isinstance(shape, tuple) else None
        before = self.found.get(key)
        if before is not None:
            steady = before.steady and before.shape == sizes
            self.found[key] = replace(before, steady=steady, times=before.times + 1)
        elif len(self.found) < _MAX_NOTES:
            array = _numbers(value) if sizes else None
            rows = array is not None and is_weights(array)
            if rows and array is not None:
                self.values[key] = array.copy()
            self.found[key] = Noted(*key, sizes, True, rows, bool(rows and array is not None and (array == 0).any()))
            if key == self._until:
                raise _Seen


def _numbers(value: Any) -> np.ndarray | None:
    try:
        array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
    except (RuntimeError, TypeError, ValueError):
        return None
    return array if array.dtype.kind == "f" and 0 < array.size <= _MAX_NUMBERS else None


def is_weights(array: np.ndarray) -> bool:
    """Whether each row is 0 or more and sums to 1, and not everything is 0 or 1."""
    if array.shape[-1] < 2 or not np.isfinite(array).all() or (array < 0).any() or np.isin(array, (0, 1)).all():
        return False
    return bool(np.allclose(array.sum(axis=-1), 1, atol=1e-4))


def shows_hidden(before: np.ndarray, now: np.ndarray | None) -> bool:
    """Whether a variant's weights are not 0 everywhere where they were 0."""
    return now is not None and now.shape == before.shape and bool((now[before == 0] != 0).any())


class OwnCodeQuestions:
    """``check.questions``: asks about the student's own code.

    package: the assignment's package of checks. limited: gives a function that is stopped when it takes too long;
    default, the function itself.
    """

    def __init__(
        self, package: str, limited: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function
    ) -> None:
        self._package, self._library = package, package.partition(".")[0]
        self._limited_questions, self._limited_facts = limited(self.questions), limited(self.facts_of)

    def __call__(self, answers: Any = None, **asked: Any) -> None:
        self._limited_questions(answers, **asked)

    def questions(self, answers: Any = None, **asked: Any) -> None:
        """Print up to three questions; of answers, print that they are recorded.

        asked: exercise -> the student's function or class; the longest that runs is asked about.
        """
        codes = [(exercise, code, kind) for exercise, kind in asked.items() if (code := _own_code(kind)) is not None]
        for exercise, code, kind in sorted(codes, key=lambda one: -one[1].lines):
            if word := watching([code.node], library=self._library):
                print(f"– questions: this code names {word!r}, so it could see that it is watched: none are asked.")
                return
            if ran := self._facts(exercise, code, dict(_globals(kind))):
                facts, _ = ran
                _ask(code, facts, answers if isinstance(answers, dict) else {}, self._sizes(exercise, facts))
                return
        print("– questions: none can be asked. Does your code run? Its own check says what is missing.")

    def hand_over(self, sources: Sequence[Source], asked: Mapping[str, str], student: str = "") -> None:
        """When grading, in a fresh process: run the code and its variants, and leave what they showed for the judge.

        sources: the notebook's code cells; asked: exercise -> the name of the function or class; student: who answered.
        """
        facts = self._limited_facts(sources, asked, student)
        leave(facts, Path(os.environ["AUTOGRADER_ANSWERS"], SLUG))

    def facts_of(self, sources: Sequence[Source], asked: Mapping[str, str], student: str | None = None) -> Facts | None:
        """Of the longest code that runs, with its variants; None where none runs.

        student: whose questions are to be judged, by no more variants than these need; None: all are run.
        """
        codes = [(exercise, code) for exercise, name in asked.items() if (code := find(sources, name)) is not None]
        for exercise, code in sorted(codes, key=lambda one: -one[1].lines):
            before = needed(sources, code)
            own, given = ([node for node, instructors in before if instructors is it] for it in (False, True))
            if word := watching([*own, code.node], given, self._library):
                return Facts(exercise, code.name, watching=word)
            space = _executed([node for node, _ in before])
            if ran := self._facts(exercise, code, space):
                facts, notes = ran
                return replace(facts, lost=self._lost(exercise, code, space, facts, notes, student))
        return None

    def _exercise(self, name: str) -> Pack:
        return public_cases(self._package, name)

    def _sizes(self, exercise: str, facts: Facts) -> list[str]:
        """The settings of the case that stand in a shape: "n_heads = 3"."""
        config = self._exercise(exercise).cases[0].config
        sizes = {size for one in facts.noted for size in one.shape or ()}
        return [f"{name} = {value}" for name, value in config.items() if type(value) is int and value in sizes]

    def _facts(self, exercise: str, code: OwnCode, space: dict[str, Any]) -> tuple[Facts, Notes] | None:
        base = self._run(exercise, code, space, None)
        if base is None or code.main is None:
            return None
        start = code.main.lineno
        given = [one for (line, _), one in base.found.items() if line == start]
        noted = [one for (line, _), one in base.found.items() if line > start or line < start]
        return Facts(exercise, code.name, given, noted), base

    def _lost(
        self, exercise: str, code: OwnCode, space: Mapping[str, Any], facts: Facts, base: Notes, student: str | None
    ) -> list[str]:
        """The parts without which hidden positions get weight.

        student: whose question is to be judged, by its last choice, the one before it and so on, until one is right;
        None: every part is left out in turn.
        """
        asked = next((one for one in questions(code, facts, student or "") if one.kind == "without"), None)
        if facts.weights is None or asked is None:
            return []
        key, numbers, gone = (facts.weights.line, facts.weights.name), parts(code), list[str]()
        near = [part for part, _ in parts_near(code, facts.weights.line)]
        for part in reversed(near if student is None else asked.choices):
            run = self._run(exercise, code, space, numbers[part], key)
            if run is not None and shows_hidden(base.values[key], run.values.get(key)):
                gone.append(part)
                if student is not None:
                    break
        return gone

    def _run(
        self,
        exercise: str,
        code: OwnCode,
        space: Mapping[str, Any],
        without: int | None,
        until: tuple[int, str] | None = None,
    ) -> Notes | None:
        """Call a watched copy as the exercise's check does. until: whose value is all that is asked of this run."""
        notes, pack = Notes(until), self._exercise(exercise)
        call = call_of(self._package, pack, exercise)
        with _quiet(pack.exercise.framework), contextlib.redirect_stdout(io.StringIO()):
            try:
                names = {**space, NOTE: notes}
                exec(compile(watched(code, without), "<own code>", "exec"), names)
                call(names[code.name], pack.inputs(0))
            except Exception:
                return notes if until else None
            except _Seen:
                return notes
        return notes if notes.found else None


def leave(facts: Facts | None, folder: Path) -> None:
    """Write facts into the folder where the judge looks for them."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    data = facts.to_json() if facts else {}
    (folder / "0.safetensors").write_bytes(save({f"{TEXT}facts": text_array(data)}))


def find(sources: Sequence[Source], name: str) -> OwnCode | None:
    """The last definition of ``name`` in a notebook."""
    return next((code for source, _ in reversed(sources) if (code := read(source, name)) is not None), None)


def _executed(before: Sequence[ast.stmt]) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__"}
    for node in before:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compile(ast.Module([node], []), "<own code>", "exec"), space)
    return space


def _functions(kind: Any) -> Iterator[Any]:
    members = vars(kind).values() if isinstance(kind, type) else [kind]
    yield from (one for one in members if hasattr(one, "__code__"))


def _own_code(kind: Any) -> OwnCode | None:
    """The definition of a function or class, from the cell that it was written in."""
    sources = ("".join(linecache.getlines(one.__code__.co_filename)) for one in _functions(kind))
    return next((code for source in sources if (code := read(source, kind.__name__))), None)


def _globals(kind: Any) -> Mapping[str, Any]:
    return next((function.__globals__ for function in _functions(kind)), vars(sys.modules["__main__"]))


# --- what the student sees --------------------------------------------------------------------------------------------


def _ask(code: OwnCode, facts: Facts, answers: Mapping[str, Any], sizes: Sequence[str]) -> None:
    hub_user = "" if "BINDER_REPO_URL" in os.environ else os.environ.get("JUPYTERHUB_USER", "")  # Binder's is random
    student = str(answers.get("student") or hub_user).strip()
    if not id_key(student):
        old = "the questions are others now: " if "token" in answers else ""
        print(f'questions: {old}write own_code = {{"student": "YOUR ID"}} into the cell above, and run both cells.')
        return
    asked = questions(code, facts, student)
    if not asked:
        print("– questions: this code is too short to ask about. That costs nothing.")
        return
    current, answered = digest_of(code, student), answers.get("asked")
    if answered and answered != current:
        print("questions: look again, your code or the id has changed since. These are the questions now.")
    else:
        chosen = {one.kind: str(answers.get(one.kind, "")) for one in asked}
        missing = [one.kind for one in asked if not any(same(chosen[one.kind], choice) for choice in one.choices)]
        if answered and not missing:
            print(
                f"– questions: recorded, {len(asked)} answers. This says nothing about right or wrong: the feedback "
                "does, with the reason."
            )
            return
        if answered:
            print(f"questions: choose one of the choices for {', '.join(repr(kind) for kind in missing)}.")
    _print(code, facts, asked, {"student": student, "asked": current}, sizes)


def _print(
    code: OwnCode, facts: Facts, asked: Sequence[CodeQuestion], about: Mapping[str, str], sizes: Sequence[str]
) -> None:
    given = ", ".join([*(f"{one.name} of shape {one.shape}" for one in facts.given if one.shape), *sizes])
    print(f"\nOn your {code.name}" + (f", called with {given}:" if given else ":"))
    for number, one in enumerate(asked, start=1):
        print(f"\n{number}. {one.kind}: {one.text}")
        for choice in one.choices:
            line = code.line(line_of(choice)) if one.kind == "becomes" else ""
            print(f"     {choice}" + (f"    {line}" if line else ""))
    print("\nCopy this into the cell above and write one choice between each pair of quotes:\n")
    rows = {**about, **{one.kind: "" for one in asked}}
    print("own_code =", json.dumps(rows, ensure_ascii=False, indent=4))
