"""A process that has just begun forks the process that workers come from; any other one starts a new Python."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import json
import os
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor

from autograder.classroom import worker_processes

LOOK = '''[
    open(f"/proc/{__import__('os').getppid()}/cmdline").read(),
    "autograder.classroom.workers" in __import__("sys").modules,
    [name for name in __import__("os").listdir("/proc/self/fd")
     if __import__("os").path.realpath(f"/proc/self/fd/{name}").endswith("script.py")],
    __import__("autograder").__all__,
]'''

if __name__ == "__main__":
    kept = open(__file__)
    if sys.argv[1] == "thread":
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    if sys.argv[1] == "later":
        import autograder.classroom.workers
    worker_processes.start_importing("")
    with ProcessPoolExecutor(1, worker_processes.processes()) as pool:
        parent, warm, held, names = pool.submit(eval, LOOK).result()
    print(json.dumps([parent == open("/proc/self/cmdline").read(), warm, held, names]))
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a process's threads and files")
@pytest.mark.parametrize(("how", "forked"), [("first", True), ("thread", False), ("later", False)])
def test_workers_come_from_a_fork_of_a_process_that_has_just_begun(tmp_path, how, forked):
    """They have imported the grader, hold no file of that process, and take no ``autograder`` from the course."""
    (tmp_path / "autograder").mkdir()
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script), how], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == f'[{"true" if forked else "false"}, true, [], ["reference"]]', done.stderr
