"""The verdict on a plain test cell: by how it ended, and in words that show no expected value.

Of a hidden test a student reads only what its author says in it.
"""

import re
from dataclasses import replace

from autograder.assignment.solution_run import SolutionRun
from autograder.exercise.hints import hint_about
from autograder.model.verdict import CellVerdict, Check, Status
from autograder.pipeline.outcomes import PartOutcome, TestOutcome
from autograder.pipeline.steps import parts_of

#: A message holds words of the student's own errors; no more of them than this.
MAX_MESSAGE = 500
NOT_FILLED_IN = "Not filled in yet.", "Replace 'raise NotImplementedError()' by your own code."
TOO_LONG = (
    "Your code took too long here.",
    "A loop that never ends, or one that takes far more steps than are needed?",
)
DIED = "Your code ended the Python process here.", "os._exit, a crash in native code, or far too much memory?"
NO_TIME = "This part was not reached: the time for the whole notebook was up.", "Which cell above takes so long?"
_TRY = "Run this cell yourself: it shows the line."
#: Points that are sums of fractions are compared up to this share of them.
_ROUNDING = 1e-9
#: Of a test that shows a part of its points where hidden tests run beside the student's code: message and hint.
PART_OF_IT = "This test gives a part of its points; a person looks at how many.", ""
#: Of a test that a person looks at, and why.
OTHER_VALUES = (
    "This test holds, and a person looks at it: on the way your code gave something else than the solution does.",
    "Nothing is lost; that happens with other right answers, too.",
)
NOT_OUTSIDE = (
    "A person looks at this test: it holds beside your code, and not where your code is only asked for its results.",
    "Does it return plain values of the type that the text asks for?",
)
_AGAIN = "This test did not hold when your notebook was run once more, from top to bottom."


def judge_test(
    name: str,
    points: float,
    test: TestOutcome,
    source: str,
    hidden: bool = False,
    solution: SolutionRun | None = None,
    text: str = "",
) -> CellVerdict:
    """By what reached the test, beside what the solution gave; or by the student's kernel where that judges alone.

    source: the student's own code; hidden: whether the cell has hidden tests; text: of the cell.

    A test that holds for other values than the solution's waits for a person. So does one that could not be asked to
    its end, and one that holds beside the student's code, and not outside of it.
    """
    if test.judged == "kernel":
        inside = test.inside or TestOutcome("kernel", PartOutcome("skipped"))
        if test.ended.status != "ok" and not earned(inside, points):
            return replace(_verdict(name, points, test, source), refused=test.refused)
        return replace(_in_kernel(name, points, inside, hidden), judged="kernel", seconds=test.ended.seconds)
    found = replace(_verdict(name, points, test, source), refused=test.refused)
    if found.points:
        differences = solution.differences(test.visits, test.marks, test.result) if solution is not None else []
        if not differences:
            return found
        where = where_in(text, differences[0].place)
        return _waiting(found, found.points, f"{where}{': ' if where else ''}{differences[0]}", OTHER_VALUES)
    if points and test.ended.status == "error" and (test.refused or test.seen):
        return _waiting(found, points, test.refused or _what_failed(test), NOT_OUTSIDE)
    return found


def where_in(text: str, place: str) -> str:
    """The expression of a test cell at which values differ, or the name, or the check; empty where it is none."""
    kind, _, rest = place.partition(" ")
    if kind in ("name", "check"):
        return rest.partition(" ")[2] if kind == "check" else rest
    position = re.match(r"(\d+)\.(\d+):(\d+)-(\d+)", place)
    if position is None:
        return "" if place == "result" else place
    part, line, start, end = map(int, position.groups())
    pieces = parts_of(text)
    lines = pieces[part - 1].source.split("\n") if part <= len(pieces) else []
    shown = lines[line - 1].encode() if line <= len(lines) else b""
    return shown[start : end if end > start else None].decode(errors="replace").strip()


def _waiting(found: CellVerdict, points: float, why: str, said: tuple[str, str]) -> CellVerdict:
    """For a person. ``offered`` are the points that one key gives; why: for instructors alone."""
    return replace(
        found, status="manual", points=None, checks=(Check(found.cell, False, *said),), offered=points, refused=why
    )


def _in_kernel(name: str, points: float, inside: TestOutcome, hidden: bool) -> CellVerdict:
    """The verdict of the kernel that holds hidden tests beside the student's code: whether the cell held, one bit.

    Nothing that this kernel shows becomes a student's points or words: both could be a hidden value. So a number
    between nothing and all of the points waits for a person, who reads it in ``offered``.
    """
    if inside.ended.status not in ("ok", "error"):
        check = Check(name, False, *_why(inside, ""))
        status: Status = inside.ended.status if inside.ended.status in ("crashed", "timeout") else "failed"
        return CellVerdict(name, status, 0.0, points, (check,))
    held, reached = inside.ended.status == "ok", earned(inside, points)
    if held and reached == points:
        return CellVerdict(name, "passed", points, points, (Check(name, True),))
    if held and reached:
        return CellVerdict(name, "manual", None, points, (Check(name, False, *PART_OF_IT),), offered=reached)
    why = "A hidden test failed." if hidden else _AGAIN
    return CellVerdict(name, "failed", 0.0, points, (Check(name, False, why),))


def _what_failed(test: TestOutcome) -> str:
    """For the instructor, of a test that the tester did not refuse."""
    where = f" in: {test.statement}" if test.statement else ""
    return f"{test.ended.ename}{where}" if test.ended.status != "ok" else ""


def earned(test: TestOutcome, points: float) -> float:
    """nbgrader's rule: an error is no points, a number as the cell's result that many, anything else all of them."""
    if not points or test.ended.status != "ok" or beyond(test, points):
        return 0.0
    if test.result is None or abs(test.result - points) <= _ROUNDING * points:
        return points
    return max(0.0, test.result)


def _verdict(name: str, points: float, test: TestOutcome, source: str) -> CellVerdict:
    """By how it ended alone."""
    seconds, judged = test.ended.seconds, test.judged
    if test.ended.status != "ok":
        status: Status = test.ended.status if test.ended.status in ("crashed", "timeout") else "failed"
        return CellVerdict(name, status, 0.0, points, (Check(name, False, *_why(test, source)),), seconds, judged)
    if beyond(test, points):
        said = f"The result of this cell must be a number from 0 to its {points:g} points, and is not."
        return CellVerdict(name, "failed", 0.0, points, (Check(name, False, said),), seconds, judged)
    reached = earned(test, points)
    if reached == points:
        return CellVerdict(name, "passed", points, points, (Check(name, True),), seconds, judged)
    check = Check(name, False, f"The tests give {reached:g} of {points:g} points.")
    return CellVerdict(name, "partial" if reached else "failed", reached, points, (check,), seconds, judged)


def beyond(test: TestOutcome, points: float) -> bool:
    """Whether a cell ended well with a number that is no points of it."""
    if test.ended.status != "ok" or test.result is None or not points:
        return False
    return not -_ROUNDING * points <= test.result <= points * (1 + _ROUNDING)


def _why(test: TestOutcome, source: str) -> tuple[str, str]:
    """(message, hint) for a test that did not come to its end."""
    ended = test.ended
    if ended.status == "skipped":
        return NO_TIME
    if ended.status == "timeout":
        return TOO_LONG
    if ended.status == "crashed":
        return DIED
    if is_stub(ended):
        return NOT_FILLED_IN
    if ended.ename == "NameError":
        hint = "Is it spelt as the comment asks for? Is the cell that defines it there, and valid Python?"
        return bounded("A name is missing" + (f": {ended.evalue}" if not test.hidden else ".")), hint
    if test.own:
        return _stopped(test, source)
    gave = f"Your code gave {', then '.join(test.came)}." if test.came else _TRY
    return _failed(test), "" if test.hidden else bounded(gave)


def is_stub(ended: PartOutcome) -> bool:
    """Whether a part was left as it was handed out. Libraries raise NotImplementedError as well, for other reasons."""
    return ended.ename == "NotImplementedError" and ended.raised[1].startswith("raise NotImplementedError")


def _stopped(test: TestOutcome, source: str) -> tuple[str, str]:
    """An exception that came out of the student's code."""
    ended = test.ended
    where = "in a hidden test" if test.hidden else f"in: {test.statement}" if test.statement else "here"
    said = "" if test.hidden else f": {ended.evalue}"
    line = own_line(test.own_lines, source)
    about = hint_about(ended.ename, "" if test.hidden else ended.evalue)
    hint = " ".join(word for word in (about, f"It stopped at: {line}" if line else "") if word) or _TRY
    return bounded(f"Your code stopped with {ended.ename}{said} ({where})"), hint


def _failed(test: TestOutcome) -> str:
    """A test that did not hold, or that could not go on with what the student's code gave it."""
    ended = test.ended
    if test.hidden:
        return bounded(test.message or "A hidden test failed.")
    what = "This test failed" if test.asserted else f"This test stopped with {ended.ename}"
    said = test.message or ("" if test.asserted else ended.evalue)
    return bounded(f"{what}: {test.statement}\n{said}" if test.statement else f"{what}. {said}").strip()


def own_line(told: str, source: str) -> str:
    """The last line of a traceback that stands in the student's code as it was handed in; empty where none does."""
    written = {line.strip() for line in source.splitlines()} - {""}
    return next((line.strip() for line in reversed(told.splitlines()) if line.strip() in written), "")


def bounded(message: str) -> str:
    # a lone surrogate is legal in an exception's text, but could not be saved
    return message[:MAX_MESSAGE].encode("utf-8", "replace").decode()
