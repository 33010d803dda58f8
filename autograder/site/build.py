"""A site from Markdown and notebooks, by Sphinx: pages, search and both modes of colour work from a folder, offline."""

import html
import json
import mimetypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

import nbformat
from nbformat import NotebookNode

from autograder.errors import GradingError
from autograder.files.temporary import TemporaryFolder
from autograder.model.course_file import NO_REPOSITORY
from autograder.model.plain_text import one_line
from autograder.release.main_line import Lesson

THEME = Path(__file__).parent / "theme"
COURSE = "course.md"
SOLVED = "What is shown below the cells comes from the instructor's solution, as grading runs it."
#: A picture of a text: in place, or by a name that a line of its own explains.
_PICTURE = re.compile(r"!\[[^\]]*\]\(\s*<?([^)\s>]+)|(?m:^) {0,3}\[[^\]]+\]:\s*<?([^\s>]+)")
#: Headings: of any level but the last, of the first, and of the first as a line and a second one below it.
_HEADING, _FIRST_LEVEL = re.compile(r"(?m)^(#{1,5})(?=\s)"), re.compile(r"(?m)^#(?=\s)")
_UNDERLINED = re.compile(r"(?m)^(\w.*)\n=+[ \t]*$")
_TAG = re.compile(r"<img\b[^>]*?\bsrc\s*=\s*[\"']([^\"']+)")


@dataclass(frozen=True)
class Page:
    """A notebook of the course. ``shown``: with the outputs that a page has; ``released``: what students get."""

    lesson: Lesson
    shown: NotebookNode
    released: NotebookNode

    @property
    def path(self) -> str:
        """In the site's source; without the ending also of the page in the site."""
        return safe_name(self.lesson.path)


@dataclass(frozen=True)
class Site:
    """What a site is made of.

    folder: of the repository, in which ``front`` and ``shelves`` (title of a shelf -> its Markdown files) lie; a shelf
    with one file is that page itself. pages: in the order of the course. earlier: a second folder of the repository,
    with pictures that are not in the first. texts: of files of shelves that are made anew, whatever lies in the folder.
    """

    title: str
    repository: str
    folder: Path
    front: str
    pages: Sequence[Page]
    shelves: Mapping[str, Sequence[str]] = field(default_factory=dict)
    earlier: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    def file(self, name: str) -> Path | None:
        """A file of the repository; None where there is none of this name, or it lies elsewhere."""
        for folder in (self.folder, self.earlier):
            if folder and (folder / name).is_file() and (folder / name).resolve().is_relative_to(folder.resolve()):
                return folder / name
        return None

    @property
    def address(self) -> str:
        return f"https://github.com/{self.repository}"


def build(site: Site, target: Path) -> None:
    """Write the site into ``target``, a folder that is new or empty. Raises GradingError with Sphinx's reason."""
    if missing := [name for name in ("sphinx", "myst_nb", "pydata_sphinx_theme") if find_spec(name) is None]:
        raise GradingError(
            f"a site needs {missing[0]}, which is not installed: pip install 'transformer-course-autograder[site]'"
        )
    with TemporaryFolder("site-") as temporary:
        source = Path(temporary, "source")
        _lay_out(site, source)
        command = [sys.executable, "-m", "sphinx", "--quiet", "--builder", "html", "--doctree-dir"]
        made = Path(temporary, "made", "html")  # MyST-NB writes a folder of its own beside the site
        command += [str(Path(temporary, "doctrees")), str(source), str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise GradingError(f"Sphinx could not build the site: {one_line(done.stderr)[-500:]}")
        shutil.copytree(made, target, dirs_exist_ok=True)
    (target / ".buildinfo").unlink(missing_ok=True)
    (target / "objects.inv").unlink(missing_ok=True)
    for page in site.pages:
        nbformat.write(page.released, (target / page.path).with_name(f"{page.lesson.name}.ipynb"))


def _lay_out(site: Site, source: Path) -> None:
    (source / "_static").mkdir(parents=True)
    (source / "_extra").mkdir()
    shutil.copyfile(THEME / "conf.py", source / "conf.py")
    shutil.copyfile(THEME / "site.css", source / "_static" / "site.css")
    # a text that names another file, as reStructuredText can, gets none of this machine's
    (source / "docutils.conf").write_text("[general]\nfile_insertion_enabled: no\n")
    about = {"title": site.title, "address": site.address}
    (source / "site.json").write_text(json.dumps(about), encoding="utf-8")
    files = [site.front, *(file for files in site.shelves.values() for file in files)]
    pages = {file: safe_name(file) for file in files} | {site.front: "index.md"}
    pages |= {page.lesson.path: page.path for page in site.pages} | {"release": COURSE}
    texts = {
        file: site.texts.get(file) or (site.folder / file).read_text(encoding="utf-8") for file in dict.fromkeys(files)
    }
    notes = [
        (page.lesson.path, cell.source)
        for page in site.pages
        for cell in page.shown.cells
        if cell.cell_type == "markdown"
    ]
    everything = (*texts.items(), *notes)
    in_tags, in_text = ({name: place for one in everything for name, place in _pictures(site, *one, link)}
                        for link in (_TAG, _PICTURE))  # fmt: skip
    anchors = set().union(*map(named, [*texts.values(), *(text for _, text in notes)]))
    links = Links(site.folder, pages | {name: safe_name(name) for name in (*in_tags, *in_text)}, site.address, anchors)
    for top, found in ((source, in_text), (source / "_extra", in_tags)):  # Sphinx does not read tags
        for name, place in found.items():
            (top / safe_name(name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(place, top / safe_name(name))
    shelves = {title: _shelf(title, held, pages) for title, held in site.shelves.items()}
    written = {pages[file]: links.rewritten(text, file) for file, text in texts.items()}
    written["index.md"] += _toctree([("The course", COURSE), *((title, path) for title, (path, _) in shelves.items())])
    written |= {path: text for path, text in shelves.values() if text}
    written[COURSE] = _course(site)
    for name, text in written.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    for page in site.pages:
        path = source / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(_with_head(site, page, links), path)


def safe_name(name: str) -> str:
    """A name that Sphinx and browsers read in the same way, and that no server takes for a hidden file."""
    shown = re.sub(r"(?<![^/])\.+", "", name)
    return re.sub(r"[^\w./-]", lambda found: f"_{ord(found[0]):x}_", shown, flags=re.ASCII)


def _pictures(site: Site, file: str, text: str, link_of: re.Pattern[str]) -> Iterator[tuple[str, Path]]:
    """(path in the repository, where it lies) of each picture that a text of the file shows."""
    for link in ("".join(one) for one in link_of.findall(text)):
        name = os.path.normpath(PurePosixPath(file).parent / unquote(link))
        if (mimetypes.guess_type(name)[0] or "").startswith("image/") and (place := site.file(name)):
            yield name, place


def _shelf(title: str, files: Sequence[str], pages: Mapping[str, str]) -> tuple[str, str]:
    """(path, text) of the page of a shelf; no text where it is one page."""
    if len(files) == 1:
        return pages[files[0]], ""
    path = re.sub(r"\W+", "-", title.lower()) + ".md"
    return path, f"# {title}\n\n" + _toctree([("", pages[file]) for file in files], hidden=False)


def _toctree(entries: Sequence[tuple[str, str]], caption: str = "", hidden: bool = True) -> str:
    options = [":maxdepth: 1", *([":hidden:"] if hidden else []), *([f":caption: {caption}"] if caption else [])]
    lines = [f"{title} </{path}>" if title else f"/{path}" for title, path in entries]
    return "\n".join(["", "", "```{toctree}", *options, "", *lines, "```", ""])


def _course(site: Site) -> str:
    """The table of all notebooks: the main line, and what can be chosen beside it."""
    line = [page for page in site.pages if page.lesson.step]
    others = [page for page in site.pages if not page.lesson.step]
    parts = ["# The course\n"]
    for title, first, pages in (("Main line", "step", line), ("Electives", "after step", others)):
        if pages:
            heading = title if line else "All notebooks"
            parts += [f"## {heading}\n", *_table(site, first * bool(line), pages)]
            parts.append(_toctree([(_entry(one.lesson) if line else "", one.path) for one in pages], heading))
    return "\n".join(parts)


def _entry(one: Lesson) -> str:
    """What the list beside a page says: the step, not the notebook's number in its assignment, and the title."""
    plain = not re.search(r"[`$*_<>\\\[]", one.title)
    return f"{one.step} · {one.title}" if plain and one.step else one.title * plain


def _table(site: Site, first: str, pages: Sequence[Page]) -> Iterator[str]:
    rows: list[list[object]] = [[first, "notebook", "minutes", "points", "assignment", "run"], ["---"] * 6]
    for one, path in ((page.lesson, page.path) for page in pages):
        run = next((f"[{title}]({address})" for title, address in run_links(site, one)), "")
        title = f"[{one.title}]({path})"
        rows.append([one.step or one.after or "", title, one.minutes or "", one.points, one.assignment, run])
    width = 5 if site.repository == NO_REPOSITORY else 6
    yield from ("".join(f"| {cell} " for cell in row[:width]) + "|" for row in rows)


def run_links(site: Site, one: Lesson) -> Iterator[tuple[str, str]]:
    """(what, address) of the places that open a notebook of the repository."""
    if site.repository == NO_REPOSITORY:
        return
    inside = f"github.com/{site.repository}/blob/main/{one.link}"
    yield "Open in Colab", f"https://colab.research.google.com/{inside.replace('.com', '', 1)}"
    yield "Kaggle", f"https://kaggle.com/kernels/welcome?src={quote(f'https://{inside}', safe='')}"
    yield "Binder", f"https://mybinder.org/v2/gh/{site.repository}/main?labpath={quote(one.path, safe='')}"
    yield "Codespaces", f"https://codespaces.new/{site.repository}"


def _with_head(site: Site, page: Page, links: "Links") -> NotebookNode:
    """The page with its links as they lead from here, and below its title where to run it."""
    made, lesson = nbformat.from_dict(page.shown), page.lesson
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = links.rewritten(cell.source, lesson.path)
    own = f'<a href="{quote(lesson.name)}.ipynb" download>Download the notebook</a>'
    run = " · ".join([*(f"[{title}]({address})" for title, address in run_links(site, lesson)), own])
    note = f"{run}\n\n{SOLVED}"
    for cell in (cell for cell in made.cells if cell.cell_type == "markdown"):
        cell.source = outside_code(cell.source, lambda part: _UNDERLINED.sub(r"# \1", part))
    title, _, rest = made.cells[0].source.partition("\n") if made.cells else ("", "", "")
    if (
        title.startswith("# ") and made.cells[0].cell_type == "markdown"
    ):  # the notebook's own link to Colab says what ours says
        rest = "\n".join(line for line in rest.split("\n") if not line.startswith("[Open in Colab]"))
        made.cells[0].source = f"{title}\n\n{note}\n{rest}"
    else:
        made.cells.insert(0, nbformat.v4.new_markdown_cell(f"# {lesson.title}\n\n{note}"))
    _leave_one_title([cell for cell in made.cells if cell.cell_type == "markdown"])
    return made


def _leave_one_title(texts: Sequence[NotebookNode]) -> None:
    """Where a notebook has several headings of the first level, all but its title go a level down."""
    if sum(len(_FIRST_LEVEL.findall(without_code(cell.source))) for cell in texts) > 1:
        for cell in texts:
            cell.source = outside_code(cell.source, lambda part: _HEADING.sub(r"#\1", part))
        texts[0].source = texts[0].source.removeprefix("#")


_CODE = re.compile(r"(?ms)(^[ \t]*(?P<fence>```+|~~~+).*?^[ \t]*(?P=fence)|`[^`\n]*`)")
#: A picture from elsewhere, such as a badge: a page that needs no network shows its words.
_FAR_PICTURE = re.compile(r"!\[([^\]]*)\]\(https?://[^)\s]+(?:\s+[\"'][^\"']*[\"'])?\)")
#: A tag that loads something from elsewhere; of a page that needs no network it is a link.
_LOADS = re.compile(
    r"<(?:img|iframe|video|audio|embed)\b[^>]*?\bsrc\s*=\s*[\"']((?:https?:)?//[^\"']+)[\"'][^>]*>", re.I
)
_SCRIPT = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<link\b[^>]*>", re.IGNORECASE | re.DOTALL)
_ALT = re.compile(r"\b(?:alt|title)\s*=\s*[\"']([^\"']+)")
_NAMED = re.compile(r"\b(?:id|name)\s*=\s*[\"']([^\"']+)")
_LINK = re.compile(
    r"(\]\(\s*<?|\b(?:src|href)\s*=\s*[\"']|(?m:^) {0,3}\[[^^\]][^\]]*\]:\s*<?)"  # [a](b), src="b", [a]: b
    r"((?:[^()\s>\"']|\([^()\s]*\))+)"
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


@dataclass(frozen=True)
class Links:
    """``pages``: path in the repository -> path in the site's source, of pages and pictures.

    address: of the repository on the forge. anchors: the ids that somebody wrote into a text; all others are made of
    headings.
    """

    folder: Path
    pages: dict[str, str]
    address: str
    anchors: Collection[str] = field(default=())

    def rewritten(self, text: str, file: str) -> str:
        """The text of the repository's file ``file``. Links out of the site lead to the repository on the forge."""

        def led(part: str) -> str:
            plain = _LOADS.sub(_led_to, _SCRIPT.sub("", _FAR_PICTURE.sub(r"\1", part)))
            return _LINK.sub(lambda found: found[1] + self._target(found[2], file), plain)

        return outside_code(text, led)

    def _target(self, link: str, file: str) -> str:
        path, mark, anchor = link.partition("#")
        if _ELSEWHERE.match(link) and not link.startswith("#"):
            return link
        target = os.path.normpath(PurePosixPath(file).parent / unquote(path)) if path else file
        here = PurePosixPath(self.pages.get(file, file)).parent
        if (page := self.pages.get(target)) is not None:
            return (quote(os.path.relpath(page, here)) if path else "") + mark + self._anchor(anchor)
        kind = "tree" if (self.folder / target).is_dir() else "blob"
        return f"{self.address}/{kind}/main/{quote(target)}{mark}{anchor}"

    def _anchor(self, anchor: str) -> str:
        """The id that the site makes of a heading. Jupyter keeps capital letters and signs, Colab names the cell."""
        name = unquote(anchor)
        if name in self.anchors or not name:
            return anchor
        return re.sub(r"[^\w-]", "", name.strip().lower().replace(" ", "-"))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with everything changed that is not code."""
    parts = _CODE.split(text)  # for each piece of code, the piece and its fence
    parts[::3] = map(change, parts[::3])
    return "".join(part for at, part in enumerate(parts) if at % 3 != 2)


def without_code(text: str) -> str:
    return _CODE.sub("", text)


def named(text: str) -> set[str]:
    return set(_NAMED.findall(without_code(text)))


def _led_to(tag: re.Match[str]) -> str:
    words = _ALT.search(tag[0])
    return f'<a href="{tag[1]}">{words[1] if words else html.escape(tag[1])}</a>'
