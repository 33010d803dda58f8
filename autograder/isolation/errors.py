"""What this package raises."""

from __future__ import annotations


class IsolationUnavailable(RuntimeError):
    """This machine cannot confine a process, or lets one escape. The message says what to do about it."""
