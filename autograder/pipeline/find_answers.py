"""Which cells of a submission are the answers, wherever they stand and whatever became of their marks.

A mark (nbgrader's grade id) can be lost, copied with its cell, or deleted. What a student wrote is an answer, a cell of
the student's own, or both; it is never thrown away.
"""

import ast
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache

from nbformat import NotebookNode

from autograder.model import cells
from autograder.model.submitted_cells import MAX_CELL_CHARACTERS, SubmittedCell
from autograder.plain.names import is_python, names_of, parse, statements_of


@dataclass(frozen=True)
class Gap:
    """One solution cell of code.

    asked: the names that an answer must bind; empty where it binds none. own: all names that the cell may bind without
    standing in for another cell. given: the statements that stub and solution have in common.
    """

    stub: str
    asked: frozenset[str]
    own: frozenset[str]
    given: frozenset[str]

    def stub_without(self, names: Iterable[str]) -> str:
        """The stub without the placeholders of these names: the student has bound them elsewhere.

        Given statements stay, so that what the stub hands out is not lost.
        """
        taken, body = set(names), statements_of(self.stub)
        dropped = [node for node in body if _text(node) not in self.given and names_of(_text(node)).bound & taken]
        if not dropped:
            return self.stub
        lines: dict[int, bool] = {}  # number -> whether it is kept
        for node in body:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
            for number in range(first, (node.end_lineno or first) + 1):
                if lines.setdefault(number, node not in dropped) != (node not in dropped):
                    return "\n".join(_text(one) for one in body if one not in dropped)  # two statements on one line
        numbered = enumerate(self.stub.split("\n"), 1)
        return "\n".join(line for number, line in numbered if lines.get(number, True)).strip("\n")


def gaps_of(source: NotebookNode, stubs: Mapping[str | None, str]) -> dict[str, Gap]:
    """Grade id -> gap, for the solution cells of code. stubs: grade id -> released text."""
    used = frozenset().union(
        *(names_of(cell.source).loaded for cell in source.cells if cell.cell_type == "code" and cells.is_locked(cell))
    )
    return {
        grade_id: _gap(cell.source, stubs.get(grade_id, ""), used)
        for cell in source.cells
        if cell.cell_type == "code" and cells.is_solution(cell) and (grade_id := cells.grade_id(cell))
    }


@lru_cache(maxsize=512)
def _gap(solution: str, stub: str, used: frozenset[str]) -> Gap:
    released, solved = names_of(stub).bound, names_of(solution).bound
    answers = {_text(node) for node in statements_of(solution)}
    given = frozenset(text for node in statements_of(stub) if (text := _text(node)) in answers)
    handed_out = frozenset().union(*(names_of(text).bound for text in given))
    asked = (released - handed_out) | ((solved - released) & used)
    if answers <= given:  # a cell without a solution: all of it is to be changed
        asked = released
    return Gap(stub, asked, released | solved, given)


def _text(node: ast.stmt) -> str:
    return ast.unparse(node)


def added_definitions(text: str, released: str) -> str:
    """What a student wrote into a locked cell of code: the statements that bind names which the cell does not bind."""
    bound = names_of(released).bound
    known = {_text(node) for node in statements_of(released)}
    added = (_text(node) for node in statements_of(text) if not isinstance(node, ast.Assert))
    return "\n".join(one for one in added if one not in known and names_of(one).bound - bound)


#: A text has at least so many words; a comment that stands directly above code explains it, unless it is longer.
_MIN_WORDS, _MIN_WORDS_ABOVE_CODE = 5, 15
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Languages without blanks between words; three signs count as one word.
_SIGN = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"(?:[^\W\d_]+['’]?[,;:.]?[ \t]+){4,}[^\W\d_]+")
#: Cell magics whose text the notebook's own Python executes; with all others nothing of a cell is.
_EXECUTED = frozenset({"time", "timeit", "capture", "prun", "pypy", "debug"})
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")


def is_prose(source: str) -> bool:
    """Whether a code cell does nothing: comments, texts, or no Python at all. A written answer may stand in it."""
    try:
        body = parse(source).body
    except SyntaxError:
        return True
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


def texts_in(source: str, released: str = "") -> list[str]:
    """The sentences in a code cell that stand for themselves: they may be a written answer.

    A comment directly above code explains that code and does not count, nor does what the released cell says already.
    """
    try:
        body = parse(source).body
    except SyntaxError:
        lines = [line for line in source.split("\n") if _SENTENCE.search(line) and not _is_python(line)]
        found = ["\n".join(line for line in lines if not line.lstrip().startswith("#"))]
    else:
        found = [text for node in body for text in _strings(node)]
    known = {line.strip() for line in released.split("\n")}
    texts = ["\n".join(line for line in text.split("\n") if line.strip() not in known) for text in found]
    texts = [text for text in texts if _words(text) >= _MIN_WORDS and text.strip() not in released]
    return texts + list(_comments(source.split("\n"), known))


def switched_off(source: str) -> str:
    """Everything in a code cell that is not executed: comments, texts, and what stands below a magic such as %%html."""
    magic = _CELL_MAGIC.match(source)
    if magic and magic[1] not in _EXECUTED:
        return source
    comments = [line.lstrip()[1:] for line in source.split("\n") if line.lstrip().startswith("#")]
    try:
        nodes = list(ast.walk(parse(source)))
    except SyntaxError:
        nodes = []
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "\n".join([*comments, *strings])


def _strings(node: ast.stmt) -> Iterator[str]:
    """A text that is a statement, gets a name, or is printed."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) else None
    is_print = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
    for part in value.args if is_print and isinstance(value, ast.Call) else [value]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.JoinedStr):
            constants = (one.value for one in part.values if isinstance(one, ast.Constant))
            yield " ".join(text for text in constants if isinstance(text, str))


def _comments(lines: list[str], known: set[str]) -> Iterator[str]:
    block: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        if text.startswith("#"):
            comment = text.lstrip("# ")
            if text not in known and not _is_python(comment):
                block.append(comment)
            continue
        if _words("\n".join(block)) >= (_MIN_WORDS_ABOVE_CODE if text else _MIN_WORDS):
            yield "\n".join(block)
        block = []


def _is_python(line: str) -> bool:
    """Whether a line is code, such as one that was switched off; the head of a loop or a function is, too."""
    for text in (line, f"{line} pass"):
        with suppress(SyntaxError):
            parse(text.strip())
            return True
    return False


def _words(text: str) -> int:
    return len(_WORD.findall(_SIGN.sub(" ", text))) + len(_SIGN.findall(text)) // 3


#: So many of the student's own cells are searched for lost answers.
_MAX_SEARCHED = 500


@dataclass(frozen=True)
class FoundAnswer:
    """What counts as the answer of one solution cell. ``untouched``: nothing of the student's stands in the cell."""

    text: str
    untouched: bool = False
    missing: bool = False
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class FoundAnswers:
    """``answers``: grade id to answer, for every solution cell.

    ``cells``: the submission, in which only cells that count as such carry marks. ``kept``: those of the student's own
    that run where they stand although their text is an answer, too.
    """

    answers: Mapping[str, FoundAnswer]
    cells: list[SubmittedCell]
    kept: frozenset[int] = frozenset()


def standing(source: NotebookNode, submitted: Sequence[SubmittedCell]) -> dict[int, int]:
    """Index of a submitted cell -> index of the instructor's: as many marked cells as stand in the right order."""
    places = {grade_id: index for index, cell in enumerate(source.cells) if (grade_id := cells.grade_id(cell))}
    marked = [(index, places[sent.grade_id]) for index, sent in enumerate(submitted) if sent.grade_id in places]
    ends: list[int] = []  # the longest increasing sequence, by patience sorting
    last: list[int] = []
    before: list[int | None] = []
    for number, (_, place) in enumerate(marked):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [number]
    found = {}
    number_or_none = last[-1] if last else None
    while number_or_none is not None:
        index, place = marked[number_or_none]
        found[index] = place
        number_or_none = before[number_or_none]
    return dict(sorted(found.items()))


def with_locked_cells_apart(release: NotebookNode, submitted: Iterable[SubmittedCell]) -> Iterator[SubmittedCell]:
    """The submission, with what students wrote into locked cells in cells of their own beside these.

    A locked cell that lost its mark, but not its text, has it back.
    """
    submitted = list(submitted)
    last = {sent.grade_id: number for number, sent in enumerate(submitted)}
    locked = {cells.grade_id(cell): cell for cell in release.cells if cells.is_locked(cell)}
    lost = {cell.source.strip(): grade_id for grade_id, cell in locked.items() if grade_id not in last}
    for number, sent in enumerate(submitted):
        text = sent.source.strip()
        ours = locked.get(sent.grade_id)
        if ours is None:
            found = lost.get(text) if text else None
            yield replace(sent, grade_id=found) if found and sent.grade_id is None else sent
            continue
        released = ours.source.strip()
        if text == released or sent.is_as_released:
            yield sent
        elif number < last[sent.grade_id]:
            yield replace(sent, grade_id=None)  # a copy: nbgrader, too, runs all but the last as any other cell
        else:
            rest = text.replace(released, "").strip()
            added = added_definitions(text, released) if ours.cell_type == sent.cell_type == "code" else ""
            if added:
                yield SubmittedCell(added, "code", None)
            yield sent
            if not added and (ours.cell_type != "code" or is_prose(rest)):
                yield replace(sent, source=rest, cell_type="markdown", grade_id=None)


def find_answers(
    source: NotebookNode,
    release: NotebookNode,
    gaps: Mapping[str, Gap],
    submitted: list[SubmittedCell],
    notes: list[str],
) -> FoundAnswers:
    """source: the instructor's notebook; gaps: grade id -> gap of a code cell."""
    stubs = {cells.grade_id(cell): cell.source for cell in release.cells}
    released = frozenset(cell.source.strip() for cell in release.cells)
    search = _Search(source, stubs, gaps, submitted, released)
    for place, cell in enumerate(source.cells):
        if cells.is_solution(cell) and (grade_id := cells.grade_id(cell)):
            if cell.cell_type == "code":
                search.code(grade_id, place)
            else:
                search.text(grade_id, cell.cell_type)
    search.unanswered()
    notes += search.notes
    return search.found()


class _Search:
    def __init__(
        self,
        source: NotebookNode,
        stubs: Mapping[str | None, str],
        gaps: Mapping[str, Gap],
        submitted: list[SubmittedCell],
        released: frozenset[str],
    ) -> None:
        self._stubs, self._gaps, self._cells = stubs, gaps, list(submitted)
        self._places = {
            grade_id: place for place, cell in enumerate(source.cells) if (grade_id := cells.grade_id(cell))
        }
        self._marked: dict[str, list[int]] = defaultdict(list)
        for index, sent in enumerate(submitted):
            if sent.grade_id in self._places:
                self._marked[sent.grade_id].append(index)
        self._anchors = standing(source, submitted)
        self._answers: dict[str, FoundAnswer] = {}
        self._kept: set[int] = set()
        self._released = released
        self.notes: list[str] = []

    def found(self) -> FoundAnswers:
        kept = frozenset(id(self._cells[index]) for index in self._kept)
        return FoundAnswers(self._answers, self._cells, kept)

    def text(self, grade_id: str, cell_type: str) -> None:
        """An answer in words: all that carries its mark, in order; cells of another type only where they are alone."""
        stub = self._stubs.get(grade_id, "")
        marked = self._marked[grade_id]
        changed = [index for index in marked if self._is_changed(index, stub)]
        alike = [index for index in changed if self._cells[index].cell_type == cell_type]
        used = alike or changed
        self._unmark(set(changed) - set(used))
        texts = dict.fromkeys(self._cells[index].source for index in used)
        pictures = {name: one for index in used or marked for name, one in self._cells[index].attachments.items()}
        text = "\n\n".join(texts)[:MAX_CELL_CHARACTERS] if used else self._cells[marked[-1]].source if marked else stub
        if len(used) > 1:
            self.notes.append(
                f"the answer cell '{grade_id}' was there {len(used)} times; its texts were taken together"
            )
        if not marked:
            self.notes.append(f"the answer cell '{grade_id}' was missing")
        self._answers[grade_id] = FoundAnswer(text, not used, not marked, pictures)

    def code(self, grade_id: str, place: int) -> None:
        """An answer in code: one of the cells with its mark; other copies run as cells of the student's own."""
        gap, end = self._gaps[grade_id], self._end(place)
        marked = self._marked[grade_id]
        changed = [index for index in marked if self._is_changed(index, gap.stub)]
        alone = not any(map(self._is_code, marked))
        if not any(alone or self._is_code(index) or self._rank(index, gap)[1] for index in changed):
            self._unmark(changed)
            return
        chosen = max(changed, key=lambda index: (*self._rank(index, gap), index < end, index))
        text = self._cells[chosen].source
        alike = [index for index in changed if self._is_code(index) and index < end]
        if len(alike) > 1 and not self._binds(chosen, gap):
            joined = "\n".join(self._cells[index].source for index in alike)
            if is_python(joined):  # one cell, split within a statement
                text = joined[:MAX_CELL_CHARACTERS]
                chosen = alike[0]
                for index in alike[1:]:
                    self._cells[index] = replace(self._cells[index], source="", grade_id=None)
        self._unmark(index for index in changed if index != chosen)
        if len(changed) > 1:
            self.notes.append(
                f"the answer cell '{grade_id}' was there {len(changed)} times; "
                "one was taken for the answer, and the others for cells that were added"
            )
        self._answers[grade_id] = FoundAnswer(text)

    def unanswered(self) -> None:
        """Solution cells of code that are not there, or as they were handed out: is the answer in another cell?"""
        own = [index for index, sent in enumerate(self._cells) if self._is_own(sent)][:_MAX_SEARCHED]
        for grade_id, gap in self._gaps.items():
            if grade_id in self._answers:
                continue
            place = self._places[grade_id]
            missing, start, end = not self._marked[grade_id], self._start(place), self._end(place)
            binding = [index for index in own if gap.asked and gap.asked <= self._bound(index)]
            here = [index for index in binding if start < index < end and self._is_code(index)]
            taken = self._bound_before(grade_id, own, end)
            if here and missing:
                index = here[-1]
                own.remove(index)
                self._cells[index] = replace(self._cells[index], grade_id=grade_id)
                self._answers[grade_id] = FoundAnswer(self._cells[index].source)
                self.notes.append(f"the answer cell '{grade_id}' had lost its mark; it was found by its text")
            elif gap.asked & taken:
                text = gap.stub_without(taken)
                self._answers[grade_id] = FoundAnswer(text, untouched=text == gap.stub, missing=missing)
                state = "was missing" if missing else "was left as it was handed out"
                self.notes.append(f"the answer cell '{grade_id}' {state}; another cell has the answer")
            elif binding:
                index = max(binding, key=lambda one: (self._is_code(one), one))
                self._answers[grade_id] = FoundAnswer(self._cells[index].source)
                if self._is_code(index):
                    self._kept.add(index)
                self.notes.append(f"the answer to '{grade_id}' stood in another place; it was found by its text")
            elif text := self._merged_into_later(grade_id):
                self._answers[grade_id] = FoundAnswer(text)
                self.notes.append(f"the answer to '{grade_id}' stood in another answer; it was found by its text")
            else:
                emptied = not missing and not any(self._cells[one].source.strip() for one in self._marked[grade_id])
                self._answers[grade_id] = FoundAnswer("" if emptied else gap.stub, untouched=True, missing=missing)
                if missing:
                    self.notes.append(f"the answer cell '{grade_id}' was missing")

    def _bound_before(self, grade_id: str, own: list[int], end: int) -> set[str]:
        """What the student's cells bind before the test of this one: by what they added, or merged into an answer."""
        found = {name for index in own if index < end for name in self._bound(index) if self._is_code(index)}
        for other, answer in self._answers.items():
            if other in self._gaps and self._places[other] < self._places[grade_id]:
                found |= names_of(answer.text).bound - self._gaps[other].own
        return found

    def _merged_into_later(self, grade_id: str) -> str:
        """What another answer that runs later defines for this one; empty where none has all of it."""
        asked = self._gaps[grade_id].asked
        for other, answer in self._answers.items():
            gap = self._gaps.get(other)
            if asked and gap and asked <= names_of(answer.text).bound - gap.own:
                return added_definitions(answer.text, gap.stub)
        return ""

    def _start(self, place: int) -> int:
        return max((index for index, other in self._anchors.items() if other < place), default=-1)

    def _end(self, place: int) -> int:
        return min((index for index, other in self._anchors.items() if other > place), default=len(self._cells))

    def _is_changed(self, index: int, stub: str) -> bool:
        return self._cells[index].source.strip() not in ("", stub.strip())

    def _is_code(self, index: int) -> bool:
        return self._cells[index].cell_type == "code"

    def _is_own(self, sent: SubmittedCell) -> bool:
        return sent.grade_id not in self._places and sent.source.strip() not in self._released

    def _bound(self, index: int) -> frozenset[str]:
        return names_of(self._cells[index].source).bound

    def _binds(self, index: int, gap: Gap) -> bool:
        return bool(gap.asked & self._bound(index))

    def _rank(self, index: int, gap: Gap) -> tuple[bool, bool, bool, bool]:
        """A cell that has the answer counts more than one that has not; then code more than what was switched off."""
        whole, code = is_python(self._cells[index].source), self._is_code(index)
        has = whole and (not gap.asked or self._binds(index, gap))
        return has and code, has, whole and code, code

    def _unmark(self, indices: Iterable[int]) -> None:
        for index in indices:
            self._cells[index] = replace(self._cells[index], grade_id=None)
