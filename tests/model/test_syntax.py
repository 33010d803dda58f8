"""Several threads read syntax trees at once: sample answers and mutants are tried so."""

from __future__ import annotations

import threading

from autograder.model.cells import tree_of

DEEP = "\n".join(
    f"def f{n}(a):\n    class B:\n        def g(self):\n            return [a for a in range({n}) if a]"
    for n in range(60)
)


class Circle:
    """Garbage that runs Python code when it is collected: another thread may go on there."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        threading.Event().wait(0)


def test_threads_may_read_trees_at_once() -> None:
    failed: list[BaseException] = []

    def read() -> None:
        for _ in range(30):
            [Circle() for _ in range(50)]
            try:
                tree_of(DEEP)
            except SystemError as error:
                failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
