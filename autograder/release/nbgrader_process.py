"""A process that has imported nbgrader, and forks one for each of nbgrader's commands.

Started by :mod:`autograder.release.nbgrader_command`. To import nbgrader takes longer than most of its commands. What a
forked process imports, sets or leaves behind is gone with it; the order of sets and dictionaries of hashes is the same
in all of them.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

MAX_REQUEST = 1 << 12
#: What a request names: a folder with the task, and the file for what the command says.
TASK, SAID = "task.json", "said.txt"


def main(descriptor: int) -> None:
    """Fork for every folder that comes until the other side is gone."""
    channel = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the command that runs
    from nbgrader.apps import nbgraderapp  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children: each says itself how it ended
    gc.collect()
    gc.freeze()
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, MAX_REQUEST, 1)
        if not request:
            return
        if os.fork() == 0:
            channel.close()
            _run(Path(os.fsdecode(request)), descriptors[0])
        os.close(descriptors[0])


def _run(folder: Path, ended: int) -> None:
    """Run the command of a request as a program of its own would, and write its exit code. Does not return."""
    code = 1
    try:
        os.set_inheritable(ended, False)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        said = os.open(folder / SAID, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        task = json.loads((folder / TASK).read_text(encoding="utf-8"))
        os.environ.clear()
        os.environ.update(task["environment"])
        os.chdir(task["folder"])
        sys.argv = ["nbgrader", *task["arguments"]]
        code = _exit_code()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(ended, str(code).encode())
        os._exit(0)


def _exit_code() -> int:
    from nbgrader.apps import nbgraderapp

    try:
        nbgraderapp.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    main(int(sys.argv[1]))
