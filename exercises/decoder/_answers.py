"""What the sample answers share: short ways to write them down."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent

from autograder.exercise import SampleAnswer

Change = tuple[str, str]


def right(name: str, *changes: Change) -> SampleAnswer:
    """The instructor's solution with (old, new) replacements that leave it right."""
    return SampleAnswer(name, changes=changes)


def wrong(name: str, mistake: str, *changes: Change, points: float = 0, unseen: bool = False) -> SampleAnswer:
    """The instructor's solution with (old, new) replacements."""
    return SampleAnswer(name, changes=changes, points=points, mistake=mistake, unseen=unseen)


def function(name: str, head: str, lines: str) -> SampleAnswer:
    """A right function: ``head`` is what stands behind ``def``."""
    return SampleAnswer(name, f"def {head}:\n" + indent(dedent(lines).strip("\n"), "    "))


def module(name: str, title: str, init: str, init_lines: str, forward: str, lines: str) -> SampleAnswer:
    """A right class; ``init`` and ``forward`` are the arguments behind self."""
    text = f"class {title}(nn.Module):\n    def __init__(self, {init}):\n        super().__init__()\n"
    text += indent(dedent(init_lines).strip("\n"), " " * 8) + f"\n\n    def forward(self, {forward}):\n"
    return SampleAnswer(name, text + indent(dedent(lines).strip("\n"), " " * 8))


def functions(head: str, bodies: Mapping[str, str]) -> list[SampleAnswer]:
    """Right functions. bodies: name of the answer -> the function's body, in any indentation"""
    return [SampleAnswer(name, _definition(head, body)) for name, body in bodies.items()]


def wrong_functions(head: str, *answers: tuple[str, str, str], body: str = "return {code}") -> list[SampleAnswer]:
    """answers: (name, code, mistake); ``body`` is the function's body, with a place for the code."""
    return [
        SampleAnswer(name, _definition(head, dedent(body).replace("{code}", code)), points=0, mistake=mistake)
        for name, code, mistake in answers
    ]


def methods(kind: str, head: str, bodies: Mapping[str, str]) -> list[SampleAnswer]:
    """Right classes with one method. kind: the line ``class …:``"""
    return [SampleAnswer(name, _class(kind, head, body)) for name, body in bodies.items()]


def wrong_methods(kind: str, head: str, *answers: tuple[str, str, str]) -> list[SampleAnswer]:
    """Wrong classes with one method. answers: (name, body, mistake)"""
    return [SampleAnswer(name, _class(kind, head, body), points=0, mistake=mistake) for name, body, mistake in answers]


def _definition(head: str, body: str) -> str:
    return f"{head}\n{indent(dedent(body).strip(), '    ')}\n"


def _class(kind: str, head: str, body: str) -> str:
    return f"{kind}\n{indent(_definition(head, body), '    ')}"
