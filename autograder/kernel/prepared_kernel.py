"""ipykernel's kernel, made in the fork server: each forked process gives it its own sockets, threads and session."""

from __future__ import annotations

import os
import sys
from typing import Any
from uuid import uuid4

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.session import Session


class PreparedKernel(IPythonKernel):
    """The one kernel of this process. To make it takes a third of a kernel's start.

    talkative: whether it says all that Jupyter's protocol asks for, and not only what the grader listens for. Every
    message goes through two more threads, and two of the three that each cell would cost are for nobody.
    """

    talkative = True

    @classmethod
    def prepare(cls, **traits: Any) -> None:
        """Make the kernel, without anything that only a forked process can have."""
        super().instance(**traits)

    @classmethod
    def instance(cls, *_: Any, **traits: Any) -> PreparedKernel:
        """The prepared kernel, with these traits as its own: what ipykernel's application makes its kernel with."""
        kernel: PreparedKernel = super().instance()
        for name, value in traits.items():
            if getattr(kernel, name) is not value:
                setattr(kernel, name, value)
        kernel._become_own()
        return kernel

    def _publish_status(self, status: str, *args: Any, **kwargs: Any) -> None:
        if self.talkative or status != "busy":
            super()._publish_status(status, *args, **kwargs)

    def _publish_execute_input(self, *args: Any, **kwargs: Any) -> None:
        if self.talkative:
            super()._publish_execute_input(*args, **kwargs)

    def _become_own(self) -> None:
        """What ``__init__`` takes from the process's streams and sockets."""
        self.ident = str(uuid4())
        self._stdout, self._stderr = sys.stdout, sys.stderr
        shell: Any = self.shell
        for publisher in (shell.displayhook, shell.display_pub):
            publisher.session, publisher.pub_socket = self.session, self.iopub_socket
        shell.displayhook.topic = self._topic("execute_result")


def own_session(session: Session) -> None:
    """Make a session that was copied by a fork this process's own. Its key comes from the connection file."""
    session.session = str(uuid4())
    session.pid = os.getpid()
