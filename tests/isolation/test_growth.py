"""How far kernels may make the grader grow is counted from what it holds, not from what it held once."""

from __future__ import annotations

import os

from autograder.isolation import usage
from autograder.kernel.channels import FLOOD, GraderMemoryGuard


def test_what_earlier_messages_took_is_not_granted_to_the_next_kernel() -> None:
    growth = GraderMemoryGuard()
    before = growth.bound()
    messages = [b"x" * 100_000 for _ in range(2000)]
    last = b"x" * 100_000  # behind the others: the C library cannot give back what lies before it by itself
    assert usage.memory([os.getpid()]) > before - FLOOD + (150 << 20)
    assert growth.bound() > before + (150 << 20)
    messages.clear()
    assert growth.bound() < before + (50 << 20)
    assert last
