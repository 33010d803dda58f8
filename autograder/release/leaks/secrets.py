"""What students must not see, as something to search for: words in pieces, expected tensors as bytes and as numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from nbformat import NotebookNode
from safetensors.numpy import load

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.free import fold_id
from autograder.references.write import EXPECTED, read_files, stored_exercises
from autograder.release.findings import Finding, pinned

#: Shorter pieces occur by chance. Lines that are shorter count together with those that follow.
BARE_WIDTH = 24
PROSE_WIDTH = 40
#: Of a solution alone; one of fewer letters, such as ``return x * x``, beside the name of what it defines.
WHOLE_WIDTH = 16

_REGIONS = {"SOLUTION": "solution", "HIDDEN TESTS": "hidden test", "MARK SCHEME": "mark scheme"}
_SIGNATURE, _DOCSTRING = re.compile(r"(async\s+def|def|class)\b"), re.compile(r"[rRuU]?(\"{3}|'{3})")
#: Says nothing about an answer, whoever writes it.
_TRIVIAL = re.compile(
    r"import \w|from [\w.]+ import|super\(\)\.__init__\(|raise NotImplementedError|@\w+$"
    r"|(pass|else:|try:|return|[)\]}\s,]*)$"
)
_GOES_OUT = "; the file goes out as it is: move it out of source/, or mark its answers and name it under [deliverables]"
_NAME = re.compile(r"(?m)\b(?:def|class)\s+(\w+)|^\s*(\w+)\s*=(?!=)")


@dataclass(frozen=True)
class Needle:
    """A piece of a secret without its white space; ``shown`` is the line as an instructor knows it."""

    squeezed: str
    owner: str
    shown: str


def by_head(parts: Sequence[Sequence[Needle]]) -> dict[str, list[Needle]]:
    """The first characters of a needle -> the needles that begin so."""
    found: dict[str, list[Needle]] = {}
    for needle in (needle for part in parts for needle in part):
        found.setdefault(needle.squeezed[:BARE_WIDTH], []).append(needle)
    return found


@dataclass(frozen=True)
class Region:
    """Lines that are taken out on release. ``before``: the visible lines above, for regions that are very short.

    where: the place in the visible text that they are taken out of.
    """

    owner: str
    lines: tuple[str, ...]
    before: tuple[str, ...]
    prose: bool
    where: str = ""


def squeeze(text: str) -> str:
    return "".join(text.split())


def bare(line: str) -> str:
    """The line without its comment: a copied line is a leak with or without it."""
    return re.sub(r"(^|\s)#.*$", "", line)


def secrets_of(assignment: Assignment) -> list[Needle]:
    """Everything secret of one assignment that its own visible text does not show anyway."""
    regions, visible, _ = _divided(assignment)
    known = searchable("\n".join(text for text in visible.values()))
    return [needle for region in regions for needle in _needles(region) if needle.squeezed not in known]


def shown_whole(assignment: Assignment) -> Iterator[Finding]:
    """Each place in the visible text that shows more than half of a secret: pasted there, not merely alike.

    Of a solution too short for that, where all of it stands in a cell without points. A hidden test may repeat what
    the visible test of its own cell says: with another number, say.
    """
    regions, visible, graded = _divided(assignment)
    cut = [(region, list(_needles(region))) for region in regions]
    for where, text in visible.items():
        squeezed = searchable(text)
        for region, needles in cut:
            if region.where == where and region.owner.startswith("hidden test"):
                continue
            shown = [needle for needle in needles if needle.squeezed in squeezed]
            stub = region.owner == f"solution file {where}"  # it shares its frame with the solution
            whole = len(needles) < 2 and where not in graded and _is_in(text, region)
            if (2 * len(shown) > len(needles) or whole) and not stub:
                first = shown[0].shown if shown else "\n".join(region.lines).strip()[:80]
                said = f"most of {region.owner}: {first!r}{'' if ', cell ' in where else _GOES_OUT}"
                yield pinned("leak", where, said, region.owner, text, *(one.squeezed for one in shown))


def _is_in(text: str, region: Region) -> bool:
    """Whether a text has all of a solution, and not as a part: ``x * x`` is another one than ``x * x * x``."""
    pieces = list(_sentences(region.lines) if region.prose else map(bare, region.lines))
    named = _NAME.findall("\n".join([*region.before, *region.lines]))
    beside = any(re.search(rf"\b{defined or bound}\b", text) for defined, bound in named)
    if sum(map(_weight, pieces)) < WHOLE_WIDTH // (1 + beside) or region.owner.startswith(("hidden", "mark")):
        return False
    said = r"[\s#>]*".join(map(re.escape, squeeze("".join(pieces))))  # as comments or quotes, too
    return bool(re.search(rf"(?<![\w.]){said}(?!\.?\w|[^\S\n]*[(\[*/%+-])", text))


def _divided(assignment: Assignment) -> tuple[list[Region], dict[str, str], set[str]]:
    """(what students must not see, where -> what they see, which of these are tests) of one assignment."""
    regions: list[Region] = []
    visible: dict[str, str] = {}
    graded: set[str] = set()
    for name, notebook in {**assignment.source, **assignment.other_languages}.items():
        there = {cell.get("id") for cell in notebook.cells}
        for number, cell in enumerate(notebook.cells):
            owner = f"{assignment.name}/{name}/{cells.grade_id(cell) or f'cell {number}'}"
            place = f"{assignment.name}/{name}.ipynb, {cells.place(cell, number)}"
            found, visible[place] = split_cell(cell, owner)
            graded |= {place} if cells.is_graded(cell) else set()
            if fold_id(cell) not in there:  # a stretch goal's fold shows its solution
                regions += [replace(region, where=place) for region in found]
    # a notebook saved as text beside the notebooks is released as it stands: nobody shows a marked region on purpose
    beside = {f"{assignment.name}/{name}": data.decode("utf-8", "replace") for name, data in assignment.files.items()}
    visible |= {name: text for name, text in beside.items() if not any(f"BEGIN {mark}" in text for mark in _REGIONS)}
    for name, data in assignment.solutions.items():
        lines = tuple(data.decode("utf-8", "replace").split("\n"))
        regions.append(Region(f"solution file {assignment.name}/{name}", lines, (), prose=False))
    return regions, visible, graded


def searchable(text: str) -> str:
    """A text without white space: as it is, without comments, and with what signs of comments and quotes switch off."""
    lines = text.split("\n")
    switched_on = "\n".join(bare(line.lstrip("#> \t")) for line in lines)
    return "\n".join(dict.fromkeys(map(squeeze, (text, "\n".join(map(bare, lines)), switched_on))))


def split_cell(cell: NotebookNode, owner: str) -> tuple[list[Region], str]:
    """(what a release takes out of a cell, what it leaves), whatever is marked and whatever nbgrader replaces whole."""
    prose = cell.cell_type != "code"
    regions: list[Region] = []
    visible: list[str] = []
    inside: str | None = None
    lines: list[str] = []
    for line in cell.source.split("\n"):
        kind = next((kind for kind in _REGIONS if f"BEGIN {kind}" in line), None)
        if kind:
            inside, lines = kind, []
        elif inside and f"END {inside}" in line:
            regions.append(_region(inside, owner, lines, visible, prose))
            inside = None
        else:
            (lines if inside else visible).append(line)
    if inside:
        regions.append(_region(inside, owner, lines, visible, prose))
    if cells.is_solution(cell) and not any(region.owner.startswith("solution") for region in regions):
        # nbgrader replaces the whole cell: a model answer, or code without markers
        return [*regions, Region(f"model answer {owner}", tuple(visible), (), prose)], ""
    return regions, "\n".join(visible)


def _region(kind: str, owner: str, lines: list[str], visible: list[str], prose: bool) -> Region:
    return Region(f"{_REGIONS[kind]} {owner}", tuple(lines), tuple(visible[-3:]), prose or kind == "MARK SCHEME")


def _needles(region: Region) -> Iterator[Needle]:
    """From every line on, as many lines as make a piece that does not occur by chance."""
    pieces = list(_sentences(region.lines) if region.prose else map(bare, _statements(region.lines)))
    pieces = [piece for piece in pieces if piece.strip()]
    width = PROSE_WIDTH if region.prose else BARE_WIDTH
    if not region.prose and 0 < sum(map(_weight, pieces)) < width:
        yield from _short(pieces, region, 2 * width)
        return
    for start in range(len(pieces)):
        yield from _from(pieces, start, len(pieces), width, region.owner)


def _statements(lines: Sequence[str]) -> Iterator[str]:
    """Lines of code without signatures and the docstrings below them: exercises tell those to students."""
    held: list[str] = []  # of a signature that has not ended yet
    depth, quotes, after_signature = 0, "", False
    for line in lines:
        code = bare(line).strip()
        if quotes:
            quotes = "" if quotes in code else quotes
        elif held or _SIGNATURE.match(code):
            held.append(line)
            depth += sum(code.count(sign) for sign in "([{") - sum(code.count(sign) for sign in ")]}")
            if depth <= 0:
                after_signature = code.endswith(":")
                if not after_signature:  # its body stands on the same line
                    yield from held
                held, depth = [], 0
        elif after_signature and (docstring := _DOCSTRING.match(code)):
            quotes = "" if docstring[1] in code[docstring.end() :] else docstring[1]
            after_signature = False
        else:
            after_signature = after_signature and not code
            yield line
    yield from held


def _short(pieces: list[str], region: Region, width: int) -> Iterator[Needle]:
    """All of a very short secret, with as many visible lines above it as make a piece that does not occur by chance."""
    joined = list(pieces)
    for line in reversed(region.before):
        if sum(map(_weight, joined)) >= width:
            break
        joined.insert(0, bare(line))
    if sum(map(_weight, joined)) >= width:
        yield Needle(squeeze("".join(joined)), region.owner, pieces[0].strip()[:80])


def _from(pieces: list[str], start: int, end: int, width: int, owner: str) -> Iterator[Needle]:
    weight = 0
    for stop in range(start, end):
        weight += _weight(pieces[stop])
        if weight >= width:
            squeezed = squeeze("".join(pieces[start : stop + 1]))
            yield Needle(squeezed, owner, next(one.strip() for one in pieces[start:] if _weight(one))[:80])
            return


def _weight(piece: str) -> int:
    return 0 if _TRIVIAL.match(piece.strip()) else len(squeeze(piece))


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield from re.split(r"(?<=[.!?;:])\s+", line.strip().lstrip("-*> "))


#: A tensor of fewer bytes, or of fewer different values, occurs by chance.
MIN_BYTES = 24
MIN_VALUES = 4

#: Decimals -> how many neighbours, and how far apart: as many as do not occur by chance. Numbers with more decimals are
#: rounded to four.
_LONG, _SHORT = 4, {3: (4, 200), 2: (6, 50)}
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.(\d+)(?:[eE]([+-]?\d+))?(?![\w.])")
_HUGE = 1e12  # no result of an exercise; a number that is written can be greater than any float
Group = tuple[int, ...]

_PIECE = 1 << 20  # bytes that are searched at once: what they are turned into stays in the processor's cache
_HASH_BITS = 20
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd and irregular: spreads the words over the hashes


@dataclass(frozen=True)
class Tensors:
    """``bytes_by_head``: eight bytes -> (all that a tensor is recognised by, its name); ``groups``: numbers -> name;
    ``shown``: numbers that students read in a visible text.
    """

    bytes_by_head: dict[int, list[tuple[bytes, str]]]
    groups: dict[Group, str]
    shown: set[Group]

    @classmethod
    def of(cls, assignment: Assignment) -> "Tensors":
        by_head: dict[int, list[tuple[bytes, str]]] = {}
        groups: dict[Group, str] = {}
        for name, array in _expected(assignment):
            for raw in _raw(array):
                by_head.setdefault(int.from_bytes(raw[:8], "little"), []).append((raw, name))
            groups |= dict.fromkeys(_groups(array), name)
        visible = (number_groups(cell.source) for nb in assignment.source.values() for cell in nb.cells)
        return cls(by_head, groups, set().union(*visible))

    @classmethod
    def joined(cls, parts: "Sequence[Tensors]") -> "Tensors":
        by_head: dict[int, list[tuple[bytes, str]]] = {}
        for head, found in ((head, found) for part in parts for head, found in part.bytes_by_head.items()):
            by_head.setdefault(head, []).extend(found)
        shown = set[Group]().union(*(part.shown for part in parts))
        groups = {group: name for part in parts for group, name in part.groups.items() if group not in shown}
        return cls(by_head, groups, shown)

    def in_bytes(self, data: bytes) -> Iterator[str]:
        """The names of the tensors whose bytes are in ``data``, at whatever offset."""
        if not self.bytes_by_head or len(data) < MIN_BYTES:
            return
        reported: set[str] = set()
        for begin in range(0, len(data), _PIECE):
            for offset in range(begin, min(begin + 8, len(data))):
                window = np.frombuffer(data, "<u8", offset=offset, count=min(_PIECE, len(data) - offset) // 8)
                for index in np.flatnonzero(self._known_hashes[_hashes(window)]):
                    at = offset + 8 * int(index)
                    for raw, name in self.bytes_by_head.get(int(window[index]), ()):
                        if name not in reported and data.startswith(raw, at):
                            reported.add(name)
                            yield name

    @cached_property
    def _known_hashes(self) -> np.ndarray:
        """True at the hash of every head: looking heads up here is much faster than sorting megabytes."""
        known = np.zeros(1 << _HASH_BITS, dtype=bool)
        known[_hashes(np.fromiter(self.bytes_by_head, dtype=np.uint64))] = True
        return known

    def in_numbers(self, groups: set[Group]) -> Iterator[str]:
        yield from sorted({self.groups[group] for group in groups & self.groups.keys()})


def _hashes(words: np.ndarray) -> np.ndarray:
    """A number below ``1 << _HASH_BITS`` for each word of eight bytes."""
    return (words * _FACTOR) >> np.uint64(64 - _HASH_BITS)


def number_groups(text: str) -> set[Group]:
    """Numbers that follow each other, as whole ones: see ``_LONG`` and ``_SHORT``."""
    found = [(float(one[0]), len(one[1]), one[2]) for one in _NUMBER.finditer(text)]
    found = [one for one in found if abs(one[0]) < _HUGE]
    long = [number for number, decimals, power in found if decimals >= (_LONG - 1 if power else _LONG)]
    groups = {group for size in (2, 3) for group in _neighbours(long, _LONG, size)}
    for places, (size, _) in _SHORT.items():
        # numpy leaves out the last zeros of some
        short = [number for number, decimals, power in found if decimals <= places and not power]
        groups |= set(_neighbours(short, places, size))
    return groups


def _neighbours(numbers: Sequence[float], places: int, size: int) -> Iterator[Group]:
    whole = [round(number * 10**places) for number in numbers]
    return (tuple(whole[at : at + size]) for at in range(len(whole) - size + 1))


def _expected(assignment: Assignment) -> Iterator[tuple[str, np.ndarray]]:
    public = assignment.references.public_answers(assignment.name)
    folder = assignment.references.folder / assignment.name
    for exercise in stored_exercises(folder):
        for name, array in load(read_files(folder, exercise, EXPECTED)[EXPECTED]).items():
            if np.issubdtype(array.dtype, np.floating) and array.tobytes() not in public:
                yield f"the expected tensor {assignment.name}/{exercise}/{name}", array


def _raw(array: np.ndarray) -> set[bytes]:
    """The first bytes of the tensor, as it is stored and in the other usual precisions."""
    kinds = {array.dtype, np.dtype("<f2"), np.dtype("<f4"), np.dtype("<f8")}
    flat = array.reshape(-1)[:64]
    if len(np.unique(flat)) < MIN_VALUES or not np.all(np.isfinite(flat)):
        return set()
    with np.errstate(over="ignore"):
        written = {flat.astype(kind).tobytes() for kind in kinds}
    return {raw for raw in written if len(raw) >= MIN_BYTES and len(set(raw)) > MIN_VALUES}


def _groups(array: np.ndarray) -> Iterator[Group]:
    """Three neighbours along the last axis, two where there are no three; only numbers that say something. Of numbers
    with fewer decimals some more, in the order in which the whole array is printed.
    """
    if array.ndim == 0 or array.size < 2:
        return
    width = array.shape[-1] if array.shape[-1] > 1 else array.size
    rows = array.reshape(-1, width).astype(float)
    # not 0.0001, 0.0002, 0.0003: small numbers have too few digits to say something
    yield from (group for group in _windows(rows, _LONG, min(3, width)) if max(map(abs, group)) >= 100)
    for places, (size, apart) in _SHORT.items():
        for group in _windows(rows.reshape(1, -1), places, size):
            if max(group) - min(group) >= apart:
                yield group


def _windows(rows: np.ndarray, places: int, size: int) -> Iterator[Group]:
    """Neighbours that all differ, as whole numbers; none of them is one with two decimals, as anybody could print."""
    with np.errstate(invalid="ignore"):
        whole = np.round(rows * 10**places)
        telling = np.isfinite(rows) & (np.round(rows * 10**_LONG) % 100 != 0)
    for at in range(rows.shape[1] - size + 1):
        for row, tells in zip(whole[:, at : at + size], telling[:, at : at + size], strict=True):
            if np.all(tells) and len(set(row)) == size:
                yield tuple(int(number) for number in row)
