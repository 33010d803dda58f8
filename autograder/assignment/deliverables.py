"""Files that students hand in beside the notebooks, such as ``models.py``: the stub is made of the solution.

``source/<assignment>/models.py`` holds the instructor's version, with nbgrader's markers around what students write.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from autograder.errors import GradingError
from autograder.model.course import Course
from autograder.model.free import widened

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
#: What nbgrader puts in the place of a solution.
_PYTHON = ("# YOUR CODE HERE", "raise NotImplementedError()")


def stub(name: str, data: bytes, *, free: bool = False) -> bytes:
    """What students get in place of the instructor's file. A file without markers stays as it is.

    free: leave signatures and docstrings alone. Raises GradingError where a marker is missing.
    """
    if BEGIN not in (text := _text(name, data)) and END not in text:
        return data
    if free:
        text = widened(text, BEGIN, END)
    lines: list[str] = []
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        begins, ends = BEGIN in line, END in line
        if (begins and inside) or (ends and not inside):
            raise GradingError(f"{name}, line {number}: {line.strip()!r} without the marker that belongs to it")
        if begins:
            lines += _placeholder(name, line)
        elif not inside and not ends:
            lines.append(line)
        inside = (inside or begins) and not ends
    if inside:
        raise GradingError(f"{name}: the last '### {BEGIN}' has no '### {END}'")
    return "\n".join(lines).encode()


def _placeholder(name: str, line: str) -> list[str]:
    indent, carriage = re.match(r"\s*", line)[0], "\r" if line.endswith("\r") else ""  # type: ignore[index]
    if name.endswith(".py"):
        return [f"{indent}{word}{carriage}" for word in _PYTHON]
    return [f"{line.partition(BEGIN)[0]}YOUR CODE HERE{carriage}"]


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise GradingError(f"{name} is no UTF-8 text: {error}") from error


def solutions_of(course: Course, assignment: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """File name -> the instructor's version, for what ``course.toml`` or nbgrader's settings name.

    Raises GradingError where one that ``course.toml`` names is missing.

    files: those beside the source notebooks.
    """
    named = course.file.deliverables.get(assignment, ())
    if missing := [name for name in named if name not in files]:
        raise GradingError(
            f"course.toml names {missing[0]} as a file that students hand in, but {course.source(assignment)} holds no "
            "such file, or nbgrader ignores it"
        )
    not_overwritten = dict(course.settings.handed_in).get(assignment, ())
    return {name: files[name] for name in (*named, *not_overwritten) if name in files}


def require_markers(solutions: Mapping[str, bytes], files: Mapping[str, bytes], whole: Collection[str] = ()) -> None:
    """To be called before a release. Raises GradingError where a file would show its solution: it has markers and
    ``course.toml`` does not name it, or it is named and has none.

    files: those beside the source notebooks, as the instructor wrote them.
    whole: those that students get as they are, though they hand them in: nbgrader's ``exclude_overwriting``.
    """
    for name, data in files.items():
        marked = BEGIN.encode() in data or END.encode() in data
        if marked and name not in solutions:
            raise GradingError(
                f"{name} has solution markers, but course.toml does not name it under [deliverables]: students would "
                "get the solution"
            )
        if name in solutions and not marked and name not in whole:
            raise GradingError(
                f"{name}: students are to hand it in, but it has no '### {BEGIN}' and '### {END}' around their part"
            )


def write_stubs(course: Course, assignment: str, folder: Path, files: Mapping[str, bytes]) -> None:
    """Put the students' versions of the deliverables into a released folder. Raises GradingError as above."""
    solutions = solutions_of(course, assignment, files)
    require_markers(solutions, files, dict(course.settings.handed_in).get(assignment, ()))
    for name, data in solutions.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stub(name, data, free=f"{assignment}/{name}" in course.file.free))
