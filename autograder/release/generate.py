"""``nbgrader generate_assignment`` into a folder of its own; what it wrote takes its place only when all is well.

nbgrader deletes the old release before it makes the new one, and writes into the gradebook while it does. So a draft is
made first, beside the release and with a gradebook that is thrown away; the real gradebook hears of it last.
"""

import contextlib
import filecmp
import re
import secrets
import shutil
from collections.abc import Iterator
from glob import has_magic
from pathlib import Path

import nbformat

from autograder.assignment.assignment import Assignment, Generated, read_files, write_stubs
from autograder.errors import GradingError
from autograder.files import atomic
from autograder.files.temporary import TemporaryFolder
from autograder.gradebook.write import is_registered, read_graded_cells
from autograder.model import cells
from autograder.model.cells import is_solution
from autograder.model.course import Course, unknown_assignment
from autograder.model.free import widened
from autograder.model.nbgrader import make_temporary_gradebook, run_nbgrader, stored_cells
from autograder.model.settings import read_config
from autograder.model.source import MARKERS, OtherLanguage, instructors_notebook, read_notebook
from autograder.release.agreement import cleared

#: Our own reason, where one of our preprocessors stopped nbgrader.
_OWN = re.compile(r"autograder\.errors\.\w+: (.*)", re.DOTALL)
_CONVERTING = re.compile(r"Converting notebook .*?([^/\\]+\.ipynb)")
_RAISED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Exit|Interrupt):(?: |$)")
_ERROR = re.compile(r"\[\w+ \| (?:ERROR|CRITICAL)\] (.*)")
_SAYS_NOTHING = re.compile(r"There was an error processing assignment|Please see the |Did you mean")


def generate(course: Course, assignment: str, step: str | None = None, db_url: str | None = None) -> Path:
    """``nbgrader generate_assignment``, as any instructor would type it; returns the folder that it wrote.

    step: another folder in the place of ``release``; db_url: another gradebook. Raises GradingError with nbgrader's
    reason, or where ``free`` in ``course.toml`` names what there is not.
    """
    require_free(course, assignment)
    if has_magic(assignment):
        raise GradingError(
            f"nbgrader cannot release {assignment!r}: it reads *, ? and [] in a name as a pattern; rename the folder"
        )
    arguments = ["generate_assignment", assignment, "--force"]
    arguments += [f"--CourseDirectory.release_directory={step}"] if step else []
    arguments += [f"--CourseDirectory.db_url={db_url}"] if db_url else []
    arguments.append("--ClearMarkScheme.check_attachment_leakage=False")  # such an attachment is dropped below
    config = course.settings.config
    done = run_nbgrader(arguments, config.parent if config else course.root)
    if done.returncode:
        raise GradingError(f"nbgrader cannot release {assignment!r}: {_reason(done.said)}")
    folder = course.folder(step or course.settings.release_directory, assignment)
    _finish(course, assignment, folder)
    # with our preprocessor in nbgrader's list this is done already
    write_stubs(course, assignment, folder, read_files(course.source(assignment), course.settings.ignore))
    return folder


def _finish(course: Course, assignment: str, folder: Path) -> None:
    """What nbgrader leaves of solutions is dropped. The cells of a header without ids get ours, which stay: nbgrader
    gives them others each time.
    """
    for path in folder.glob("*.ipynb"):
        written = read_notebook(path)
        released, source = nbformat.from_dict(written), course.source(assignment) / path.name
        if released.nbformat_minor >= 5 and source.is_file():
            with contextlib.suppress(OtherLanguage):
                notebook = instructors_notebook(source, course.settings.form)
                ids = [cell.id for cell in course.file.fill_in(notebook, f"{assignment}/{path.stem}").cells]
                for cell, kept in zip(released.cells, ids if len(ids) == len(released.cells) else (), strict=False):
                    cell.id = kept
        if (released := cleared(released)) != written:
            path.write_text(nbformat.writes(released) + "\n", encoding="utf-8")


def _reason(said: str) -> str:
    """nbgrader's reason in one paragraph: the last exception with the notebook it was raised for, else its error."""
    paragraphs = _paragraphs(said)
    raised = [number for number, text in enumerate(paragraphs) if _RAISED.match(text)]
    if raised and (own := _OWN.match(paragraphs[raised[-1]])):
        return own[1]
    if raised:
        before = [match[1] for text in paragraphs[: raised[-1]] if (match := _CONVERTING.search(text))]
        return f"{before[-1]}: {paragraphs[raised[-1]]}" if before else paragraphs[raised[-1]]
    errors = [match[1] for text in paragraphs if (match := _ERROR.match(text)) and not _SAYS_NOTHING.match(match[1])]
    return " ".join(errors) or (paragraphs[-1] if paragraphs else "it said nothing")


def _paragraphs(said: str) -> list[str]:
    """What nbgrader printed: a line of its log, or an exception, with the lines that belong to it."""
    found: list[str] = []
    for line in map(str.strip, said.splitlines()):
        if line.startswith(("[", "File ", "Traceback ")) or _RAISED.match(line) or not found:
            found.append(line)
        else:
            found[-1] = f"{found[-1]} {line}".strip()
    return [text for text in found if text]


@contextlib.contextmanager
def workspace(course: Course) -> Iterator[str]:
    """The name of a folder in the place of ``release``, on the same disk; it is gone afterwards."""
    token = f"release-{secrets.token_hex(4)}"
    try:
        yield f".autograder/{token}"
    finally:
        folder = course.folder(f".autograder/{token}", "x")
        while folder.name != token and folder != folder.parent:
            folder = folder.parent
        shutil.rmtree(folder, ignore_errors=True)


def draft(course: Course, assignment: str, step: str) -> tuple[Path, Generated]:
    """The release as it would be, made under ``step`` with a gradebook that is thrown away, and the cells in that."""
    with TemporaryFolder("release-") as folder:
        db_url = make_temporary_gradebook(Path(folder, "gradebook.db"))
        return generate(course, assignment, step, db_url), stored_cells(db_url, assignment)


@atomic.undisturbed()
def put_in_place(course: Course, assignment: str, checked: Path, step: str) -> None:
    """Tell the gradebook, then let ``checked`` take the place of the release. step: a workspace that is still empty.

    Raises GradingError, and leaves the release as it was, where nbgrader fails or writes something else this time.
    """
    written = generate(course, assignment, step)
    if differing := next(compare(checked, written), None):
        raise GradingError(f"nbgrader made two releases of {assignment!r} that differ ({differing}); try again")
    target = course.release(assignment)
    try:
        atomic.put_in_place(checked, target, checked.with_name(f"{checked.name}.old"))
    except OSError as error:
        raise GradingError(f"{target} cannot be replaced: {error.strerror or error}") from error


def compare(one: Path, other: Path) -> Iterator[str]:
    """Every file in which two folders differ, byte by byte."""
    pair = filecmp.dircmp(one, other)
    yield from (f"{entry} is in one of them only" for entry in (*pair.left_only, *pair.right_only))
    _, changed, broken = filecmp.cmpfiles(one, other, pair.common_files, shallow=False)
    yield from (f"{entry} differs" for entry in (*changed, *broken))
    for name in pair.common_dirs:
        yield from compare(one / name, other / name)


def require_same_cells(course: Course, assignment: Assignment, *, adding: bool = False) -> None:
    """Raises GradingError where a cell was added, removed or renamed that grades in the gradebook belong to.

    adding: new cells are meant.
    """
    for notebook, known in read_graded_cells(course.db_url, assignment.name).items():
        source = assignment.source.get(notebook)
        now = {str(cells.grade_id(cell)) for cell in (source.cells if source else ()) if is_registered(cell)}
        for word, names in (("new", now - known), ("gone", known - now)):
            hint = "; '--add-exercises' enters new ones" if word == "new" else ""
            if names and not (adding and word == "new"):
                raise GradingError(
                    f"{assignment.name}: {notebook}.ipynb, cell '{min(names)}' is {word}, but submissions were graded "
                    f"without this change, and nbgrader allows none{hint}: see 'Changing a running assignment' in "
                    "docs/instructor.md"
                )


_BEGIN, _END = (MARKERS[f"ClearSolutions.{one}_solution_delimeter"] for one in ("begin", "end"))
_STEP = "FreeVersions"


def require_free(course: Course, assignment: str) -> None:
    """Raises GradingError for a free version that names nothing, changes nothing, or would not be made."""
    for named in course.file.free:
        folder, _, name = named.partition("/")
        if folder not in course.assignments():
            raise GradingError(f"course.toml: free: {unknown_assignment(course, folder)}")
        if folder == assignment and name not in course.file.deliverables.get(assignment, ()):
            _require_notebook(course, assignment, name)


def _require_notebook(course: Course, assignment: str, name: str) -> None:
    path = course.source(assignment) / f"{name}.ipynb"
    if not path.is_file():
        raise GradingError(
            f"course.toml: free: {assignment}/{name} is no notebook of {assignment} and no file that [deliverables] "
            f"names: expected, say, {assignment}/{_some_notebook(course, assignment)}"
        )
    steps = read_config(course.root).GenerateAssignment.get("preprocessors")
    if not isinstance(steps, list) or _STEP not in {step.__name__ for step in steps}:
        raise GradingError(
            f"course.toml: free: {assignment}/{name}: nbgrader_config.py does not have {_STEP} in the list "
            "c.GenerateAssignment.preprocessors, so that students would get the guided version: put it in front "
            "('from autograder.nbgrader.preprocessors import FreeVersions')"
        )
    notebook = instructors_notebook(path, course.settings.form)
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "code" and is_solution(cell))
    if all(widened(text, _BEGIN, _END) == text for text in texts):
        raise GradingError(
            f"course.toml: free: {assignment}/{name}: no function there has given lines around a gap, so that there is "
            "nothing to free; take it out of the list"
        )


def _some_notebook(course: Course, assignment: str) -> str:
    return min(path.stem for path in course.source(assignment).glob("*.ipynb"))
