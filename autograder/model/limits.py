"""What one submission may use, and the time that the cells of a notebook have."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

#: cell id -> seconds, for the cells of one notebook
CellLimits = Mapping[str, float]


@dataclass(frozen=True)
class Limits:
    """What one submission may use. ``memory_bytes`` is for all its processes, beyond the imported libraries.

    ``cells``: notebook -> the limits of its cells, where the time of the instructor's solution is known.
    """

    cell_seconds: float = 60.0
    submission_seconds: float = 600.0
    memory_bytes: int = 4 << 30
    processes: int = 64  # and threads; an idle kernel has about ten
    disk_bytes: int = 256 << 20
    output_bytes: int = 1 << 20  # per cell, as they are written into the notebook
    notebook_output_bytes: int = 10 << 20
    cells: Mapping[str, CellLimits] = field(default_factory=dict, hash=False)

    @property
    def room(self) -> str:
        """All but the times, as text."""
        return repr(replace(self, cell_seconds=0, submission_seconds=0, cells={}))

    def of_notebook(self, name: str) -> "Limits":
        """The same, of whose cells those of one notebook are left."""
        return replace(self, cells={name: self.cells[name]} if name in self.cells else {})


class Clock:
    """The time of one notebook: how long the next part of a cell may take.

    A time-out costs no other part its time: it is added to the notebook's. But patience wears off: after its second
    time-out a notebook's parts have half of their limit, then a quarter, never less than ``_LEAST``. So right answers
    that need nothing of what loops still count, and one submission does not hold up a class.
    """

    _WORN = (1.0, 1.0, 0.5, 0.25, 0.15)  # by the number of time-outs before
    _LEAST = 2.0  # seconds

    def __init__(self, limits: Limits, cells: CellLimits) -> None:
        self._limits, self._cells = limits, cells
        self._end = time.monotonic() + limits.submission_seconds
        self._timeouts = 0

    @property
    def is_up(self) -> bool:
        return time.monotonic() >= self._end

    def limit(self, cell: str) -> float:
        """Seconds for the next part of this cell. What the student added may take as long as the slowest cell."""
        known = self._cells.get(cell) or max(self._cells.values(), default=self._limits.cell_seconds)
        most = min(known, self._limits.cell_seconds)
        worn = self._WORN[min(self._timeouts, len(self._WORN) - 1)] * most
        return min(most, max(worn, self._LEAST))

    def allowed(self, limit: float) -> float:
        """What is left of a limit before the notebook's time is up."""
        return min(limit, max(0.0, self._end - time.monotonic()))

    def timed_out(self, seconds: float) -> None:
        """A part was ended after its own limit."""
        self._timeouts += 1
        self._end += seconds
