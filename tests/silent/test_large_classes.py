"""A class of thousands: what the one writing process keeps of each student is little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
#: Bytes. One row with dictionaries of its own takes about half of it.
PER_STUDENT = 1800


def test_what_is_kept_of_each_student_is_little(tmp_path):
    command = [sys.executable, "-m", "tests.silent.kept_of_each", str(tmp_path)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert float(answer.stdout.split()[-1]) < PER_STUDENT
