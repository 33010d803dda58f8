"""What all tests share."""

import functools
import gc
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.once import FOLDER, put_alembic_first

# many small kernels on few cores: one thread each, here as in grading
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
# nbgrader calls alembic by name, also where nobody activated the environment
if str(Path(sys.executable).parent) not in os.environ["PATH"].split(os.pathsep):
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
# hundreds of processes import the grader: each would compile it again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# as in the command: what tests import is a million objects and no garbage, and stays
gc.set_threshold(50_000, 20, 20)

#: Folders whose tests send much code through real kernels, browsers or checks: left out by ``make test-fast``.
SLOW_FOLDERS = {
    "attacks", "browser", "ci", "claims", "colab", "course_checks", "decoder", "exports", "hub", "isolation", "parity",
    "publish",
}  # fmt: skip
#: Whose slow tests ``make test`` leaves to ``make test-all``: what needs a browser, a hub, a database server, wheels,
#: stock nbgrader or another user of the machine ...
MORE_THAN_PYTHON = {
    "attacks/test_other_user", "browser", "ci/test_bundle", "ci/test_github_bundle", "colab", "container",
    "docs/test_blocks", "docs/test_term_by_the_guide", "docs/test_writing_exercises", "hub", "pipeline/test_postgresql",
    "pipeline/test_stock_nbgrader", "plain/test_chance", "plain/test_cheats", "plain/test_corpus", "plain/test_courses",
    "plain/test_from_nbgrader", "plain/test_ways", "project/test_kit", "project/test_wheels",
    "project/test_without_landlock", "site/test_students_site",
}  # fmt: skip
#: ... and what goes through whole courses, classes or all sample answers, for minutes.
MINUTES = {
    "attacks/test_attacks", "attacks/test_marking", "attacks/test_points", "authoring/test_door", "claims",
    "classroom/test_killed_graders", "classroom/test_large_classes", "classroom/test_stale_grades",
    "course/test_finetuning", "course_checks/test_encoder_lab_training",
    "course_checks/test_transformer_tutorial_training", "decoder/test_language_model", "exercises/test_answers",
    "exercises/test_check", "exercises/test_check_command", "exercises/test_draws", "exercises/test_encoder_lab_file",
    "exercises/test_own_points", "exercises/test_packs", "exercises/test_pairs", "exercises/test_wholes",
    "isolation/test_honest_notebooks", "isolation/test_usage", "lms/test_feedback", "pipeline/test_fingerprint",
    "publish/test_free", "publish/test_publish", "publish/test_texts", "questions/test_measured",
    "regrade/test_stored_runs", "release/test_findings", "release/test_generate", "release/test_verify",
    "whole/test_students",
}  # fmt: skip
#: The only folder in which a failed test is run again, and only where the browser did not show in time what was waited
#: for: an assertion that failed once has failed. No confinement, no cleaning of outputs and no grade is tested there
#: alone, and everywhere else one escape or one wrong grade in three runs is a fault.
RERUN_FOLDERS = {"browser"}
LATE = ("TimeoutException", "StaleElementReferenceException", "ElementNotInteractableException",
        "ElementClickInterceptedException")  # fmt: skip
#: Folders in which the tests of a file share something that takes long to make: one test worker makes it once.
SHARING_FOLDERS = {
    "browser", "ci", "claims", "classroom", "colab", "collect", "docs", "exports", "feedback", "gradebook", "hub",
    "lms", "pipeline", "publish", "release", "report",
}  # fmt: skip
#: Files of a minute or more, each done by one worker: begun first, none is left for a worker alone at the end.
LONGEST = ("test_blocks", "test_student", "test_kit", "test_hub", "test_stock_nbgrader", "test_bundle", "test_colab")


def pytest_configure(config: pytest.Config) -> None:
    if missing_confinement():
        note_refusals()
    tempfile.gettempdir()  # found once, before a test sets TMPDIR
    if not hasattr(config, "workerinput"):  # workers inherit it from the process that starts them
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="course-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ[FOLDER], ignore_errors=True))
        put_alembic_first(Path(os.environ[FOLDER]))


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For ``make test-fast`` nothing slow is even imported: that takes as long as many tests."""
    if config.option.markexpr != "not slow":
        return None
    return True if collection_path.name in SLOW_FOLDERS or _is_slow_file(collection_path) else None


def _is_slow_file(path: Path) -> bool:
    return path.match("test_*.py") and bool(re.search(r"^pytestmark = .*mark\.slow", path.read_text("utf-8"), re.M))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        place = item.path.relative_to(Path(__file__).parent)  # wherever the checkout lies: its folder may be called ci
        folders = set(place.parts)
        if folders & SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
        rest = {place.parts[0], str(place.with_suffix(""))} & (MORE_THAN_PYTHON | MINUTES)
        if rest and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.rest)
        if folders & RERUN_FOLDERS:
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=LATE))
        if folders & SHARING_FOLDERS:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    # files with slow tests first: short ones are left for the worker that is done before the other
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.stem not in LONGEST, item.path not in slow))


@functools.cache
def missing_confinement() -> str:
    """What this machine lacks for confining student code; empty where it has everything."""
    from autograder.isolation import IsolationUnavailable, available

    try:
        available()
    except IsolationUnavailable as error:
        return str(error).splitlines()[1].partition(":")[0]
    return ""


#: What is said wherever something was refused because nothing can be confined.
REFUSED = (
    "student code cannot be confined on this machine",
    "Students' code cannot be confined here",
    "could not be confined",
)
#: Folders that are about the confinement itself.
CONFINED_FOLDERS = {"attacks", "isolation"}
refusals: list[str] = []  # in this process, during the present test
skipped_for: list[BaseException] = []  # a fixture that failed once raises the same error for every other test


def note_refusals() -> None:
    from autograder.errors import InfrastructureError
    from autograder.isolation import IsolationUnavailable

    for error in (IsolationUnavailable, InfrastructureError):
        _note(error)


def _note(error: type[Exception]) -> None:
    made = error.__init__

    def noted(self: Exception, *words: object) -> None:
        if any(refused in str(words) for refused in REFUSED):
            refusals.append(str(words))
        made(self, *words)

    error.__init__ = noted  # type: ignore[method-assign]


def pytest_runtest_logstart() -> None:
    refusals.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where nothing can be confined (macOS, Windows, older kernels), a test that failed because of it is skipped."""
    report = yield
    if report.failed and call.excinfo and missing_confinement():
        said = report.longreprtext + "".join(text for _, text in report.sections)
        refused = refusals or CONFINED_FOLDERS & {item.path.parent.name} or any(words in said for words in REFUSED)
        if refused or any(call.excinfo.value is one for one in skipped_for):
            skipped_for.append(call.excinfo.value)
            report.outcome = "skipped"
            reason = f"Skipped: needs Linux with confinement, and this machine lacks {missing_confinement()}"
            report.longrepr = (str(item.path), 0, reason)
    return report
