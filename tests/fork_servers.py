"""Fork servers that live longer than one grading: each takes seconds to start, and the next is the same."""

import atexit
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.files.temporary import own_folder
from autograder.kernel.fork_server import KernelForkServer, variables
from autograder.kernel.imports import KernelImports

ROOT = Path(__file__).resolve().parents[1]


class _Kept(KernelForkServer):
    """A fork server that the next test goes on with."""

    def close(self) -> None:
        """Nothing: it ends with the process."""

    @property
    def alive(self) -> bool:
        return not self._failure


_kept: dict[object, _Kept] = {}
_USUAL = own_folder(short=True)


def fork_server(imports: KernelImports = KernelImports()) -> KernelForkServer:
    """The one of before, where another would be the same.

    The library lies in the checkout, and so does not change; its socket lies where no test takes the folder away.
    """
    if own_folder(short=True) != _USUAL or not all(Path(place).is_relative_to(ROOT) for place in imports.readable):
        return KernelForkServer(imports)
    key = (imports, tuple(sorted(variables().items())))
    if key not in _kept or not _kept[key].alive:
        _kept[key] = _Kept(imports)
        atexit.register(KernelForkServer.close, _kept[key])
    return _kept[key]


@pytest.fixture(scope="module", autouse=True)  # one of a package lasts to the end where a module imports it
def fork_servers_are_kept() -> Iterator[None]:
    """For folders whose ``conftest.py`` imports it, and modules that do.

    How one starts and ends: tests/isolation, tests/classroom.
    """
    from autograder.ci import outcome
    from autograder.classroom import run
    from autograder.kernel import fork_server as imported_when_needed
    from autograder.kernel import kernels

    with pytest.MonkeyPatch.context() as patch:
        for module in (outcome, run, kernels, imported_when_needed):
            patch.setattr(module, "KernelForkServer", fork_server)
        yield
