"""Where a command speaks: lines and tables for people, one JSON document for a program."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from autograder.model.plain_text import one_line

if TYPE_CHECKING:
    import typer
    from rich.console import Console
    from rich.table import Table

    from autograder.model.course import Course


#: Seconds after which long work says how far it is, where there is no terminal.
SAY_EVERY = 30.0


class Output:
    """Speaks on stdout; with ``--json`` the document is alone there, with ``--quiet`` only what is wrong is said.

    width: of tables that go to a file, in characters.
    """

    def __init__(self, context: "typer.Context", *, as_json: bool = False, width: int = 140) -> None:
        self.quiet, self.as_json, self.width = context.obj.quiet, as_json, width

    @cached_property
    def console(self) -> "Console":
        """For tables and progress. Silent with ``--quiet``, on stderr with ``--json``."""
        return self._console(to_stderr=self.as_json, quiet=self.quiet)

    @cached_property
    def problems(self) -> "Console":
        """For what is wrong: never silent."""
        return self._console(to_stderr=self.as_json or self.quiet, quiet=False)

    def _console(self, *, to_stderr: bool, quiet: bool) -> "Console":
        from rich.console import Console

        isatty = (sys.stderr if to_stderr else sys.stdout).isatty()
        return Console(stderr=to_stderr, quiet=quiet, width=None if isatty else self.width)

    def table(self, *columns: str, title: str | None = None) -> "Table":
        """A table with these columns. Numbers stand on the right in a column whose name is given as ``>name``."""
        from rich.table import Table

        made = Table(title=title)
        for name in columns:
            if name.startswith(">"):
                made.add_column(name[1:], justify="right", no_wrap=True)
            else:
                made.add_column(name, overflow="fold")
        return made

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[..., None]]:
        """Takes how many are done, of how many, and a word on them: a bar on a terminal, elsewhere a line now and then.

        what: answers, say.
        """
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        last = time.monotonic()

        def line(done: int, of: int, about: str = "") -> None:
            nonlocal last
            if time.monotonic() - last >= SAY_EVERY:
                last = time.monotonic()
                self.console.print(f"{what}: {done} of {of}  {about}".rstrip(), highlight=False, soft_wrap=True)

        if not self.console.is_terminal:
            yield line
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, TextColumn("{task.fields[about]}"), console=self.console, transient=True) as shown:
            task = shown.add_task(what, total=None, about="")
            yield lambda done, of, about="": shown.update(task, completed=done, total=of, about=about)

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


def warn_of_standing(output: Output, course: "Course", *assignments: str) -> int:
    """Say on stderr which grades must not pass unnoticed; exit code 1 where something newer was handed in."""
    from autograder.classroom.status import handed_in_newer, stale_grade_warnings

    code = 0
    for assignment in assignments:
        newer = handed_in_newer(course, assignment)
        for remark in stale_grade_warnings(course, assignment, newer=newer):
            before = f"{assignment}: " if len(assignments) > 1 else ""
            output.warn(f"autograder: {one_line(before + remark)}")
        code = 1 if newer else code
    return code
