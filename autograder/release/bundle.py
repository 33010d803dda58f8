"""A bundle: everything that grades one assignment, in one zip that Gradescope takes as an autograder.

Source: "Autograder Specifications", https://gradescope-autograders.readthedocs.io/en/latest/specs/: ``setup.sh`` and
``run_autograder`` lie at the root of the zip, which is unpacked to ``/autograder/source``; the submission is in
``/autograder/submission``, and ``/autograder/results/results.json`` is what counts. Unpacked, a bundle is a small
course folder, so that it also serves as the repository a GitHub workflow grades with.

It holds hidden tests and references, without which nothing could be graded, but no model answer: students' code runs
in the same container.
"""

import os
import secrets
import shlex
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import nbformat

from autograder.assignment.assignment import Assignment, trusted
from autograder.assignment.calibration import shipped
from autograder.errors import GradingError
from autograder.files.atomic import replacing, writing
from autograder.files.temporary import TemporaryFolder
from autograder.kernel.imports import library_places
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import NAME
from autograder.model.plain_text import read_toml
from autograder.plain.where import is_plain
from autograder.references import loader
from autograder.references.draw import RunPatched
from autograder.references.store import FOLDER, References
from autograder.references.write import distributions
from autograder.release.agreement import check_before_grading, cleared
from autograder.release.calibrate import calibrated_in

PACKAGE = Path(__file__).resolve().parents[1]
SCRIPTS = ("setup.sh", "run_autograder")
#: What installs the course's library; README.md and LICENSE belong to its metadata.
_PROJECT_FILES = ("pyproject.toml", "README.md", "LICENSE")
_CONSTRAINTS = "constraints.txt"
MAX_BYTES = 100 * 1000 * 1000
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip can hold
_INCOMPRESSIBLE = (".safetensors", ".npy", ".png")  # seconds of work would make weights smaller by a tenth


@dataclass(frozen=True)
class BundleSettings:
    """How the bundle grades. ``seed``: draw references of its own instead of taking those that are stored here.

    run: runs the solution with the patches of known mistakes, where references are drawn.
    library_from: what pip installs the course's library from, where it is not to be in the zip.
    """

    ci_options: Sequence[str] = ()
    pip_options: Sequence[str] = ()
    seed: int | None = None
    run: RunPatched | None = None
    library_from: str = ""


def write_bundle(course: Course, assignment_name: str, settings: BundleSettings, out: Path) -> int:
    """Write the zip, byte for byte the same for the same inputs; returns its size in bytes.

    Raises GradingError, and writes nothing, where the assignment is unknown or the zip exceeds 100 MB.
    """
    assignment = Assignment.open(course, assignment_name)
    check_before_grading(course.root, assignment)
    if not (PACKAGE / "pyproject.toml").is_file():
        raise GradingError(f"{PACKAGE} lacks pyproject.toml: install the autograder with 'pip install --editable'")
    assignment = calibrated_in(course, assignment, course.file.limits)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".bundle-") as work:
        references = assignment.references
        if settings.seed is not None:
            references.build(assignment_name, settings.seed, Path(work) / FOLDER, run=settings.run)
            references = References(Path(work) / FOLDER)
        if references.seed(assignment_name) is None and _needs_references(assignment):
            raise GradingError(f"{assignment_name} has no references: run 'autograder references {assignment_name}'")
        entries = dict(_entries(course, assignment, references, settings))
        fresh = Path(work) / "bundle.zip"
        _write_zip(fresh, entries)
        size = fresh.stat().st_size
        if size > MAX_BYTES:
            raise GradingError(f"the bundle has {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB can be uploaded")
        os.replace(fresh, out)
    return size


def _needs_references(assignment: Assignment) -> bool:
    graded = (cell for book in assignment.source.values() for cell in book.cells if cells.is_autograded(cell))
    return not all(map(is_plain, graded))


def _entries(
    course: Course, assignment: Assignment, references: References, settings: BundleSettings
) -> Iterator[tuple[str, bytes]]:
    """(path in the zip, content) of every file."""
    name = assignment.name
    library = {} if settings.library_from else dict(_library(course))
    for script in SCRIPTS:
        yield script, (Path(__file__).parent / "bundle_files" / script).read_bytes()
    yield "settings.sh", _shell(course, name, settings, list(library)).encode()
    yield from library.items()
    for file in (NAME, _CONSTRAINTS):
        if (course.root / file).is_file():
            yield file, (course.root / file).read_bytes()
    yield from _folder(PACKAGE, "autograder")
    yield from _oracles(assignment.references.folder, name)
    yield from (stored for stored in _folder(references.folder / name, f"{FOLDER}/{name}") if stored[0][-3:] != ".py")
    for stem, notebook in assignment.source.items():
        unsolved = cleared(trusted(notebook, assignment.release[stem]))
        yield f"source/{name}/{stem}.ipynb", (nbformat.writes(unsolved) + "\n").encode()
    if assignment.calibration is not None:
        yield shipped(assignment.name, assignment.bundled_version, assignment.calibration)
    for file, data in assignment.files.items():
        yield f"source/{name}/{file}", data
    yield from _folder(course.release(name), f"release/{name}")


def _library(course: Course) -> Iterator[tuple[str, bytes]]:
    """The course's library with what installs it; nothing where there is none, or pip finds it by its name."""
    for place in library_places(course.root, course.file) if course.file.library else ():
        project = next((folder for folder in list(place.parents)[:3] if (folder / "pyproject.toml").is_file()), None)
        if project is not None:
            yield from ((name, (project / name).read_bytes()) for name in _PROJECT_FILES if (project / name).is_file())
            path = place.relative_to(project).as_posix()
            yield from _folder(place, path) if place.is_dir() else [(path, place.read_bytes())]


def _shell(course: Course, assignment: str, settings: BundleSettings, library: Sequence[str]) -> str:
    install = ["--editable", "./autograder", *(["--editable", "."] if library else [])]
    if settings.library_from:
        install.append(settings.library_from)
    elif course.file.library and not library:
        install += distributions(course.file.library)
    if (course.root / _CONSTRAINTS).is_file():
        install = ["--constraint", _CONSTRAINTS, *install]
    return (
        f"INSTALL=({shlex.join(install)})\n"
        f"ASSIGNMENT={shlex.quote(assignment)}\n"
        f"CI_OPTIONS=({shlex.join(settings.ci_options)})\n"
        f"PIP_OPTIONS=({shlex.join(settings.pip_options)})\n"
    )


def _oracles(exercises: Path, assignment: str) -> Iterator[tuple[str, bytes]]:
    """The modules of the assignment's exercises and those that all assignments share, without any sample answer."""
    names = loader.names(exercises, assignment)
    for path in loader.trusted_modules(exercises):
        if path.parent == exercises or exercises / assignment in path.parents:
            data = path.read_bytes()
            if path.parent == exercises / assignment and path.stem in names:
                made = loader.exercise(exercises, f"{assignment}/{path.stem}")
                data = loader.for_judging(exercises, made).encode()
            yield f"{FOLDER}/{path.relative_to(exercises).as_posix()}", data


def _folder(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Every file beneath, but for what tools leave behind: ``pip install`` a folder ``build``, say."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        litter = any(part.startswith(".") or part == "__pycache__" or part.endswith(".egg-info") for part in parts)
        litter = litter or parts[0] in ("build", "dist")
        if path.is_file() and not litter:
            yield "/".join((prefix, *parts)), path.read_bytes()


def _write_zip(path: Path, entries: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(entries):
            about = zipfile.ZipInfo(name, _EPOCH)
            about.compress_type = zipfile.ZIP_STORED if name.endswith(_INCOMPRESSIBLE) else zipfile.ZIP_DEFLATED
            about.create_system = 3  # Unix, whatever this machine is: only then the mode below counts
            about.external_attr = (0o100755 if name in SCRIPTS else 0o100644) << 16
            archive.writestr(about, entries[name])


FILES = Path(__file__).parent / "bundle_files"
# What grades one assignment on GitHub: in plain repositories of an organisation, and in Classroom 50. Both grade with
# references of their own. Whoever may push to a repository can read what its workflows read, so nothing here is what
# the points that count are made of, and no step that runs a student's code sees a secret.

#: Classroom 50's runner fetches an autograder of at most 10 MiB (its runner.py: MAX_FETCH_BYTES).
MAX_CLASSROOM_BYTES = 10 << 20
_MARK = ".autograder-bundle"


def write_folder(course: Course, assignment: str, settings: BundleSettings, out: Path) -> list[Path]:
    """Write ``template/``, ``grader/`` and ``classroom50/`` into ``out``; returns the three.

    Raises GradingError, and leaves what was there, where ``out`` holds something else or nothing can be graded.
    """
    if out.exists() and any(out.iterdir()) and not (out / _MARK).exists():
        raise GradingError(f"{out} is not empty and was not written by this command: give a new or an empty folder")
    practice = replace(settings, seed=secrets.randbelow(1 << 31) if settings.seed is None else settings.seed)
    with writing(out), TemporaryFolder("github-") as temporary:
        packed = temporary / "bundle.zip"
        size = write_bundle(course, assignment, practice, packed)
        with replacing(out) as fresh:
            (fresh / _MARK).write_text(f"{assignment}\n")
            _unpack(packed, fresh / "grader")
            _template(course, assignment, fresh / "template")
            if size > MAX_CLASSROOM_BYTES * 0.9:
                size = write_bundle(course, assignment, replace(practice, library_from=_library_folder(course)), packed)
            if size > MAX_CLASSROOM_BYTES * 0.9:
                raise GradingError(f"the bundle has {size / 1e6:.0f} MB; Classroom 50 takes 10 MB")
            own = fresh / "classroom50" / "autograders" / assignment
            own.mkdir(parents=True)
            shutil.copyfile(packed, own / "bundle.zip")
            shutil.copyfile(FILES / "classroom50.py", own / "autograder.py")
    return [out / name for name in ("template", "grader", "classroom50")]


def _template(course: Course, assignment: str, folder: Path) -> None:
    shutil.copytree(course.release(assignment), folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    workflow = (FILES / "github.yml").read_text(encoding="utf-8")
    path = folder / ".github" / "workflows" / "grade.yml"
    path.parent.mkdir(parents=True)
    path.write_text(workflow.replace("ASSIGNMENT: distilbert", f"ASSIGNMENT: {assignment}"), encoding="utf-8")


def _unpack(packed: Path, folder: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        for member in archive.infolist():
            Path(archive.extract(member, folder)).chmod(member.external_attr >> 16 & 0o777)


def _library_folder(course: Course) -> str:
    """The library as pip finds it: in the public repository, or by its name."""
    path = course.root / "pyproject.toml"
    if not path.is_file():
        return course.file.library
    name = read_toml(path).get("project", {}).get("name", course.file.library)
    return f"{name} @ git+https://github.com/{course.file.repository}"
