"""Grading imports nothing from the folder that it works in."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from concurrent.futures import ProcessPoolExecutor

from autograder.classroom.workers import worker_processes

if __name__ == "__main__":
    with ProcessPoolExecutor(1, worker_processes()) as pool:
        print(pool.submit(eval, "__import__('autograder').__all__").result())
"""


def test_a_folder_called_autograder_in_the_course_hides_no_worker_s_package(tmp_path):
    (tmp_path / "autograder").mkdir()
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(CODE)
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "['reference']\n", done.stderr
