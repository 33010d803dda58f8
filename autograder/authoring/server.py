"""A warm process that forks a child for each answer to be tried: ``python -m autograder.authoring.server FD``.

For an author's own answers, on the author's own machine: nothing is confined here. Students' code is graded by
:mod:`autograder.kernel` alone.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import signal
import socket
import sys
import time
from typing import Any

_MAX_REQUEST = 1 << 22


def main(descriptor: int) -> None:
    """Import what the first message names, then fork for every request until the other side is gone."""
    channel = socket.socket(fileno=descriptor)
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # slow to import, and nobody attaches a debugger
    for name in ("IPython.core.interactiveshell", "autograder.testing", *json.loads(channel.recv(_MAX_REQUEST))):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children: each says itself what became of it
    while True:
        request, descriptors, _, _ = socket.recv_fds(channel, 4096, 1)
        if not request:
            return
        if os.fork() == 0:
            channel.close()
            with os.fdopen(descriptors[0], "w") as pipe:
                _serve(request.decode(), pipe)
            os._exit(0)
        os.close(descriptors[0])


def _serve(path: str, pipe: io.TextIOBase) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    pipe.write(f"{os.getpid()}\n")
    pipe.flush()
    with open(path, encoding="utf-8") as file:
        task = json.load(file)
    pipe.write(json.dumps(execute(task)))
    pipe.flush()


def execute(task: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the parts of a task in one IPython shell; for each, how it ended.

    task: ``folder`` (the working folder), ``inputs`` (AUTOGRADER_INPUTS), ``seconds`` (processor time in all) and
    ``parts``, a list of ``{source, answers}``; ``answers`` is the folder that the part hands its answers to, or "".
    """
    seconds = int(task["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.chdir(task["folder"])
    sys.path.insert(0, "")
    os.environ["AUTOGRADER_INPUTS"] = task["inputs"]
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
        return [_part(shell, part["source"], part["answers"]) for part in task["parts"]]


def _part(shell: Any, source: str, answers: str) -> dict[str, Any]:
    os.environ.pop("AUTOGRADER_ANSWERS", None)
    if answers:
        os.environ["AUTOGRADER_ANSWERS"] = answers
    started = time.monotonic()
    done = shell.run_cell(source, store_history=True)
    error = done.error_before_exec or done.error_in_exec
    return {
        "status": "error" if error is not None else "ok",
        "ename": type(error).__name__ if error is not None else "",
        "evalue": str(error) if error is not None else "",
        "seconds": time.monotonic() - started,
    }


if __name__ == "__main__":
    main(int(sys.argv[1]))
