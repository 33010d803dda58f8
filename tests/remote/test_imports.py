"""The student's kernel imports nothing with what is imported for remote values."""

from __future__ import annotations

import subprocess
import sys


def test_the_students_side_brings_no_library_along():
    code = (
        "import sys, autograder.remote.student\n"
        "found = {'numpy', 'torch', 'pandas', 'IPython'} & set(sys.modules)\n"
        "own = {name for name in sys.modules if name.startswith('autograder.')}\n"
        "assert not found and all(name.startswith('autograder.remote') for name in own), (found, own)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
