"""Where a command speaks: lines and tables for people, one JSON document for a program."""

from __future__ import annotations

import json
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

from autograder.model.plain_text import one_line

if TYPE_CHECKING:
    import typer
    from rich.console import Console
    from rich.table import Table

    from autograder.model.course import Course


class Output:
    """Speaks on stdout; with ``--json`` the document is alone there, with ``--quiet`` only what is wrong is said.

    width: of tables that go to a file, in characters.
    """

    def __init__(self, context: typer.Context, *, as_json: bool = False, width: int = 140) -> None:
        self.quiet, self.as_json, self.width = context.obj.quiet, as_json, width

    @cached_property
    def console(self) -> Console:
        """For tables and progress. Silent with ``--quiet``, on stderr with ``--json``."""
        return self._console(to_stderr=self.as_json, quiet=self.quiet)

    @cached_property
    def problems(self) -> Console:
        """For what is wrong: never silent."""
        return self._console(to_stderr=self.as_json or self.quiet, quiet=False)

    def _console(self, *, to_stderr: bool, quiet: bool) -> Console:
        from rich.console import Console

        isatty = (sys.stderr if to_stderr else sys.stdout).isatty()
        return Console(stderr=to_stderr, quiet=quiet, width=None if isatty else self.width)

    def table(self, *columns: str, title: str | None = None) -> Table:
        """A table with these columns. Numbers stand on the right in a column whose name is given as ``>name``."""
        from rich.table import Table

        made = Table(title=title)
        for name in columns:
            if name.startswith(">"):
                made.add_column(name[1:], justify="right", no_wrap=True)
            else:
                made.add_column(name, overflow="fold")
        return made

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr if self.as_json else sys.stdout)

    def problem(self, text: str) -> None:
        print(text, file=sys.stderr if self.as_json or self.quiet else sys.stdout)

    def warn(self, text: str) -> None:
        print(text, file=sys.stderr)

    def document(self, content: dict[str, Any]) -> None:
        """Print the answer for a program. Does nothing without ``--json``."""
        if self.as_json:
            print(json.dumps(content, indent=1))


def counted(number: int) -> str:
    """So many students, in words."""
    return f"{number} student{'' if number == 1 else 's'}"


def warn_of_standing(output: Output, course: Course, assignment: str) -> None:
    """Say on stderr which grades must not pass unnoticed."""
    from autograder.classroom.stale_grades import stale_grade_warnings

    for remark in stale_grade_warnings(course, assignment):
        output.warn(f"autograder: {one_line(remark)}")
