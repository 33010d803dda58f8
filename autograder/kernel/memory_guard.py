"""How far kernels may make the grader's own process grow by what they send.

What the messaging library holds of a message that never ends is counted nowhere, so the process is measured as a whole.
"""

from __future__ import annotations

import ctypes
import os

from autograder.isolation import usage
from autograder.kernel.errors import OutputFloodError

#: Bytes by which one kernel may make the grader grow in all its life. The parts of a message that never ends are held
#: without being counted among those that wait.
FLOOD = 256 << 20


class GraderMemoryGuard:
    """What the kernels of one :class:`autograder.kernel.kernels.Kernels` make this process grow.

    ``is_shared``: other kernels make it grow at the same time, so that nobody can tell whose a flood is.
    """

    def __init__(self) -> None:
        self.is_shared = False

    def bound(self) -> int:
        """Bytes that this process may hold while a kernel lives that starts now."""
        _give_back_memory()
        return usage.memory([os.getpid()]) + FLOOD

    def is_flood(self, bound: int) -> bool:
        """Whether this process holds more than that. Raises OutputFloodError where not only one kernel can be why.

        To go on would be unfair, and unsafe as well: kernels that flood by turns would each raise the other's bound.
        """
        if usage.memory([os.getpid()]) <= bound:
            return False
        if self.is_shared:
            raise OutputFloodError("the grader was flooded with messages while several notebooks ran")
        return True


def _give_back_memory() -> None:
    """Else the C library keeps what earlier messages took: a kernel might send that much more before it is noticed.

    They need not be gone when the kernel that sent them is: the messaging library closes its sockets later.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):  # another C library
        return
