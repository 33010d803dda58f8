"""Processes that take a second to come up, started before this one has imported nbgrader and read the course.

What they import stands in the folder's ``course.toml``. If the course turns out to be another one, they were for
nothing.
"""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.worker_processes import start_importing
from autograder.errors import GradingError
from autograder.isolation import begin_self_test
from autograder.kernel.fork_server import KernelForkServer
from autograder.kernel.imports import KernelImports, imports_for
from autograder.kernel.warm import KeptForkServer, kept_fork_server
from autograder.model.course_file import NAME, CourseFile, read_course_file
from autograder.model.import_nbgrader import import_nbgrader

_CONFIG = "nbgrader_config.py"


class HeadStart:
    """A fork server for the course that a folder seems to be, and what else a command waits for. To be closed.

    submission: a folder that a student filled, for a command that grades it in its own process, without workers. No
    settings are taken from there.
    """

    def __init__(self, folder: Path, submission: Path | None = None) -> None:
        self._imports: KernelImports | None = None
        self._fork_server: KernelForkServer | KeptForkServer | None = None
        if (file := _course_file(folder, submission)) is not None:
            self._begin(imports_for(folder.absolute(), file))  # everything waits for it
            begin_self_test()
            if submission is None:
                start_importing(file.drawings)  # forks this process, which must have one thread
            import_nbgrader()

    def _begin(self, imports: KernelImports) -> KernelForkServer | KeptForkServer:
        self.close()
        self._imports, self._fork_server = imports, kept_fork_server(imports) or KernelForkServer(imports, watch=False)
        return self._fork_server

    def fork_server(self, imports: KernelImports) -> KernelForkServer | KeptForkServer:
        """One that imports just this."""
        return self._fork_server if self._fork_server and self._imports == imports else self._begin(imports)

    def close(self) -> None:
        if self._fork_server is not None:
            self._fork_server.close()


def _course_file(folder: Path, submission: Path | None) -> CourseFile | None:
    """What the folder says, if it is certain to be no part of a course: what lies in there may come from a student."""
    folder = folder.absolute()
    own = submission and submission.resolve()
    if own and any(path.resolve().is_relative_to(own) for path in (folder, folder / _CONFIG, folder / NAME)):
        return None
    above = [parent / name for parent in folder.parents for name in (_CONFIG, NAME)]
    if not (folder / _CONFIG).is_file() or any(path.exists() for path in above):
        return None
    try:
        file = read_course_file(folder)
        imports_for(folder, file)
    except GradingError:  # said where the course is opened
        return None
    return file
