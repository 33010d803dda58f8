"""What kernels import of a course: the library of the students' notebooks, and modules that are imported beforehand."""

import re
import site
import sysconfig
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import GradingError, NoLibrary
from autograder.model.course_file import CourseFile

if TYPE_CHECKING:
    from autograder.model.course import Course


#: Whatever draws, or shows a bar, says one of these somewhere.
_PICTURES = re.compile(rb"plot|plt|pylab|seaborn|tqdm|PIL")
_MAX_LOOKED_AT, _MAX_READ = 200, 1 << 20  # files, bytes of each

_GRADER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class KernelImports:
    """``readable``: files and folders of the library, for confined kernels to read; ``paths``: what ``sys.path`` needs
    so that it is found there; ``warm``: modules that the fork server imports once for all kernels; ``pictures``:
    whether matplotlib and what shows pictures and bars are among them; ``ready_made``: parts whose use is noted.
    """

    readable: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    warm: tuple[str, ...] = ()
    pictures: bool = True
    ready_made: tuple[str, ...] = ()


def imports_of(course: "Course") -> KernelImports:
    """Raises GradingError where the course's library is not installed, or lies where it would show more than itself."""
    if library := course.file.library:
        for place in library_places(course.root, course.file):
            _require_harmless(library, place, course)
    return imports_for(course.root, course.file)


def imports_for(root: Path, file: CourseFile) -> KernelImports:
    """What the ``course.toml`` in ``root`` asks for. Raises GradingError where the library is not installed."""
    library, noted = file.library, file.parts
    if not library:
        return KernelImports(warm=file.warm, pictures=bool(file.warm) or _shows_pictures(root), ready_made=noted)
    places = library_places(root, file)
    installed = {Path(path).resolve() for path in (*sysconfig.get_paths().values(), *site.getsitepackages())}
    depth = library.count(".")
    parents = dict.fromkeys(place.parents[depth] for place in places)
    paths = tuple(str(parent) for parent in parents if parent not in installed)
    return KernelImports(tuple(map(str, places)), paths, file.warm, ready_made=noted)


@lru_cache(maxsize=8)
def _shows_pictures(root: Path) -> bool:
    """Whether a notebook may draw, or show how far it is. It can in any case: then each kernel imports that itself.

    True for large classes without a look: there a second at the start is nothing.
    """
    files = (path for folder in ("source", "submitted") for path in (root / folder).rglob("*.*") if path.is_file())
    looked_at = list(islice(files, _MAX_LOOKED_AT + 1))
    if not (root / "source").is_dir() or len(looked_at) > _MAX_LOOKED_AT:
        return True
    return any(_PICTURES.search(_beginning(path)) for path in looked_at if path.suffix in (".ipynb", ".py"))


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_READ)
    except OSError:
        return b""


def library_places(root: Path, file: CourseFile) -> list[Path]:
    """The folders of a package (a namespace package can have several), or the file of a module. Imports nothing of it.

    One that is not installed may lie in the course's folder ``root``. Raises NoLibrary where it is in neither place.
    """
    library = file.library
    spec = _found(library)
    if spec is None and (folder := library_folder(root, file)):
        place = folder.joinpath(*library.split(".")).resolve()
        return [place if place.is_dir() else place.with_suffix(".py")]
    if spec is None:
        raise NoLibrary(
            f"course.toml: the library {library!r} is not installed where the grader runs, nor in the course's folder: "
            "install it with pip beside the grader, or name another one"
        )
    if spec.submodule_search_locations is not None:
        return [Path(place).resolve() for place in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.has_location and spec.origin else []


def _found(library: str) -> ModuleSpec | None:
    try:
        return find_spec(library)
    except (ImportError, ValueError, AttributeError):  # its parent is missing, or is no package
        return None


def _require_harmless(library: str, place: Path, course: "Course") -> None:
    root = course.root.resolve()
    for secret in (root, _GRADER, *(folder.resolve() for folder in course.private_folders())):
        # a folder of its own within the course is as good a place as any
        if secret.is_relative_to(place) or (secret != root and place.is_relative_to(secret)):
            raise GradingError(
                f"course.toml: students' code may read the library {library!r}, but {place} is not apart from "
                f"{secret}, which it must not read: keep the library in a folder of its own"
            )


def library_folder(root: Path, file: CourseFile) -> Path | None:
    """The folder that ``sys.path`` needs so that the library is found there: the course's, or ``src`` in it.

    None where it is installed: then nothing else that lies in the course's folder is to be found by its name.
    """
    top = file.library.partition(".")[0]
    places = [root / "src", root] if top else []
    spec = find_spec(top) if top else None
    found = (spec.submodule_search_locations or [spec.origin or ""]) if spec else ()
    if any(Path(place or root).resolve().parent not in [one.resolve() for one in places] for place in found):
        return None
    return next((one for one in places if (one / top).is_dir() or (one / f"{top}.py").is_file()), None)
