"""The words that students must not see, cut into pieces that can be searched for."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.model import cells
from autograder.model.stretch import fold_id
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
