"""A page of a released notebook: its own text and stubs, and under each cell what the instructor's solution showed.

Left out are the lines of code that warnings and tracebacks show; the outputs of solution cells, and of every cell that
reads a value which a solution cell gave: the letter of a quiz, a number that is graded. Two tags in a cell's metadata
say otherwise: ``remove-output``, as in Jupyter Book, for a cell whose output tells an answer, and ``keep-output`` for
one that tells none.

The site of a published folder has its README as the front page, its notebooks and its Markdown.
"""

import ast
import html
import os
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import messages_to_mistakes
from autograder.feedback.strip import shortened
from autograder.files.temporary import TemporaryFolder
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.course_file import NO_REPOSITORY
from autograder.model.plain_text import COLOUR
from autograder.model.source import read_notebook
from autograder.pipeline.sanitize import harmless
from autograder.release.findings import Finding
from autograder.release.leaks.search import Hidden, found_in
from autograder.release.main_line import in_order, lesson, main_line
from autograder.release.solved_run import kernels_when_needed, name_of, shown_by_solution
from autograder.site.build import THEME, Page, Site, build, safe_name

REMOVE, KEEP = "remove-output", "keep-output"
YOUR_CODE = "*Your code goes here.*"
LEFT_OUT = "*The output is left out: it would tell an answer.*"
SHORTER = "*Grading, and the run shown here, cut this short. In your own notebook it takes longer and shows more.*"
MISTAKE = "*This is what the check says to one wrong answer:*"
_VIEW = "*(An interactive view: run the notebook to use it.)*"
#: Where Python says which line of a file a warning or an error comes from; what it draws below such a line.
_PLACE = re.compile(r"""\.py(?::\d+:|["'], line \d+)""")
_BELOW = re.compile(r"[\s|]*[\^~]+[\^~\s]*")
#: IPython's names for code that was executed, its commands that show this or all values, and what shows one function's.
_INPUTS = {"In", "_ih", "_i", "_ii", "_iii"}
_SHOW_ALL = {"history", "hist", "recall", "who", "whos"}
_SOURCE = {"getsource", "getsourcelines", "psource", "pinfo2"}
_COMMAND = re.compile(r"(?m)^[ \t]*(?:\w[^=\n]*=[ \t]*)?[%!?].*|^.*\?\?[ \t]*$")
#: A solution cell's last expression.
_WORD = re.compile(r"\w+")
_LAST = {"Out", "_oh", "_", "__", "___"}
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def page(
    released: NotebookNode,
    source: NotebookNode,
    shown: Mapping[str, Sequence[NotebookNode]],
    mistakes: Mapping[str, str] = MappingProxyType({}),
    code: Collection[str] = (),
    library: str = "",
) -> NotebookNode:
    """The notebook of a page.

    shown: name of a cell -> its outputs in the solved run. mistakes: name of a graded cell -> what its visible check
    says to a wrong answer; the first of them is shown. code: lines that no output may show of where a warning or an
    error comes from, beside those of the notebook; library: the name of what students import.
    """
    lines = {*code, *code_lines(cell.source for cell in source.cells if cell.cell_type == "code")}
    made = nbformat.v4.new_notebook(metadata=released.metadata)
    secret, short, values = set(left_out(source)), set(cut_short(released)), HiddenValues.of(source)
    kept = {name_of(cell) for cell in source.cells if KEEP in cell.metadata.get("tags", ())}
    example = next((name for cell in released.cells if (name := name_of(cell)) in mistakes), None)
    for cell in released.cells:
        made.cells.append(copied := deepcopy(cell))
        if cell.cell_type != "code":
            made.cells[-1] = _text(copied)
            continue
        outputs = shown.get(name_of(cell), ())
        copied.outputs, copied.execution_count, copied.metadata = [], None, NotebookNode()
        if cells.is_solution(cell):
            made.cells.append(nbformat.v4.new_markdown_cell(YOUR_CODE))
        elif name_of(cell) in secret or (name_of(cell) not in kept and values.shown_in(outputs)):
            made.cells += [nbformat.v4.new_markdown_cell(LEFT_OUT)] * bool(outputs)
        else:
            _show(copied, [_without_code(output, lines, library) for output in outputs])
            if outputs and name_of(cell) in short:
                made.cells.append(nbformat.v4.new_markdown_cell(SHORTER))
        if name_of(cell) == example:
            made.cells.append(nbformat.v4.new_markdown_cell(f"{MISTAKE}\n\n{_fenced(mistakes[example])}"))
    return made


def code_lines(texts: Iterable[str]) -> set[str]:
    return {line.strip() for text in texts for line in text.split("\n") if line.strip()}


def _text(cell: NotebookNode) -> NotebookNode:
    """A cell of text as a page can show it: attached pictures in their places, raw text as it stands."""
    if cell.cell_type == "raw":
        return nbformat.v4.new_markdown_cell(_fenced(cell.source), id=cell.id)
    for name, kinds in cell.pop("attachments", {}).items():
        for kind, data in kinds.items():
            for written in (name, quote(name)):
                cell.source = cell.source.replace(
                    f"attachment:{written}", f"data:{kind};base64,{''.join(data.split())}"
                )
    return cell


def _fenced(text: str) -> str:
    """A block of Markdown that shows the text as it is."""
    fence = max(["```", *(f"{found}`" for found in re.findall("`{3,}", text))], key=len)
    return f"{fence}text\n{text}\n{fence}"


def left_out(source: NotebookNode) -> Iterator[str]:
    """The names of the cells whose outputs would tell an answer."""
    values: set[str] = set()  # names that hold an answer, or something made of one
    own: set[str] = set()  # functions and classes of solutions
    imported: set[str] = set()
    for cell in source.cells:
        if cell.cell_type != "code":
            continue
        tags = cell.metadata.get("tags", ())
        visible = cells.split_hidden(cell.source).visible
        commands = _COMMAND.findall(visible)
        try:
            tree = cells.parse(visible)
        except SyntaxError:
            if not cells.is_solution(cell):
                yield name_of(cell)  # nobody can say what it shows
            continue
        imported |= set(_imported(tree))
        if cells.is_solution(cell):
            values |= {*_assigned(tree), *(set(_called_on(tree)) - imported), *_global(tree), *_LAST}
            own |= set(_defined(tree))
        elif KEEP not in tags and values & {*_read(tree), *_WORD.findall(" ".join(commands))}:
            yield name_of(cell)
            values |= {*_assigned(tree), *_defined(tree)}
        else:
            if REMOVE in tags or (KEEP not in tags and (own or values) and _shows_code(tree, commands, own)):
                yield name_of(cell)
            values -= set(_assigned(tree))


def cut_short(released: NotebookNode) -> Iterator[str]:
    """The names of the cells that do less where they are graded, or read a number which is smaller there."""
    smaller: set[str] = set()
    for cell in released.cells:
        if cell.cell_type != "code":
            continue
        try:
            tree = cells.parse(cell.source)
        except SyntaxError:
            continue
        asks = "AUTOGRADER_INPUTS" in cell.source
        if asks or smaller & set(_read(tree)):
            yield name_of(cell)
        smaller |= set(_assigned(tree)) if asks else set()


def _assigned(tree: ast.Module) -> Iterator[str]:
    """The names to which a cell itself gives a value, or a part of one; not functions, classes, modules."""
    for node in _at_top(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from _read(node)


def _called_on(tree: ast.Module) -> Iterator[str]:
    """The names of what may have been changed by a method, as in answers.append("c")."""
    for node in _at_top(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            yield node.func.value.id


def _defined(tree: ast.Module) -> Iterator[str]:
    yield from (node.name for node in _at_top(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in _at_top(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def _at_top(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes outside of functions and classes, and those themselves."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _at_top(child)


def _global(tree: ast.Module) -> Iterator[str]:
    yield from (name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)


def _read(tree: ast.AST) -> Iterator[str]:
    yield from (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _shows_code(tree: ast.AST, commands: Sequence[str], own: Collection[str]) -> bool:
    """Whether a cell shows the code of a solution. own: the functions and classes that solutions define."""
    words = {word for command in commands for word in _WORD.findall(command)}
    if _INPUTS & set(_read(tree)) or _SHOW_ALL & words:
        return True
    looked_at = [node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "__code__"]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _SOURCE & set(_WORD.findall(ast.unparse(node.func))):
            looked_at += node.args
    named = {name for part in looked_at for name in _read(part)}
    named |= {
        word for one in commands if "??" in one or _SOURCE & set(_WORD.findall(one)) for word in _WORD.findall(one)
    }
    return not named.isdisjoint(own)


def _show(cell: NotebookNode, outputs: Sequence[NotebookNode]) -> None:
    """Put the outputs into the cell as a page can show them. What is said of an error has no line of code."""
    alone = nbformat.v4.new_code_cell(outputs=[_still(output) for output in outputs])
    cell.outputs = harmless(nbformat.v4.new_notebook(cells=[alone])).cells[0].outputs
    words = [output.get("metadata", {}).get("image/png", {}).get("alt") for output in cell.outputs]
    cell.metadata["mystnb"] = {"image": {"alt": " ".join(filter(None, words)) or "The figure that this cell draws"}}


def _without_code(output: NotebookNode, code: Collection[str], library: str) -> NotebookNode:
    """Of a warning or an error that is printed: what is wrong and in which line, not how the line goes."""
    if output.output_type != "stream" or not _PLACE.search(output.text):
        return output
    lines = (line for line in output.text.split("\n") if line.strip(" |") not in code and not _BELOW.fullmatch(line))
    return nbformat.v4.new_output("stream", name=output.name, text=shortened("\n".join(lines), library))


def _still(output: NotebookNode) -> NotebookNode:
    if output.output_type == "error":
        text = f"{output.ename}: {output.evalue}\n"
        return nbformat.v4.new_output("stream", name="stderr", text=text)
    if "<script" in output.get("data", {}).get("text/html", ""):
        return nbformat.v4.new_output("display_data", {"text/markdown": _VIEW})
    return output


# Numbers and words that only hidden tests name: an output that shows one tells what a test expects.
# Values that are stored as references are searched for in the finished site (``autograder/release/leaks/``). These here
# stand in the test itself, as in ``assert round(mean(ages), 4) == 31.2083``.

#: Shorter values occur by chance: digits of a number in the test and where it is printed, letters of a word.
MIN_DIGITS, MIN_PRINTED, MIN_LETTERS = 4, 3, 4
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w|\.\d)")
_TAG = re.compile(r"<[^>]*>")
_EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)
_WRITTEN = ("text/plain", "text/html", "text/markdown", "text/latex")


@dataclass(frozen=True)
class HiddenValues:
    numbers: frozenset[Decimal]
    words: frozenset[str]

    @classmethod
    def of(cls, notebook: NotebookNode) -> "HiddenValues":
        """What hidden tests of the instructor's notebook name, and no text or code that students see."""
        numbers: set[Decimal] = set()
        words: set[str] = set()
        shown = []
        for cell in notebook.cells:
            parts = cells.split_hidden(cell.source)
            if not cells.is_solution(cell):
                shown.append(parts.visible)
            if cell.cell_type == "code" and parts.hidden:
                try:
                    tree = cells.parse(parts.hidden)
                except SyntaxError:
                    continue
                numbers |= set(_numbers(map(ast.unparse, _constants(tree, int, float))))
                words |= {str(one.value) for part in _compared(tree) for one in _constants(part, str)}
        text = "\n".join(shown)
        known = set(_numbers([text]))
        return cls(
            frozenset(one for one in numbers - known if _digits(one) >= MIN_DIGITS),
            frozenset(one for one in words if len(one.strip()) >= MIN_LETTERS and one not in text),
        )

    def shown_in(self, outputs: Sequence[NotebookNode]) -> bool:
        """Whether an output shows one of them, a number perhaps with fewer or more digits."""
        if not self.numbers and not self.words:
            return False
        text = "\n".join(map(_source_text, outputs))
        printed = [one for one in _numbers([text]) if _digits(one) >= MIN_PRINTED]
        return any(word in text for word in self.words) or any(
            _alike(number, one) or _alike(one, number) for number in self.numbers for one in printed
        )


def _constants(tree: ast.AST, *kinds: type) -> Iterator[ast.Constant]:
    return (one for one in ast.walk(tree) if isinstance(one, ast.Constant) and type(one.value) in kinds)


def _compared(tree: ast.AST) -> Iterator[ast.AST]:
    """What a test compares with something: by ``==``, or by a function such as ``assertEqual``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and all(isinstance(one, ast.Eq) for one in node.ops):
            yield from (side for side in (node.left, *node.comparators) if not isinstance(side, ast.Call))
        elif isinstance(node, ast.Call) and "equal" in ast.unparse(node.func).lower():
            yield from (side for side in node.args if not isinstance(side, ast.Call))


def _numbers(texts: Iterable[str]) -> Iterator[Decimal]:
    for found in (one for text in texts for one in _NUMBER.findall(text)):
        try:
            yield Decimal(found)
        except InvalidOperation:
            continue


def _digits(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def _alike(number: Decimal, rounded: Decimal) -> bool:
    """Whether the second is the first, rounded to the digits that it has."""
    if number.is_zero() or rounded.is_zero() or abs(number.adjusted() - rounded.adjusted()) > 1:
        return False
    try:
        return number.quantize(rounded, context=_EXACT) == rounded
    except InvalidOperation:
        return False


def _source_text(output: NotebookNode) -> str:
    data = output.get("data", {})
    about = output.get("metadata", {}).get("image/png", {})
    said = [output.get("text", ""), output.get("evalue", ""), str(about.get("alt", ""))]
    said += [html.unescape(_TAG.sub(" ", data[kind])) if kind == "text/html" else data[kind]
             for kind in _WRITTEN if kind in data]  # fmt: skip
    return COLOUR.sub("", "\n".join(said))


FOLDER, WORKFLOW = "site", ".github/workflows/site.yml"


def add_site(
    course: Course,
    folder: Path,
    now: Sequence[Assignment],
    earlier: Sequence[Path],
    repository: str,
    hidden: Mapping[str, Hidden],
) -> Iterator[Finding]:
    """Build the site of what lies in ``folder``, in ``folder/site``, and yield what it would give away.

    now: what is published; earlier: the folders of assignments that were published and stay; hidden: of every
    assignment that is released. Raises GradingError.
    """
    published = {path.name: {one.stem: read_notebook(one) for one in sorted(path.glob("*.ipynb"))} for path in earlier}
    pages = course_pages(course, published | {one.name: one.release for one in now})
    named = repository if repository != course.file.placeholder else NO_REPOSITORY
    shelves = {_title(folder / name): [name] for name in course.file.publish.files if name.endswith(".md")}
    title = course.file.title or course.root.name
    before = earlier[0].parents[1] if earlier else None
    build(Site(title, named, folder, "README.md", pages, shelves, before), folder / FOLDER)
    (folder / WORKFLOW).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(THEME / "pages.yml", folder / WORKFLOW)
    return site_leaks(hidden, folder / FOLDER, pages)


def site_leaks(hidden: Mapping[str, Hidden], site: Path, pages: Sequence[Page]) -> Iterator[Finding]:
    """What a site gives away: a page of an assignment something of this one, any other page something of any.

    hidden: assignment -> what its students must not see.
    """
    yield from page_leaks(hidden, site, pages, FOLDER)  # these name the cell
    with tempfile.TemporaryDirectory(dir=site.parent, prefix=".site-") as aside:
        os.replace(site / "release", Path(aside, "release"))
        try:
            yield from found_in(site, hidden.values(), f"{FOLDER}/")
        finally:
            os.replace(Path(aside, "release"), site / "release")


def _title(path: Path) -> str:
    found = re.search(r"(?m)^#\s+(.+?)\s*$", path.read_text(encoding="utf-8"))
    return found[1] if found else path.stem


def course_pages(course: Course, published: Mapping[str, Mapping[str, NotebookNode]]) -> list[Page]:
    """A page for each notebook, in the course's order. published: assignment -> notebook -> as students get it.

    A solution that was not run by a release is run now. Raises GradingError where that fails.
    """
    line, pages = main_line(course), []
    with kernels_when_needed(course) as kernels:
        for name, notebooks in published.items():
            assignment = Assignment.open(course, name)
            shown = shown_by_solution(course, assignment, kernels)
            mistakes = messages_to_mistakes(course, assignment)
            code = code_lines(data.decode("utf-8", "replace") for data in assignment.solutions.values())
            for stem, released in notebooks.items():
                if (source := assignment.source.get(stem)) is None:  # in another language: nothing of it is run
                    source = nbformat.v4.new_notebook()
                made = page(released, source, shown.get(stem, {}), mistakes, code, course.file.library)
                pages.append(Page(lesson(line, name, stem, released), made, released))
    order = [one.slug for one in in_order(one.lesson for one in pages)]
    return sorted(pages, key=lambda one: order.index(one.lesson.slug))


def page_leaks(hidden: Mapping[str, Hidden], site: Path, pages: Sequence[Page], where: str) -> Iterator[Finding]:
    """What the pages of assignments show of their own solutions, hidden tests and expected values.

    hidden: assignment -> what its students must not see; site: the folder of the built site; where: what it is called
    in findings.
    """
    for name, secret in hidden.items():
        found = found_in(site / "release" / safe_name(name), [secret], f"{where}/release/{name}/")
        with TemporaryFolder("site-") as folder:  # by cell, where it can be mended, and formulas as they were written
            for one in pages:
                if one.lesson.assignment == name:
                    nbformat.write(one.shown, Path(folder, f"{one.lesson.name}.ipynb"))
            by_cell = found_in(Path(folder), [secret], f"{where}/release/{name}/")
        advice = f"; the tag {REMOVE!r} leaves a cell's output out of the site"
        yield from (replace(one, text=f"{one.text}{advice}") for one in by_cell or found)
