"""Dask workers that are there again at once when they have died: forked from a process that has imported Dask."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import threading
from collections.abc import Iterator
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess


def serve(address: str) -> None:
    """One worker with one thread, until it is killed."""
    from distributed import Worker

    async def until_closed() -> None:
        worker = await Worker(address, nthreads=1, dashboard=False, heartbeat_interval="1s")
        await worker.finished()

    asyncio.run(until_closed())


@contextlib.contextmanager
def crew(number: int) -> Iterator[str]:
    """The address of a scheduler with ``number`` workers, whose dead are replaced."""
    from distributed import LocalCluster

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["distributed", "tests.silent.jobs"])
    over = threading.Event()
    with LocalCluster(n_workers=0, dashboard_address=None, processes=False, protocol="tcp://") as cluster:
        keeper = threading.Thread(target=_keep, args=(context, cluster.scheduler_address, number, over), daemon=True)
        keeper.start()
        try:
            yield cluster.scheduler_address
        finally:
            over.set()
            keeper.join()


def _keep(context: BaseContext, address: str, number: int, over: threading.Event) -> None:
    workers: list[BaseProcess] = []
    while not over.wait(0.02):
        workers = [worker for worker in workers if worker.is_alive()]
        while len(workers) < number:
            workers.append(context.Process(target=serve, args=(address,), daemon=True))  # type: ignore[attr-defined]
            workers[-1].start()
    for worker in workers:
        worker.kill()
        worker.join()
