"""Does a folder give away what students must not see? Searched by content, not by marker.

What is searched for comes from the trusted side: solution regions, hidden tests, mark schemes, model answers, the
files that students hand in, and the expected tensors, as raw bytes and as numbers printed to two decimals or more.
What the instructor shows in the same assignment's visible text is no leak, unless it is most of a solution. In a
notebook every line that looks like a marker is one, and so is whatever only hidden tests say.
"""

import ast
import copy
import hashlib
import html
import io
import json
import re
import textwrap
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.cells import place
from autograder.model.course import Course
from autograder.model.free import fold_id, stretch_answers
from autograder.release.agreement import leaves_traces, shows
from autograder.release.findings import Finding, pinned
from autograder.release.judgeable import marker_lines
from autograder.release.leaks.embedded import embedded, text_in
from autograder.release.leaks.secrets import (
    BARE_WIDTH,
    Needle,
    Tensors,
    by_head,
    number_groups,
    searchable,
    secrets_of,
    shown_whole,
    split_cell,
)

#: Of an archive inside the folder no more than this is unpacked.
MAX_UNPACKED_BYTES = 1 << 30
#: What only hidden tests say: students' notebooks never ask for a stored reference.
_GRADER = re.compile(r"\b(?:from|import)\s+autograder\b|\breference\s*\(\s*(?:slug\s*=\s*)?[\"']")
_TAG, _PAGES = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL), (".html", ".htm", ".svg", ".xml")
_SAYS = re.compile(r"\s(?:alt|title|aria-label|content|value|placeholder|data-[\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


@dataclass(frozen=True)
class Hidden:
    """What the students of one assignment must not see: made once, and searched for in every folder that is written."""

    needles: Sequence[Needle]
    tensors: Tensors
    deliverables: frozenset[str]
    pictures: Mapping[str, str]

    @classmethod
    def of(cls, assignment: Assignment) -> "Hidden":
        handed_in = frozenset(assignment.deliverables)
        return cls(secrets_of(assignment), Tensors.of(assignment), handed_in, hidden_pictures(assignment))


def hidden_of(course: Course, opened: Sequence[Assignment] = ()) -> dict[str, Hidden]:
    """Of every assignment of a course that is released, and of those that are opened already."""
    known = {one.name: one for one in opened}
    released = [name for name in course.assignments() if any(course.release(name).glob("*.ipynb"))]
    names = sorted({*known, *released})
    return {name: Hidden.of(known.get(name) or Assignment.open(course, name)) for name in names}


def release_leaks(folder: Path, assignment: Assignment, hidden: Hidden | None = None) -> list[Finding]:
    """The leaks of one assignment's release: what must not be there, and what its own text shows of a secret."""
    shown = [*shown_whole(assignment), *graded_parts_in_folds(assignment)]
    return [*shown, *found_in(folder, [hidden or Hidden.of(assignment)], f"{assignment.name}/")]


def found_in(folder: Path, hidden: Iterable[Hidden], prefix: str = "") -> list[Finding]:
    """Every place in ``folder`` that holds something of what is hidden; empty is good.

    Reads every file: notebooks cell by cell, HTML without its tags, zips and wheels member by member. One finding per
    cell (or file) and secret, which says its first line. prefix: of the files' names.
    """
    parts = list(hidden)
    handed_in = frozenset(f"{prefix}{name}" for one in parts for name in one.deliverables)
    pictures = {digest: owner for one in parts for digest, owner in one.pictures.items()}
    tensors = Tensors.joined([one.tensors for one in parts])
    search = _Search(by_head([one.needles for one in parts]), tensors, handed_in, pictures)
    found: list[Finding] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts):
        found += search.file(f"{prefix}{path.relative_to(folder)}", path.read_bytes())
    return found


@dataclass
class _Search:
    secrets: dict[str, list[Needle]]
    tensors: Tensors
    deliverables: frozenset[str] = frozenset()
    pictures: Mapping[str, str] = field(default_factory=dict)
    _unpacked: int = field(default=0, init=False)

    def file(self, name: str, data: bytes) -> Iterator[Finding]:
        if data[:4] == b"PK\x03\x04":
            yield from self._archive(name, data)
        if (picture := self.pictures.get(hashlib.sha256(data).hexdigest())) is not None:
            yield pinned("leak", name, picture, data)
        for tensor in self.tensors.in_bytes(data):
            yield pinned("leak", name, f"the bytes of {tensor}", tensor, data)
        if b"\0" in data[:8192]:
            inside = text_in(data)
            yield from (
                pinned("leak", name, _said(what, lines), what, inside) for what, lines in self._told("", inside)
            )
            return
        words = data.decode("utf-8", "replace")
        for part, content in embedded(name, words):
            yield from self.file(part, content)
        text = _text(name, words)
        apart = html.unescape(_TAG.sub(" ", words)) if name.endswith(_PAGES) else ""
        reported: set[str] = set()
        pieces = _pieces(name, words)  # a secret may begin in one cell and end in the next: the whole comes last
        for where, piece in [*pieces, (name, text)]:
            for what, lines in self._told(name, piece, apart):
                if not reported.issuperset({what, *lines}) or (where, piece) in pieces:
                    yield pinned("leak", where, _said(what, lines), what, piece, *lines)
                reported |= {what, *lines}

    def _told(self, name: str, text: str, apart: str = "") -> Iterator[tuple[str, list[str]]]:
        """(what it is of, the lines that say it) of everything secret in a text of the file ``name``.

        apart: the same of a page, with a space where a tag was: the cells of a table are numbers of their own.
        """
        if name.endswith(".ipynb") or name in self.deliverables:  # elsewhere such lines may be meant
            yield from ((f"the marker {line!r}", []) for line in dict.fromkeys(marker_lines(text)))
        if name.endswith(".ipynb"):
            yield from ((f"hidden tests say {said!r}", []) for said in dict.fromkeys(_GRADER.findall(text)))
        yield from self._words(text).items()
        groups = number_groups(text) | number_groups(apart)
        yield from ((f"numbers of {tensor}", []) for tensor in self.tensors.in_numbers(groups))

    def _words(self, text: str) -> dict[str, list[str]]:
        """Owner of a secret -> its lines that the text has."""
        found: dict[str, dict[str, int]] = {}
        squeezed = searchable(text)
        for position in range(len(squeezed) - BARE_WIDTH + 1):
            for needle in self.secrets.get(squeezed[position : position + BARE_WIDTH], ()):
                if squeezed.startswith(needle.squeezed, position):
                    found.setdefault(needle.owner, {})[needle.shown] = 0
        return {owner: list(lines) for owner, lines in found.items()}

    def _archive(self, name: str, data: bytes) -> Iterator[Finding]:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for member in archive.infolist():
                    self._unpacked += member.file_size
                    if self._unpacked > MAX_UNPACKED_BYTES:
                        said = f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB; not searched any further"
                        yield pinned("leak", name, said, data)
                        return
                    yield from self.file(f"{name}!{member.filename}", archive.read(member))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            yield pinned("leak", name, f"an archive that cannot be searched ({error})", data)


def _said(what: str, lines: list[str]) -> str:
    more = f" (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
    return f"{what}: {lines[0]!r}{more}" if lines else what


def _pieces(name: str, words: str) -> list[tuple[str, str]]:
    """(where, text) of each cell of a notebook, and of the rest of it; nothing for any other file."""
    if not name.endswith(".ipynb"):
        return []
    try:
        notebook = json.loads(words)
        cells = [nbformat.from_dict(cell) for cell in notebook.pop("cells")]
        where = [f"{name}, {place(cell, number)}" for number, cell in enumerate(cells)]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return []
    texts = ("\n".join(_strings(one)) for one in (*cells, notebook))
    return list(zip((*where, name), texts, strict=True))


def _text(name: str, text: str) -> str:
    """The words of a file as a reader would copy them."""
    if name.endswith((".ipynb", ".json")):
        try:
            return "\n".join(_strings(json.loads(text)))
        except (ValueError, RecursionError):
            return text
    if name.endswith(_PAGES):
        return html.unescape(_TAG.sub(_attributes, text))
    return text


def _attributes(tag: re.Match[str]) -> str:
    """What a tag says to people: the words of a picture, say. Of a comment everything."""
    if tag[0].startswith("<!--"):
        return tag[0]
    return "".join(f"\n{quoted or apostrophes}\n" for quoted, apostrophes in _SAYS.findall(tag[0]))


def _strings(value: Any) -> Iterator[str]:
    """Every text and number in a JSON document; lists of lines (a cell's source, an output) as one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, float):
        yield repr(value)
    elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        yield "".join(value) if any(item.endswith("\n") for item in value) else "\n".join(value)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)


# A stretch goal often goes further than an exercise, and the solution in its fold holds the exercise's. Expressions are
# compared, not lines. Names and positions do not count: ``queries @ keys[part].T / np.sqrt(d)`` is ``q @ k.T /
# np.sqrt(W.shape[1])``.

#: A smaller expression occurs by chance.
MIN_NODES = 7


def graded_parts_in_folds(assignment: Assignment) -> Iterator[Finding]:
    """One finding per fold that shows an expression of a graded solution."""
    graded: dict[str, str] = {}
    folds: dict[str, dict[str, str]] = {}
    for name, notebook in assignment.source.items():
        there = {cell.get("id") for cell in notebook.cells}
        stretch = {number for number in stretch_answers(notebook) if fold_id(notebook.cells[number]) in there}
        for number, cell in enumerate(notebook.cells):
            if cell.cell_type == "code" and cells.is_solution(cell):
                owner = f"{assignment.name}/{name}/{cells.grade_id(cell)}"
                regions = split_cell(cell, owner)[0]
                parts = {key: said for one in regions for key, said in expressions("\n".join(one.lines)).items()}
                if number in stretch:
                    folds[f"{assignment.name}/{name}.ipynb, {cells.place(cell, number)}"] = parts
                elif number not in stretch_answers(notebook):
                    graded |= dict.fromkeys(parts, owner)
    for data in assignment.solutions.values():
        graded |= dict.fromkeys(expressions(data.decode("utf-8", "replace")), "a file that is handed in")
    for where, parts in folds.items():
        shared = [part for part in parts if part in graded]
        if shared:
            said = (
                f"the fold of this stretch goal shows part of {graded[shared[0]]}: {parts[shared[0]]!r}; "
                'write "course": {"fold": false} into the cell\'s metadata'
            )
            yield pinned("leak", where, said, *shared)


def expressions(code: str) -> dict[str, str]:
    """The larger expressions of a text of Python, without names and positions -> as they are written."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:
        return {}
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred):
            plain = _Anonymous().visit(copy.deepcopy(node))
            if sum(isinstance(part, ast.expr) for part in ast.walk(plain)) >= MIN_NODES:
                found[ast.dump(plain)] = ast.unparse(node)
    return found


class _Anonymous(ast.NodeTransformer):
    """Every name is one and the same; where something is taken out of a value, only the value is left."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name("_", ast.Load())

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        value: ast.expr = self.visit(node.value)
        return value if node.attr == "shape" else ast.Attribute(value, node.attr, ast.Load())


#: What one looks at; data that a hidden test reads is none of it.
_SHOWN = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".pdf", ".html"}


def hidden_pictures(assignment: Assignment) -> dict[str, str]:
    """SHA-256 of a picture's bytes -> whose it is, for all that no visible text of the assignment shows."""
    hidden: dict[str, str] = {}
    shown: set[str] = set()
    removed: dict[str, str] = {}  # text that a release takes out -> whose it is
    visible = [data.decode("utf-8", "replace") for name, data in assignment.files.items() if name.endswith(".md")]
    for name, notebook in {**assignment.source, **assignment.other_languages}.items():
        for number, cell in enumerate(notebook.cells):
            owner = f"{assignment.name}/{name}/{cells.grade_id(cell) or f'cell {number}'}"
            regions, text = split_cell(cell, owner)
            visible.append(text)
            removed |= {"\n".join(region.lines): region.owner for region in regions}
            for attachment, digest in _inside(cell):
                if not (shows(text, attachment) if attachment else not leaves_traces(cell)):
                    hidden.setdefault(digest, f"a picture of {regions[0].owner if regions else owner}")
                else:
                    shown.add(digest)
    for name, data in assignment.files.items():
        digest = hashlib.sha256(data).hexdigest()
        owners = [owner for text, owner in removed.items() if _names(text, name)]
        if PurePosixPath(name).suffix.lower() not in _SHOWN or not owners:
            continue
        if any(_names(text, name) for text in visible):
            shown.add(digest)
        else:
            hidden.setdefault(digest, f"a picture that only {owners[0]} shows")
    return {digest: owner for digest, owner in hidden.items() if digest not in shown}


def _inside(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """(name of the attachment, empty for an output; digest) of each picture in a cell's fields."""
    for name, attachment in cell.get("attachments", {}).items():
        alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(attachments={name: attachment})])
        yield from ((name, hashlib.sha256(data).hexdigest()) for _, data in embedded("a.ipynb", nbformat.writes(alone)))
    if cell.get("outputs"):
        alone = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=cell.outputs)])
        yield from (("", hashlib.sha256(data).hexdigest()) for _, data in embedded("a.ipynb", nbformat.writes(alone)))


def _names(text: str, file: str) -> bool:
    """Whether a text names a file, by its path or by its last part."""
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text) for name in (file, quote(file)))
