"""Keys found a second time, in a way of its own: the cell's plain text is run, and its variables are looked at from
outside, line by line; parts are taken out of the text itself.
"""

import ast
import contextlib
import io
import re
import sys
from types import FrameType
from typing import Any

import numpy as np

from autograder.exercise import asking, own_code
from autograder.exercise.questions import CodeQuestion
from course.check._rules.visible import call_of, public_cases
from tests.questions.measured import Asked

SEE = "see_this"


def problem(asked: Asked, question: CodeQuestion, right: str) -> str:
    """What speaks against the key; empty where nothing does."""
    found = {"passes": _passes, "becomes": _becomes, "without": _without}.get(question.kind, _shape)
    others = [choice for choice in question.choices if choice == right]
    return "not one of its choices" if len(others) != 1 else found(asked, question, right)


def _shape(asked: Asked, question: CodeQuestion, right: str) -> str:
    name, line = _subject(question.subject)
    seen = _values(asked, name, line)
    return "" if seen and all(str(tuple(one.shape)) == right for one in seen) else f"it is {[s.shape for s in seen]}"


def _passes(asked: Asked, question: CodeQuestion, right: str) -> str:
    """The line is counted by a word before it."""
    assert asked.code is not None and asked.facts is not None
    lines, at = asked.code.source.split("\n"), own_code.line_of(question.subject) - 1
    lines[at] = re.sub(r"^\s*", rf"\g<0>{SEE}(...); ", lines[at])
    times = len(_traced(asked, "\n".join(lines))[1]) // asked.facts.given[0].times
    return "" if str(times) == right else f"it is run {times} times"


def _becomes(asked: Asked, question: CodeQuestion, right: str) -> str:
    """No variable that is there before the line has such a value."""
    line, shape = own_code.line_of(right), re.search(r"shape (\(.*\))", question.subject)
    for at, _, value in _traced(asked, asked.code.source if asked.code else "")[0]:
        is_it = str(tuple(value.shape)) == shape[1] if shape else _sums_to_one(value)
        if at < line and is_it:
            return f"line {at} has one"
    return ""


def _without(asked: Asked, question: CodeQuestion, right: str) -> str:
    assert asked.facts is not None and asked.code is not None and asked.facts.weights is not None
    weights = asked.facts.weights
    base = _values(asked, weights.name, weights.line, "")
    for choice in reversed(question.choices):
        seen = _values(asked, weights.name, weights.line, choice)
        same = bool(seen) and bool(base) and seen[0].shape == base[0].shape and _sums_to_one(seen[0])
        lost = same and bool((np.asarray(seen[0])[np.asarray(base[0]) == 0] != 0).any())
        if lost or choice == right:
            return "" if lost and choice == right else f"{choice} loses it: {lost}"
    return "no choice loses it"


def _sums_to_one(value: Any) -> bool:
    array = np.asarray(value)
    if array.dtype.kind != "f" or not array.ndim or array.shape[-1] < 2 or set(np.unique(array)) <= {0, 1}:
        return False
    return bool(np.all(array >= 0) and np.allclose(array.sum(-1), 1, atol=1e-4))


def _subject(subject: str) -> tuple[str, int]:
    found = re.fullmatch(r"`(.*)` in line (\d+)", subject)
    assert found
    return found[1], int(found[2])


def _values(asked: Asked, name: str, line: int, without: str = "") -> list[Any]:
    """The values of a variable after a line, or of a step in it; one part may be taken out of the text."""
    assert asked.code is not None
    source = asked.code.source
    span = None if name.isidentifier() and name != "return" else _span_of_text(source, name, line)
    text = _edited(asked, span, without)
    traced, seen = _traced(asked, text, None if span else (line, name))
    if span is not None or "return" in name:
        return seen
    return [value for at, own, value in traced if own == name and at == line]


def _span(source: str, node: Any) -> tuple[int, int]:
    lines = source.split("\n")
    starts = [sum(len(one) + 1 for one in lines[:number]) for number in range(len(lines))]

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)


def _span_of_text(source: str, text: str, line: int) -> tuple[int, int]:
    """Of the step whose text this is in that line; of what a line returns."""
    for node in ast.walk(own_code.tree_of(source)):
        if text == "return" or text.startswith("return "):
            if isinstance(node, ast.Return) and node.lineno == line and node.value is not None:
                value = node.value
                return _span(source, value.elts[int(text.split()[1])] if text != "return" else value)  # type: ignore[attr-defined]
        elif (
            isinstance(node, ast.BinOp | ast.Call)
            and node.lineno == line
            and " ".join((ast.get_source_segment(source, node) or "").split()) == text
        ):
            return _span(source, node)
    raise AssertionError(f"line {line} has no {text}")


def _edited(asked: Asked, span: tuple[int, int] | None, without: str) -> str:
    assert asked.code is not None
    text, edits = asked.code.source, list[tuple[int, int, str]]()
    if span is not None:
        edits += [(span[1], 1, ")"), (span[0], -1, f"{SEE}(")]
    if without:
        node = next(node for node, label in own_code._removable(asked.code) if label == without)
        start, end = _span(text, node)
        if isinstance(node, ast.stmt):
            return text[:start] + "pass" + text[end:]
        kept = _span(text, own_code.left(node))
        gone = [(start, kept[0]), (kept[1], end)]
        if any(a < at < b for at, _, _ in edits for a, b in gone):
            edits = []
        outside = span is not None and span[0] <= start and span[1] >= end
        pieces: list[str] = []
        for at in range(len(text) + 1):
            closing = [word for place, side, word in edits if place == at and side > 0]
            opening = [word for place, side, word in edits if place == at and side < 0]
            pieces += [")", *closing] if at == end and outside else [*closing, *[")"] * (at == end)]
            pieces += [*opening, "("] if at == start and outside else [*["("] * (at == start), *opening]
            if at < len(text) and not any(a <= at < b for a, b in gone):
                pieces.append(text[at])
        return "".join(pieces)
    for at, _, word in sorted(edits, reverse=True):
        text = text[:at] + word + text[at:]
    return text


class _Enough(BaseException):
    """All that is wanted of a run was seen."""


def _traced(
    asked: Asked, text: str, wanted: tuple[int, str] | None = None
) -> tuple[list[tuple[int, str, Any]], list[Any]]:
    """(line, variable, first value after it) of arrays, and what went through ``SEE``.

    wanted: the line and variable after which the run ends; without, it ends with the first that goes through ``SEE``.
    """
    assert asked.code is not None
    file, found, seen = "<plain text>", dict[tuple[int, str], Any](), list[Any]()
    sets = [
        (one.lineno, one.end_lineno or 0, name)
        for one in ast.walk(own_code.tree_of(text))
        if isinstance(one, ast.stmt)
        for name in own_code.names_set(one)
    ]

    def see(value: Any) -> Any:
        if isinstance(getattr(value, "shape", None), tuple):
            seen.append(_kept(value))
            raise _Enough
        seen.extend([...] if value is ... else [])
        return value

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        last = 0

        def lines(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            for first, end, name in sets:
                value = frame.f_locals.get(name)
                if first <= last <= end and isinstance(getattr(value, "shape", None), tuple):
                    found.setdefault((first, name), _kept(value))
            if wanted in found:
                raise _Enough
            last = frame.f_lineno
            return lines

        return lines if frame.f_code.co_filename == file else None

    with contextlib.suppress(Exception, _Enough), contextlib.redirect_stdout(io.StringIO()):
        space = asking._executed([node for node, _ in own_code.needed(asked.style.sources, asked.code)])
        space[SEE] = see
        exec(compile(text, file, "exec"), space)
        _call(asked.style.slug, space[asked.code.name], trace)
    return [(line, name, value) for (line, name), value in found.items()], seen


def _call(slug: str, kind: Any, trace: Any) -> None:
    assignment, _, exercise = slug.partition("/")
    package = f"course.check.{assignment}"
    pack = public_cases(package, exercise)
    before = sys.gettrace()
    with asking._quiet(pack.exercise.framework):
        sys.settrace(trace)
        try:
            call_of(package, pack, exercise)(kind, pack.inputs(0))
        finally:
            sys.settrace(before)


def _kept(value: Any) -> Any:
    return np.array(value.detach() if hasattr(value, "detach") else value)
