"""What the sample answers share: short ways to write them down."""

from __future__ import annotations

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
