"""What grades one assignment on GitHub: in plain repositories of an organisation, and in Classroom 50.

Both grade with references of their own. Whoever may push to a repository can read what its workflows read, so nothing
here is what the points that count are made of, and no step that runs a student's code sees a secret.
"""

from __future__ import annotations

import secrets
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

from autograder.errors import GradingError
from autograder.files.atomic import replacing, writing
from autograder.files.temporary import TemporaryFolder
from autograder.model.course import Course
from autograder.model.toml_text import read_toml
from autograder.release.bundle import BundleSettings, write_bundle

FILES = Path(__file__).parent / "bundle_files"
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
                size = write_bundle(course, assignment, replace(practice, library_from=_library(course)), packed)
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


def _library(course: Course) -> str:
    """The library as pip finds it: in the public repository, or by its name."""
    path = course.root / "pyproject.toml"
    if not path.is_file():
        return course.file.library
    name = read_toml(path).get("project", {}).get("name", course.file.library)
    return f"{name} @ git+https://github.com/{course.file.repository}"
