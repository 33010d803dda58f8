"""One run at a time for each assignment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from autograder.classroom.lock import only_run
from autograder.errors import GradingError


def test_a_second_run_is_told_who_is_grading(tmp_path):
    with only_run(tmp_path, "toy"), pytest.raises(GradingError) as refused, only_run(tmp_path, "toy"):
        pass
    assert f"another run is grading toy (pid {os.getpid()})" in str(refused.value)


def test_another_assignment_may_be_graded_beside(tmp_path):
    with only_run(tmp_path, "toy"), only_run(tmp_path, "other"):
        pass


def test_a_run_that_was_killed_holds_nobody_up(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from autograder.classroom.lock import only_run\n"
        "with only_run(Path(sys.argv[1]), 'toy'): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None and holder.stdout.readline()
    with pytest.raises(GradingError, match=f"pid {holder.pid}"), only_run(tmp_path, "toy"):
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with only_run(tmp_path, "toy"):
        pass
