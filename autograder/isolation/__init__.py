"""Confinement of processes that run students' code, and the proof that it holds on this machine.

Linux only: Landlock says which files can be opened, a system-call filter what can be asked of the system, limits how
much can be used, a supervisor sees that nothing is left behind. No root, no daemon, nothing to install.

Tried on the same probes, the package sandlock 0.9 let a process change the mode and times of files outside (Landlock
knows nothing of these), and the limits and priority of other processes of the same user.
"""

from autograder.isolation.confine import confine
from autograder.isolation.policy import Policy, Readable, environment
from autograder.isolation.seccomp import prepare
from autograder.isolation.selftest import (
    Capability,
    IsolationUnavailable,
    Probe,
    available,
    capabilities,
    require,
    self_test,
    verify,
)
from autograder.isolation.supervisor import Confined, Ending, channel_pair, supervise

__all__ = [
    "Capability", "Confined", "Ending", "IsolationUnavailable", "Policy", "Probe", "Readable",
    "available", "capabilities", "channel_pair", "confine", "environment", "prepare", "require",
    "self_test", "supervise", "verify",
]  # fmt: skip
