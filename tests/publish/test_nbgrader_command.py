"""nbgrader's own commands, typed by the grader."""

from pathlib import Path

import pytest

from autograder.errors import GradingError
from autograder.model.nbgrader import run_nbgrader

#: An assignment that does not exist, so that nothing is made.
COMMAND = ["generate_assignment", "missing"]


def configured(folder: Path, text: str) -> Path:
    """A folder whose configuration does what a test wants to see."""
    (folder / "nbgrader_config.py").write_text(text, encoding="utf-8")
    return folder


def test_it_runs_in_its_folder_and_environment_and_says_why_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM_OF_THE_COURSE", "ä")
    seen = "import os, sys\nprint(os.getcwd(), os.environ['TERM_OF_THE_COURSE'], *sys.argv)\n"
    done = run_nbgrader(COMMAND, configured(tmp_path, seen))
    assert done.returncode == 1
    # nbgrader's own lines may come before it
    first = next(line for line in done.said.splitlines() if line.startswith(str(tmp_path)))
    assert first.split()[1:2] + first.split()[3:] == ["ä", *COMMAND]
    assert "No notebooks were matched" in done.said or "missing" in done.said


def test_its_exit_code_is_the_programs(tmp_path: Path) -> None:
    assert run_nbgrader(["--version"], tmp_path).returncode == 0
    assert run_nbgrader(["generate_assignment", "a", "b", "c"], tmp_path).returncode == 1


def test_a_command_that_is_killed_is_an_error(tmp_path: Path) -> None:
    configured(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with pytest.raises(GradingError, match="'nbgrader generate_assignment missing' was ended from outside"):
        run_nbgrader(COMMAND, tmp_path)
