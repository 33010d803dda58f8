"""One folder through the grader's stages, with nothing kept: no gradebook, no journal, no ``submitted/``."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.submission import read_submission
from autograder.ci.outcome import SubmissionOutcome, failed_outcome, outcome_of
from autograder.classroom.workers import Isolation, notebooks_at_once
from autograder.errors import UnreadableSubmission
from autograder.isolation import available, verify
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import KernelImports, imports_of
from autograder.model.course import Course
from autograder.pipeline.drawings import blank, import_drawings
from autograder.pipeline.execute import Kernels
from autograder.pipeline.grade import grade_submission
from autograder.release.calibrate import calibrated
from autograder.release.judgeable import require_judgeable


def grade_folder(
    course: Course,
    assignment_name: str,
    folder: Path,
    student: str,
    isolation: Isolation,
) -> SubmissionOutcome:
    """Grade the notebooks in ``folder``, as ``autograder grade`` would.

    An outcome with a failure where there is nothing to grade, or where the grader itself cannot do its work.
    Raises GradingError where the instructor asked for what does not exist.
    """
    assignment = Assignment.open(course, assignment_name)
    require_judgeable(assignment)
    imports = imports_of(course)
    limits = course.file.limits
    try:
        submission = read_submission(folder, student, assignment)
        number = notebooks_at_once(len(submission.notebooks), limits)
        with ExitStack() as closing_later:
            if isolation == "auto":
                kernels = closing_later.enter_context(_confined(assignment, imports, number))
            else:
                kernels = [closing_later.enter_context(Kernels.open(isolation, imports=imports))]
            beside = kernels[1:]  # nobody sees these notebooks: what is written is words and points
            assignment = calibrated(course.root, assignment, kernels[0], limits)
            assignment = replace(assignment, mates=None)  # the name of a repository, say, is no student's id
            graded = grade_submission(submission, assignment, kernels[0], limits, beside=beside, draw=blank)
        return outcome_of(graded, assignment)
    except UnreadableSubmission:
        expected = ", ".join(f"{name}.ipynb" for name in assignment.source)
        return failed_outcome(student, assignment_name, f"no notebook was handed in; expected {expected}")
    except Exception as error:  # whatever goes wrong on our side must not look like a zero
        return failed_outcome(student, assignment_name, f"the grader failed ({type(error).__name__}: {error})")


@contextmanager
def _confined(assignment: Assignment, imports: KernelImports, number: int) -> Iterator[list[Kernels]]:
    """Kernels for so many notebooks at once, of one fork server, where the confinement holds.

    Raises IsolationUnavailable, InfrastructureError.
    """
    available()
    with closing(KernelForkServer(imports)) as fork_server, ExitStack() as closing_later:
        verify()  # real attempts to escape, before the first line of a student's code
        import_drawings(assignment.drawings)  # the first cell that is one would wait for it
        fork_server.ready()
        opened = (Kernels.open("auto", fork_server=fork_server.address, imports=imports) for _ in range(number))
        yield [closing_later.enter_context(one) for one in opened]
