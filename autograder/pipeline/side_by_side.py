"""The notebooks of one submission at the same time: each is run in a thread, on kernels that this thread has alone.

They are begun from the last to the first, and come back in order, so that whoever judges them sees what it sees when
they are run one after the other. Nobody's time gets shorter: a notebook's clock starts when the notebook does, callers
have no more notebooks at work than cores, and what a thread here does beside the kernels' work is little. Where
notebooks talk much with their testers at once, they wait for each other by milliseconds; limits are many times what a
solution takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Generic, Protocol, TypeVar

from autograder.kernel.kernels import Kernels


class Closable(Protocol):
    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closable)


def side_by_side(
    names: Sequence[str], kernels: Sequence[Kernels], execute: Callable[[str, Kernels], Made]
) -> Generator[tuple[str, Made]]:
    """Each name with what ``execute`` makes of it, in order; as many at once as there are ``kernels``, confined ones.

    Whoever gets something closes it. An exception in one thread is raised here as soon as it is there. Then, and where
    the iterator is closed early, the kernels of the others are killed, and this ends when the threads have: to be used
    with :func:`contextlib.closing`.
    """
    free: SimpleQueue[Kernels] = SimpleQueue()

    def go(name: str) -> Made:
        mine = free.get()
        try:
            return execute(name, mine)
        finally:
            free.put(mine)

    pool, results = ThreadPoolExecutor(len(kernels), "notebook"), _Results[Made]()
    try:
        for one in kernels:
            one.beside_others()
            free.put(one)
        # the last one first: it builds on the others, tends to take longest, and would leave the other threads idle
        begun = {name: pool.submit(go, name) for name in reversed(names)}
        results.wanted.extend(begun[name] for name in names)
        for name in names:
            yield name, results.next()
    except BaseException:  # a fault, Ctrl-C, or nobody wants the rest
        for one in kernels:
            one.abandon()
        pool.shutdown(cancel_futures=True)
        for one in kernels:
            one.settle()  # what the grader holds of their messages is gone before it is measured again
        raise
    finally:
        pool.shutdown()
        results.close()
        for one in kernels:
            one.resume()


class _Results(Generic[Made]):
    """What threads were given to make. ``wanted``: what nobody has got yet, in order."""

    def __init__(self) -> None:
        self.wanted: deque[Future[Made]] = deque()

    def next(self) -> Made:
        """The next one, when it is there. Raises at once what any of the threads has raised."""
        while True:
            for future in self.wanted:
                if future.done():
                    future.result()
            if self.wanted[0].done():
                return self.wanted.popleft().result()
            wait([future for future in self.wanted if not future.done()], return_when=FIRST_COMPLETED)

    def close(self) -> None:
        """Close what is left, when all threads have ended."""
        for future in self.wanted:
            if not future.cancelled() and future.exception() is None:
                future.result().close()
