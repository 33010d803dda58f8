"""The students' repository: released notebooks, and the course library as it installs in Colab.

What is written is checked before any of it takes its place: the release is what the source makes of itself, every cell
can be judged, nothing leaks, every link leads somewhere, and somebody has looked at every picture. A folder that was
published before is brought up to date: files that are not ours (``.git``, say), the instructor's own words in
README.md, and assignments that were published earlier and are not chosen this time stay.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import nbformat

from autograder.assignment.assignment import Assignment
from autograder.authoring.packs import copy_rules
from autograder.errors import GradingError, NothingToGrade
from autograder.exercise.pack import pack_names
from autograder.files.atomic import undisturbed
from autograder.model import cells
from autograder.model.course import Course, assignments_named, unknown_assignment
from autograder.model.course_file import NAME
from autograder.plain.names import names_of
from autograder.publish.texts import (
    Correction,
    lessons_of,
    note_corrections,
    students_readme,
    with_own_words,
    write_rules,
)
from autograder.references.store import PACKS
from autograder.release.agreement import differences
from autograder.release.findings import Accepted, Finding, accept, entry, pinned
from autograder.release.judgeable import require_judgeable, wrong_points
from autograder.release.leaks.embedded import embedded
from autograder.release.leaks.search import Hidden, found_in, hidden_of, release_leaks
from autograder.release.main_line import Lesson, main_line

TEMPLATES = Path(__file__).resolve().parent / "publish_files"
#: In a published folder: the files that were written there, and the first page of its site.
LIST, SITE_FRONT = ".published.json", "site/index.html"
#: A picture that a Markdown file shows, by a path of this repository.
_PICTURE = re.compile(r"!\[[^\]]*\]\(([\w./-]+)\)")
_UNWANTED = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints", ".*")
_REPOSITORY = re.compile(r'^REPOSITORY = "([^"]+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Published:
    """``repository``: OWNER/NAME as it stands in badges and setup cells; ``removed``: what was there and is no more;
    ``kept``: assignments that were published earlier and stayed as they were; ``corrections``: what students have
    already and is another one now; ``due``: what is published later, or has no date; ``site_bytes``: 0 without a site.
    """

    files: tuple[str, ...]
    removed: tuple[str, ...]
    repository: str
    pictures: tuple[Finding, ...] = ()
    kept: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    due: "Due | None" = None
    site_bytes: int = 0


def publish(
    root: Path,
    folder: Path,
    named: Sequence[str] = (),
    *,
    approve_pictures: bool = False,
    until: datetime | None = None,
    note: str = "",
    today: date | None = None,
    site: bool = False,
) -> Published:
    """Write the students' repository of the course at ``root`` into ``folder``.

    named: these assignments only; without any, what is due until then (default: now), or all where no dates are set.
    Those that were published before stay. note: about corrections. site: add a site of what the folder then holds; a
    folder with a site gets a new one in any case. Raises GradingError where the folder holds something else, a release
    is missing, stale or fails a check, anything leaks, or a picture was not approved; then nothing was changed.
    """
    course = Course(root)
    line = main_line(course)
    before = _published_before(folder)
    now_due = due(course, named, until)
    chosen = now_due.chosen
    accepted = Accepted.of_course(course.root)
    sheets = _sheets(course, chosen, accepted)
    kept = _kept(folder, before, course, sheets) if chosen else ()
    repository = _repository(course, sheets)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".publish-") as temporary:
        fresh = Path(temporary)
        _fill(fresh, folder, course, lessons_of(line, sheets, folder, kept), repository)
        for sheet in sheets:
            shutil.copytree(course.release(sheet.name), fresh / "release" / sheet.name, ignore=_UNWANTED)
        everything = [
            *(fresh / "release" / sheet.name for sheet in sheets),
            *(folder / "release" / one for one in kept),
        ]
        write_rules(course, fresh, sorted(everything, key=lambda one: one.name), folder, before)
        notebooks = sorted(str(path.relative_to(fresh)) for path in (fresh / "release").rglob("*.ipynb"))
        corrections = note_corrections(fresh, folder, notebooks, note, today or date.today())
        hidden = hidden_of(course, sheets)
        _require_none("because it would leak", accepted.left(_leaks(fresh, sheets, hidden)))
        known = {name for name in before if (folder / name).is_file() and name.startswith("release/")}
        later = set(course.assignments()) - {sheet.name for sheet in sheets} - set(kept)
        _require_none("because of", accepted.left(dead_links(fresh, repository, known, later)))
        seen = _looked_at(course, fresh, approve_pictures)
        if site or SITE_FRONT in before:
            from autograder.site.shown import add_site

            earlier = [folder / "release" / name for name in kept]
            found = add_site(course, fresh, sheets, earlier, repository, hidden)
            _require_none("because the site would leak", accepted.left(found))
        files, removed = _take_over(fresh, folder, before, kept)
    size = sum((folder / name).stat().st_size for name in files if name.startswith("site/"))
    return Published(files, removed, repository, tuple(seen), kept, tuple(corrections), now_due, size)


def _require_none(why: str, found: Sequence[Finding]) -> None:
    if found:
        lines = [f"{one} ({' '.join(entry(one).splitlines()[1:])})" for one in found]
        raise GradingError(
            f"nothing was published, {why} {'; '.join(lines)}; what is meant so gets a table [[accepted]] at "
            f"the end of {NAME} with the lines in brackets, each on a line of its own, and a reason"
        )


def _looked_at(course: Course, fresh: Path, approve: bool) -> list[Finding]:
    """The pictures of what was laid out. Raises GradingError where somebody has to look at one first."""
    seen = pictures(fresh)
    if approve:
        accept(course.root, seen, "looked at: it shows no answer")
    if unknown := Accepted.of_course(course.root).left(seen):
        raise GradingError(
            "nothing was published: a picture can show an answer, and nobody accepted "
            f"{', '.join(one.where for one in unknown)}; look at each, then publish with --approve-pictures"
        )
    return seen


def _published_before(folder: Path) -> set[str]:
    """The files of an earlier publication. Raises GradingError for a folder that is neither one nor empty."""
    if not folder.exists() or (folder.is_dir() and not any(path.name != ".git" for path in folder.iterdir())):
        return set()
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise GradingError(
            f"{folder} is not empty and was not published by this command: give a new or an empty folder"
        ) from None
    # only what lies inside: the list may have been edited
    return {name for name in listed if not Path(name).is_absolute() and ".." not in Path(name).parts}


def _sheets(course: Course, chosen: Sequence[str], accepted: Accepted) -> list[Assignment]:
    """The assignments to publish. Raises GradingError where one is not released, or not as its source is now."""
    wanted = assignments_named(course, chosen)
    names = [name for name in course.assignments() if name in wanted]
    if not names:
        expected = f"{course.source('<assignment>')}/<notebook>.ipynb"
        raise GradingError(f"{course.root} holds no assignment: expected {expected}")
    missing = [name for name in names if not any(course.release(name).glob("*.ipynb"))]
    if missing:
        raise GradingError(
            f"{', '.join(missing)}: not released yet; run 'autograder release {' '.join(missing)}', or publish others "
            "by name"
        )
    sheets = [Assignment.open(course, name) for name in names]
    stale = {sheet.name: found for sheet in sheets if (found := next(differences(course.root, sheet), None))}
    if stale:
        raise GradingError(
            f"nothing was published: the release is not what the source makes of itself ({next(iter(stale))}: "
            f"{next(iter(stale.values()))}); run 'autograder release {' '.join(stale)}', or publish others by "
            "name"
        )
    for sheet in sheets:
        require_judgeable(sheet)
        for missing_check in missing_checks(sheet, course.file.checks, course.root):
            raise GradingError(f"nothing was published: {sheet.name}/{missing_check}")
        for name, notebook in sheet.release.items():
            wrong = wrong_points(f"{sheet.name}/{name}.ipynb", notebook)
            _require_none("because a number of points is wrong:", accepted.left(wrong))
    return sheets


def _kept(folder: Path, before: set[str], course: Course, sheets: list[Assignment]) -> tuple[str, ...]:
    """The assignments of an earlier publication that this one leaves alone. One that is withdrawn from the folder, or
    from the course, is not among them.
    """
    there = {Path(name).parts[1] for name in before if name.startswith("release/") and (folder / name).is_file()}
    return tuple(sorted(there.intersection(course.assignments()) - {sheet.name for sheet in sheets}))


def _repository(course: Course, sheets: list[Assignment]) -> str:
    """OWNER/NAME as every setup cell has it, or as ``course.toml`` has it where there is no setup cell.

    Raises GradingError where two releases differ.
    """
    named = {
        match
        for sheet in sheets
        for notebook in sheet.release.values()
        for cell in notebook.cells
        for match in _REPOSITORY.findall(cell.source)
    }
    if len(named) > 1:
        raise GradingError(
            f"the released notebooks name {len(named)} repositories ({', '.join(sorted(named))}): set 'repository' in "
            "course.toml and run 'autograder release'"
        )
    return named.pop() if named else course.file.repository


def _leaks(fresh: Path, sheets: list[Assignment], hidden: Mapping[str, Hidden]) -> Iterator[Finding]:
    """Every leak in what was laid out. An assignment may show what is a line of another one's solution, as its own
    release may; the rest may hold nothing of any assignment, published or not.
    """
    with tempfile.TemporaryDirectory(dir=fresh.parent, prefix=".publish-") as aside:
        os.replace(fresh / "release", Path(aside, "release"))
        yield from found_in(fresh, hidden.values())
        os.replace(Path(aside, "release"), fresh / "release")
    for sheet in sheets:
        yield from release_leaks(fresh / "release" / sheet.name, sheet, hidden[sheet.name])


def _fill(fresh: Path, folder: Path, course: Course, lessons: list[Lesson], repository: str) -> None:
    root, publish = course.root, course.file.publish
    try:
        _copy_library(course, fresh)
        template = (root / publish.readme if publish.readme else TEMPLATES / "README.md.j2").read_text(encoding="utf-8")
        page = students_readme(course, template, lessons, repository)
        for name in dict.fromkeys((*publish.files, *_shown(root, publish.files), *_PICTURE.findall(page))):
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, fresh / name)
    except OSError as error:
        raise GradingError(f"the course is not complete: {error.filename or error} cannot be read") from error
    shutil.copyfile(TEMPLATES / "gitignore", fresh / ".gitignore")
    (fresh / "README.md").write_text(with_own_words(folder / "README.md", page), encoding="utf-8")


def _copy_library(course: Course, fresh: Path) -> None:
    """The library, where it lies in the course's folder, and what installs it. Any other one is installed by pip."""
    places = [course.root / "src", course.root]
    top = course.file.library.partition(".")[0]
    for place in (folder / name for folder in places for name in (top, f"{top}.py") if top):
        if not place.exists():
            continue
        target = fresh / place.relative_to(course.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            shutil.copytree(place, target, ignore=_UNWANTED)
            copy_rules(target.parent.joinpath(*course.file.checks.split(".")))
        else:
            shutil.copyfile(place, target)
        project = (course.root / "pyproject.toml").read_text(encoding="utf-8")
        (fresh / "pyproject.toml").write_text(_for_installing(project), encoding="utf-8")
        return


def _shown(root: Path, files: Sequence[str]) -> Iterator[str]:
    """The pictures that Markdown files show, as paths within the course."""
    for name in (one for one in files if one.endswith(".md")):
        for picture in _PICTURE.findall((root / name).read_text(encoding="utf-8")):
            yield os.path.normpath(Path(name).parent / picture)


def _for_installing(project: str) -> str:
    """``pyproject.toml`` without the settings of tools that only developers run, and of folders that are not there."""
    tables = re.split(r"(?m)^(?=\[)", project)
    kept = re.compile(r"\[(?!tool\.|dependency-groups)|\[tool\.setuptools(?!\.package-dir)")
    return "".join(one for one in tables if not one.startswith("[") or kept.match(one))


@undisturbed()
def _take_over(
    fresh: Path, folder: Path, before: set[str], kept: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Bring what was laid out into the folder, with a list of it; returns these files, and those that are gone."""
    files = tuple(sorted(str(path.relative_to(fresh)) for path in fresh.rglob("*") if path.is_file()))
    staying = {name for name in before if name.startswith(tuple(f"release/{one}/" for one in kept))}
    listed = sorted({*files, *staying})
    (fresh / LIST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    for name in (*files, LIST):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(fresh / name, target)
    removed = tuple(sorted(before - set(listed)))
    for name in removed:
        (folder / name).unlink(missing_ok=True)
        for parent in (folder / name).parents:
            if parent == folder or (parent.exists() and any(parent.iterdir())):
                break
            if parent.exists():  # else somebody took it out by hand
                parent.rmdir()
    return files, removed


@dataclass(frozen=True)
class Due:
    """``chosen``: to be published; empty for all of them, where the course names no dates. ``later``: assignment ->
    when it is due; ``undated``: without a date, in a course that has some.
    """

    chosen: tuple[str, ...]
    later: tuple[tuple[str, datetime], ...] = ()
    undated: tuple[str, ...] = ()


def due(course: Course, named: Sequence[str], until: datetime | None = None) -> Due:
    """What may be published until that moment (default: now).

    Raises GradingError where an assignment is named that is not due yet, or a date is of no assignment; NothingToGrade
    where nothing is due.
    """
    dates, known = course.file.dates, course.assignments()
    for name in [*dates, *named]:
        if name not in known:
            where = "course.toml, [dates]: " if name in dates else ""
            raise GradingError(f"{where}{unknown_assignment(course, name)}")
    if until is not None and not dates:
        raise GradingError(
            "--until goes with dates: expected a table [dates] in course.toml, such as distilbert = 2027-01-15"
        )
    moment = until or datetime.now(UTC)
    later = tuple(sorted((name, date) for name, date in dates.items() if date > moment))
    early = [f"{name} ({date:%Y-%m-%d %H:%M %Z})" for name, date in later if name in named]
    if early:
        raise GradingError(f"not due yet: {', '.join(early)}; publish it before with --until, or change course.toml")
    if named or not dates:
        return Due(tuple(named), later)
    chosen = tuple(name for name in known if name in dates and dates[name] <= moment)
    if not chosen:
        name, first = min(later, key=lambda one: one[1])
        raise NothingToGrade(f"nothing is due yet: the first is {name}, on {first:%Y-%m-%d %H:%M %Z}")
    return Due(chosen, later, tuple(name for name in known if name not in dates))


_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".svg", ".avif", ".ico", ".pdf"}
#: What a picture begins with, whatever it is called.
_BEGINNINGS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\0", b"MM\0*", b"%PDF")
_TEXTS = {".ipynb", ".md", ".html", ".htm", ".svg", ".css", ".py", ".json", ".txt", ".rst"}


def pictures(folder: Path) -> list[Finding]:
    """Every picture in a folder, those inside notebooks and pages too, in order. Digests begin as ``sha256sum``'s."""
    found: list[Finding] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        found += _of_file(str(path.relative_to(folder)), path.read_bytes())
    return found


def _of_file(name: str, data: bytes) -> Iterator[Finding]:
    if is_picture(name, data):
        yield Finding("picture", name, "a picture can show an answer", hashlib.sha256(data).hexdigest()[:32])
    if Path(name).suffix.lower() in _TEXTS:
        for inside, content in embedded(name, data.decode("utf-8", "replace")):
            yield from _of_file(inside, content)


def is_picture(name: str, data: bytes) -> bool:
    known = Path(name).suffix.lower() in _SUFFIXES or data.startswith(_BEGINNINGS)
    return known or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")


_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|\b(?:src|href)\s*=\s*[\"']([^\"']+)")
_BLOCK = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1")
_CODE = re.compile(r"`[^`\n]*`")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|/", re.IGNORECASE)
_HEADING = re.compile(r"(?m)^\s{0,3}#{1,6}\s+(.+?)[\s#]*$")
_NAMED = re.compile(r"\b(?:id|name)\s*=\s*[\"']([^\"']+)")


def dead_links(folder: Path, repository: str, present: Collection[str], later: Collection[str]) -> Iterator[Finding]:
    """Every link of a Markdown file or notebook to a file, or a heading of one, that will not be there.

    repository: OWNER/NAME that the folder is published as; links to its pages lead into the folder, too. present: files
    that an earlier publication left there. later: assignments whose turn comes.
    """
    known = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} | set(present)
    known |= {str(parent) for name in known for parent in PurePosixPath(name).parents}
    coming = tuple(f"release/{name}" for name in later)
    texts = list(_texts(folder))
    headings: dict[str, list[str]] = {}
    for _, name, text in texts:
        headings.setdefault(name, []).extend(_headings(_BLOCK.sub("", text)))
    for where, name, text in texts:
        for link in dict.fromkeys("".join(found) for found in _LINK.findall(_CODE.sub("", _BLOCK.sub("", text)))):
            target = _target(link, name, repository)
            if target is None or target.startswith(coming or ("\0",)):
                continue
            part = unquote(link.partition("#")[2])
            heading = "" if "=" in part else _plain(part)  # Colab's scrollTo=... names a cell
            if target not in known:
                yield pinned("link", where, f"the link {link} leads to {target}, which is not published", link, text)
            elif heading and target in headings and heading not in _numbered(headings[target]):
                said = f"the link {link} leads to a heading that {target} does not have"
                yield pinned("link", where, said, link, text)


def _headings(text: str) -> Iterator[str]:
    """What a link to a part of the text may name."""
    for found in (*_HEADING.findall(text), *_NAMED.findall(text)):
        yield _plain(found)


def _numbered(headings: list[str]) -> set[str]:
    """A second heading of the same words is called so with -1 behind it."""
    return {f"{one}{headings[:place].count(one) or ''}" for place, one in enumerate(headings)}


def _plain(heading: str) -> str:
    """Letters and digits alone: of the rest, GitHub, Jupyter and Colab each make something else."""
    return re.sub(r"[\W_]+", "", re.sub(r"\]\([^)]*\)", "", heading)).casefold()


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(where, file, text) of everything in which people follow links."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".md" and path.is_file():
            yield name, name, path.read_text(encoding="utf-8", errors="replace")
        elif path.suffix == ".ipynb" and path.is_file():
            for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
                if cell.cell_type == "markdown":
                    yield f"{name}, {cells.place(cell, number)}", name, cell.source


def _target(link: str, file: str, repository: str) -> str | None:
    """The path in the folder that a link of a file leads to; None where it leads out of the folder."""
    path = unquote(link.partition("#")[0].partition("?")[0])
    page = re.match(rf"https://(?:github\.com|colab\.research\.google\.com/github)/{re.escape(repository)}/", link)
    if page:
        inside = re.fullmatch(r"(?:blob|tree|raw)/[^/]+/(.+)", path[page.end() :])
        return os.path.normpath(inside[1]) if inside else None
    if _ELSEWHERE.match(link):
        return None
    if not path:
        return file
    return os.path.normpath(PurePosixPath(file).parent / path)


def missing_checks(assignment: Assignment, package: str, folder: Path) -> Iterator[str]:
    """Every ``check.something`` in a released notebook that the library does not have. Nothing is imported.

    package: the one of the visible checks, ``course.check``; empty where there is none. folder: where it begins.
    """
    if not package:
        return
    known = cache(lambda module: _names(folder, package, module))
    for name, notebook in assignment.release.items():
        modules: dict[str, str] = {}  # how a notebook calls a module of checks -> the module
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            try:
                tree = cells.parse(cell.source)
            except SyntaxError:  # a cell that shows a mistake on purpose, or is no Python
                continue
            modules |= dict(_imported(tree, package))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                    module = modules[node.value.id]
                    if node.attr not in known(module):
                        yield f"{name}.ipynb, cell '{cells.grade_id(cell)}': {package}.{module} has no {node.attr}"


def _imported(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == package:
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            found = ((alias.asname, alias.name) for alias in node.names if alias.name.startswith(f"{package}."))
            yield from ((called, module.removeprefix(f"{package}.")) for called, module in found if called)


def _names(folder: Path, package: str, module: str) -> set[str]:
    """What a module binds at its top level; of a package, too, its modules that hold a function of their own name, and
    the checks that are made of packs.
    """
    top = folder.joinpath(*package.split("."))
    stem = top.joinpath(*module.split("."))
    found = set(pack_names(top / PACKS / f"{module}.zip"))
    for path in (stem.with_suffix(".py"), *stem.glob("*.py")):
        if path.is_file():
            bound = names_of(path.read_text(encoding="utf-8")).bound
            found |= bound if path in (stem.with_suffix(".py"), stem / "__init__.py") else bound & {path.stem}
    return found
