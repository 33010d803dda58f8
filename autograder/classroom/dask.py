"""The workers of a Dask scheduler: which of them grades what, and what becomes of it when one is lost.

Dask itself would hand a dead worker's tasks to others, and blame each of them for the death. Here every job is given to
one worker by name, one for each of its threads, so that a death tells what was running there and nothing else.
"""

import time
import traceback
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from autograder.classroom.workers import KILLED, Job, JobResult, Work, do
from autograder.errors import GradingError
from autograder.isolation import require
from autograder.pipeline.fingerprint import imported_version
from autograder.pipeline.running import ATTEMPTS

if TYPE_CHECKING:
    from distributed import Client, Future

#: How long a scheduler without any worker is waited for, in seconds.
PATIENCE = 120.0

_LOOK = 0.2  # seconds between two looks at who is there
_FETCH = 60.0  # seconds that one result may take to come over


@lru_cache(maxsize=1)
def _require_isolation() -> None:
    require()


def do_elsewhere(job: Job) -> JobResult:
    """:func:`do` on a Dask worker, whose machine proves its isolation before the first submission.

    A worker that has imported another version of the grader or of the course library grades nothing.
    """
    version = imported_version(job.course)
    if version != job.version:
        return JobResult(job, None, version=version)
    if job.isolation == "auto":
        _require_isolation()
    return replace(do(job), version=version)


def dask_results(jobs: list[Job], address: str, work: Work = do_elsewhere) -> Iterator[JobResult]:
    """Grade with the workers of a running Dask scheduler, which see the course under the same path.

    What a worker died under is graded again at the end, alone on its machine.
    Raises GradingError where Dask is missing, no scheduler answers, no worker is left or one is of another version.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise GradingError("--scheduler needs Dask: pip install 'dask' 'distributed'") from error
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise GradingError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        staff, waiting = _Staff(client, address, work), jobs
        for attempt in range(ATTEMPTS):
            suspects: list[Job] = []
            yield from staff.grade(deque(waiting), suspects, alone=attempt > 0)
            waiting = suspects
        yield from (JobResult(job, None, KILLED) for job in waiting)


class _Staff:
    """The workers that are there, and what each of them is doing."""

    def __init__(self, client: "Client", address: str, work: Work) -> None:
        self._client, self._address, self._work = client, address, work
        self._running: dict[object, tuple[Future, Job, str]] = {}  # key -> its future, job and worker
        self._finished: SimpleQueue[Future] = SimpleQueue()
        self._seen = time.monotonic()

    def grade(self, queue: deque[Job], suspects: list[Job], *, alone: bool) -> Iterator[JobResult]:
        """Results as they come; what a worker died under is left in ``suspects``.

        alone: one submission at a time on each machine, else one for each thread of a worker.
        """
        while queue or self._running:
            threads = self._threads()
            yield from self._take(suspects)  # before the dead are counted: their last results may have come
            self._bury(threads, suspects)
            for worker in self._free(threads, alone):
                if queue:
                    self._give(queue.popleft(), worker)
            yield from self._take(suspects, _LOOK)

    def _threads(self) -> dict[str, int]:
        """worker -> threads. Raises GradingError where there has been no worker for a long time."""
        threads: dict[str, int] = self._client.nthreads()
        if threads:
            self._seen = time.monotonic()
        elif time.monotonic() > self._seen + PATIENCE:
            raise GradingError(
                f"the Dask scheduler at {self._address} has had no worker for {PATIENCE:.0f} s; start one "
                "('dask worker'), then the same command goes on where this one stopped"
            )
        return threads

    def _free(self, threads: dict[str, int], alone: bool) -> Iterator[str]:
        """A worker for each job that may be handed out now."""
        busy = Counter(worker for _, _, worker in self._running.values())
        if not alone:
            for worker, number in threads.items():
                yield from [worker] * (number - busy[worker])
            return
        taken = {_machine(worker) for worker in busy}
        for worker in threads:
            if _machine(worker) not in taken:
                taken.add(_machine(worker))
                yield worker

    def _give(self, job: Job, worker: str) -> None:
        future = self._client.submit(self._work, job, pure=False, workers=[worker], allow_other_workers=False)
        self._running[future.key] = future, job, worker
        future.add_done_callback(self._finished.put)

    def _bury(self, threads: dict[str, int], suspects: list[Job]) -> None:
        for key, (future, job, worker) in list(self._running.items()):
            if worker not in threads and not future.done():
                del self._running[key]
                future.cancel()
                suspects.append(job)

    def _take(self, suspects: list[Job], seconds: float = 0.0) -> Iterator[JobResult]:
        """What has finished, after a wait of ``seconds`` at most for the first."""
        while True:
            try:
                future = self._finished.get(timeout=seconds) if seconds else self._finished.get_nowait()
            except Empty:
                return
            seconds = 0.0
            if future.key in self._running:
                _, job, worker = self._running.pop(future.key)
                done = self._result(future, job, worker)
                if done is None:
                    suspects.append(job)
                else:
                    yield done

    def _result(self, future: "Future", job: Job, worker: str) -> JobResult | None:
        """None where the worker was lost, with the job or with its result."""
        from distributed import KilledWorker

        try:
            done: JobResult = future.result(timeout=_FETCH)
        except (KilledWorker, TimeoutError, OSError):
            return None
        except (ImportError, AttributeError) as error:  # it was not even possible to ask
            raise GradingError(_another_version(worker)) from error
        except Exception as error:
            details = "".join(traceback.format_exception(error))
            return JobResult(
                job, None, f"the worker {worker} could not do it ({type(error).__name__}: {error})", details
            )
        if getattr(done, "version", None) != job.version:  # one from before it was asked has no such field
            raise GradingError(_another_version(worker))
        return done


def _another_version(worker: str) -> str:
    return (
        f"the Dask worker at {worker} has another version of the grader, of the course library or of what they are "
        "built on than this machine: install the same there and start it again"
    )


def _machine(worker: str) -> str:
    """``tcp://10.0.0.7:34567`` -> ``tcp://10.0.0.7``"""
    return worker.rpartition(":")[0]
