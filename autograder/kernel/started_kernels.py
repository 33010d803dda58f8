"""The kernels that were begun in one place, so that another thread can put an end to them all."""

from __future__ import annotations

import threading
from typing import Protocol
from weakref import WeakSet

from autograder.kernel.errors import InfrastructureError


class Killable(Protocol):
    """To be killed by any thread, also while another one uses or closes it."""

    def kill(self) -> None: ...


class StartedKernels:
    """Those that are still in use. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kernels: WeakSet[Killable] = WeakSet()
        self._given_up = False
        self._lock = threading.Lock()

    def add(self, kernel: Killable) -> None:
        """One that has just been begun. Where all were given up meanwhile, it is killed at once."""
        with self._lock:
            self._kernels.add(kernel)
            given_up = self._given_up
        if given_up:
            kernel.kill()

    def give_up(self) -> None:
        """Kill them all. Until :meth:`resume` there are no new ones."""
        with self._lock:
            self._given_up = True
            kernels = list(self._kernels)
        for kernel in kernels:
            kernel.kill()

    def resume(self) -> None:
        with self._lock:
            self._given_up = False

    def refuse_if_given_up(self) -> None:
        """To be called before a kernel is begun. Raises InfrastructureError."""
        with self._lock:
            if self._given_up:
                raise InfrastructureError("no kernel is started any more: the grading was given up")
