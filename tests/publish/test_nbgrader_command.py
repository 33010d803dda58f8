"""nbgrader's commands are the same in a process that has imported nbgrader before."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.errors import GradingError
from autograder.release import nbgrader_command
from autograder.release.nbgrader_command import nbgrader

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every command starts from nothing")
FORKED_AND_AFRESH = [pytest.param(False, marks=on_linux, id="forked"), pytest.param(True, id="afresh")]

#: A configuration that does what a test wants to see, and an assignment that does not exist, so that nothing is made.
COMMAND = ["generate_assignment", "missing"]


def configured(folder: Path, text: str) -> Path:
    (folder / "nbgrader_config.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("afresh", FORKED_AND_AFRESH)
def test_it_runs_in_its_folder_and_environment_and_says_why_it_fails(
    afresh: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM_OF_THE_COURSE", "ä")
    seen = "import os, sys\nprint(os.getcwd(), os.environ['TERM_OF_THE_COURSE'], *sys.argv)\n"
    done = nbgrader(COMMAND, configured(tmp_path, seen), afresh=afresh)
    assert done.returncode == 1
    first = next(line for line in done.said.splitlines() if str(tmp_path) in line)
    assert first.split()[1:2] + first.split()[3:] == ["ä", *COMMAND]
    assert "No notebooks were matched" in done.said or "missing" in done.said


@pytest.mark.parametrize("afresh", FORKED_AND_AFRESH)
def test_its_exit_code_is_the_programs(afresh: bool, tmp_path: Path) -> None:
    assert nbgrader(["--version"], tmp_path, afresh=afresh).returncode == 0
    assert nbgrader(["generate_assignment", "a", "b", "c"], tmp_path, afresh=afresh).returncode == 1


@on_linux
def test_what_one_command_changes_no_other_sees(tmp_path: Path) -> None:
    seen = "import os, sys\nprint('seen' if hasattr(sys, 'left') or 'LEFT' in os.environ else 'nothing')\n"
    configured(tmp_path, seen + "sys.left = True\nos.environ['LEFT'] = 'x'\n")
    for _ in range(2):
        assert "nothing" in nbgrader(COMMAND, tmp_path).said.split()


@on_linux
def test_several_at_once_have_each_their_own_words(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(4)]
    for folder in folders:
        folder.mkdir()
        configured(folder, f"print('it is {folder.name}')\n")
    with ThreadPoolExecutor() as pool:
        said = [done.said for done in pool.map(lambda folder: nbgrader(COMMAND, folder), folders)]
    for number, words in enumerate(said):
        assert next(line for line in words.splitlines() if line.startswith("it is")) == f"it is {number}"


@on_linux
def test_a_command_that_is_killed_is_an_error_and_the_next_one_runs(tmp_path: Path) -> None:
    configured(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    with pytest.raises(GradingError, match="'nbgrader generate_assignment missing' was ended from outside"):
        nbgrader(COMMAND, tmp_path)
    assert nbgrader(["--version"], tmp_path).returncode == 0


@on_linux
def test_a_killed_server_is_started_again(tmp_path: Path) -> None:
    nbgrader(["--version"], tmp_path)
    process = nbgrader_command._of_this_process._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert nbgrader(["--version"], tmp_path).returncode == 0
