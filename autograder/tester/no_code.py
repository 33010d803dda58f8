"""While a test runs that has values of the student's, no text becomes code in the tester.

Many functions of libraries evaluate a text that they are given: ``DataFrame.query``, templates, ``sympify``. What they
would run is stopped before it runs, by the end of the process, of which the grader hears from the system: nothing that
a text could change decides how such a cell ended.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: The exit code of a tester that stopped so.
TEXT_AS_CODE = 86
_EVENTS = frozenset((
    "exec", "pickle.find_class", "marshal.loads", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn",
    "os.spawn", "os.fork", "ctypes.dlopen", "code.__new__", "function.__new__", "cpython.run_file",
))  # fmt: skip
#: Who makes code of texts of its own: IPython of the cell, and functions that write functions.
_OWN_TEXTS = (
    "/IPython/core/interactiveshell.py", "/collections/__init__.py", "/dataclasses.py", "/decorator.py",
    "/scipy/stats/_distn_infrastructure.py", "/networkx/utils/decorators.py",
)  # fmt: skip
#: Evaluates texts by itself, names of the test among them: ``DataFrame.query`` and ``eval``.
_EVALUATES = "/pandas/core/computation/"
_IMPORTING = "<frozen importlib._bootstrap"
_active = False


def _stop(event: str, args: tuple[Any, ...]) -> None:
    if _active and (
        (event in _EVENTS and not _is_own(sys._getframe(1))) or (event == "compile" and _evaluates(sys._getframe(1)))
    ):
        os._exit(TEXT_AS_CODE)


def _evaluates(frame: FrameType | None) -> bool:
    above = frame.f_back if frame is not None else None  # ast.parse compiles for whoever calls it
    return any(one is not None and _EVALUATES in one.f_code.co_filename for one in (frame, above))


def _is_own(frame: FrameType | None) -> bool:
    """Whether the one who asks runs no text of others. Functions written in C have no frame."""
    if frame is not None and frame.f_code.co_filename.endswith(_OWN_TEXTS):
        return True
    while frame is not None and not frame.f_code.co_filename.startswith(_IMPORTING):
        frame = frame.f_back
    return frame is not None


_hooked = False


@contextmanager
def no_text_as_code() -> Iterator[None]:
    """Until its end, this process ends where a text would be executed. In every thread."""
    global _active, _hooked
    if not _hooked:
        sys.addaudithook(_stop)
        _hooked = True
    _active = True
    try:
        yield
    finally:
        _active = False
