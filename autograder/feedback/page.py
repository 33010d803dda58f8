"""The page itself: points, every exercise in words, then the notebook, which an allow-list cleans; its place."""

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jinja2
import nbformat
from latex2mathml.converter import convert
from nbconvert.exporters import TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from pygments.formatters import HtmlFormatter
from traitlets.config import Config

from autograder.assignment.submission import NOT_HANDED_IN, exchange_files
from autograder.errors import NothingToGrade
from autograder.feedback.strip import without_hidden_tests, without_paths
from autograder.feedback.words import WORDS, exercise_titles, points, readable
from autograder.files.atomic import replacing, writing
from autograder.gradebook.gather import gather_one
from autograder.gradebook.read import Student
from autograder.gradebook.regradings import Change, Regrading
from autograder.gradebook.results import ExerciseResult, StudentResult, result_of
from autograder.model import cells
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, total
from autograder.pipeline.sanitize import clean_html, harmless

TEMPLATES = Path(__file__).parent / "templates"

_MATHML = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose",
}  # fmt: skip
_MATHML_ATTRIBUTES = {
    "display", "mathvariant", "stretchy", "fence", "form", "separator", "lspace", "rspace", "accent", "accentunder",
    "movablelimits", "linethickness", "columnalign", "columnspacing", "rowspacing", "width", "height", "depth",
    "displaystyle", "scriptlevel", "minsize", "maxsize", "largeop", "symmetric", "notation",
}  # fmt: skip
_FORMULA = re.compile(r'<span class="formula( display)?">(.*?)</span>', re.DOTALL)
#: A formula longer than this stays text: turning it into MathML is not worth the time.
MAX_FORMULA = 2000
#: The MathML of a longer one is not kept for the next page: students write formulas, too.
_KEPT_FORMULA = 300


def notebook_body(notebook: NotebookNode) -> str:
    """The cells as inert HTML, each in a ``div`` with the id ``cell-<grade id>`` where it has one."""
    rendered, _ = _exporter().from_notebook_node(harmless(notebook))
    cleaned = clean_html(rendered, classes=True)
    # a picture from elsewhere has lost its address; its description stays
    return _FORMULA.sub(_formula, re.sub(r'<img(?: alt="([^"]*)")?>', _not_shown, cleaned))


def _not_shown(picture: re.Match[str]) -> str:
    about = f": {picture[1]}" if picture[1] else ""
    return f"[A picture that lies beside the notebook, or elsewhere, is not shown here{about}]"


@lru_cache(maxsize=1)
def _exporter() -> TemplateExporter:
    # HTMLExporter would parse its own output once more, which takes three quarters of its time
    config = Config()
    config.Exporter.default_preprocessors = []
    config.NbConvertBase.display_data_priority = [
        "text/html", "text/markdown", "text/latex", "image/png", "image/jpeg", "text/plain",
    ]  # fmt: skip
    exporter = TemplateExporter(
        config=config, template_name="notebook", template_file="index.html.j2", extra_template_basedirs=[str(TEMPLATES)]
    )
    exporter.register_filter("markdown", _markdown)
    exporter.register_filter("highlight_code", Highlight2HTML(pygments_lexer="ipython3"))
    return exporter


def _markdown(source: str, attachments: dict[str, dict[str, str]] | None = None) -> str:
    renderer = _Renderer(escape=False, exclude_anchor_links=True, attachments=attachments)
    return str(MarkdownWithMath(renderer=renderer).render(source))


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, with formulas marked instead of left to a script from the network."""

    def inline_math(self, body: str) -> str:
        return f'<span class="formula">{html.escape(body)}</span>'

    def block_math(self, body: str) -> str:
        return f'<span class="formula display">{html.escape(body)}</span>'

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def _formula(found: re.Match[str]) -> str:
    tex = html.unescape(found[2])
    rendered = mathml(tex, display=bool(found[1])) if len(tex) <= MAX_FORMULA and "<" not in found[2] else None
    return rendered or f'<code class="formula">{found[2]}</code>'


def mathml(tex: str, *, display: bool) -> str | None:
    """The formula as MathML of a known, inert vocabulary; None where it is none that can be shown so."""
    return _short_mathml(tex, display) if len(tex) <= _KEPT_FORMULA else _mathml(tex, display)


@lru_cache(maxsize=1024)  # the course's own formulas stand in everybody's notebook
def _short_mathml(tex: str, display: bool) -> str | None:
    return _mathml(tex, display)


def _mathml(tex: str, display: bool) -> str | None:
    try:
        tree = ElementTree.fromstring(convert(tex.strip(), display="block" if display else "inline"))
    except Exception:  # the converter raises what it likes on what is no TeX
        return None
    return "".join(_inert(tree)) if all(_name(element) in _MATHML for element in tree.iter()) else None


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _inert(element: ElementTree.Element) -> Iterator[str]:
    attributes: dict[str, Any] = {name: value for name, value in element.attrib.items() if name in _MATHML_ATTRIBUTES}
    written = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    yield f"<{_name(element)}{written}>{html.escape(element.text or '')}"
    for child in element:
        yield from _inert(child)
        yield html.escape(child.tail or "")
    yield f"</{_name(element)}>"


@dataclass(frozen=True)
class ExerciseSection:
    """One graded cell as the page shows it. ``points`` is None where nobody has decided yet."""

    cell: str
    title: str
    status: str
    words: str
    points: float | None
    max_points: float
    failed: tuple[Check, ...]
    passed: tuple[Check, ...]
    comments: tuple[str, ...]
    linked: bool

    @property
    def share(self) -> float:
        """Between 0 and 1, for the bar."""
        if not self.max_points:
            return float(self.status == "passed")
        return min(1.0, max(0.0, (self.points or 0.0) / self.max_points))


def render_notebook(
    notebook: NotebookNode | None, verdict: NotebookVerdict, result: StudentResult | None = None, library: str = ""
) -> str:
    """One self-contained page for one notebook of one student.

    notebook: as autograded; None where none was handed in.
    result: the student's, on the whole assignment; what the verdict alone says where there is none.
    library: import name of what the course's notebooks import; paths in tracebacks begin there.
    """
    result = result or _of_verdict(verdict)
    here = result.notebook(verdict.notebook)
    comments = comments_by_exercise(notebook, verdict, {cell: text for (_, cell), text in here.comments.items()})
    body = _body(notebook, verdict, library)
    shown = {cells.grade_id(cell) for cell in notebook.cells} if notebook is not None and body else set()
    titles = exercise_titles(notebook)
    exercises = [
        _exercise(
            cell,
            here.exercises.get((verdict.notebook, cell.cell)) or result_of(cell),
            titles.get(cell.cell) or readable(cell.cell),
            comments.get(cell.cell, ()),
            cell.cell in shown,
        )
        for cell in verdict.cells
    ]
    said = {check.message for exercise in exercises for check in exercise.failed}  # why a notebook was not run, say
    group = ["This is your group's submission: another of you handed it in."] if result.submitted_by else []
    template = _environment().get_template("page.html.j2")
    return template.render(
        verdict=verdict,
        title=readable(verdict.notebook),
        exercises=exercises,
        notes=[_friendly(note) for note in verdict.notes if note not in said and not note.endswith(NOT_HANDED_IN)],
        missing=[note for note in verdict.notes if note.endswith(NOT_HANDED_IN)],
        total=_total(result, here) if any(one.points is not None for one in exercises) or not exercises else None,
        max_points=total(exercise.max_points for exercise in exercises),
        open=[exercise for exercise in exercises if exercise.points is None],
        whole=(*group, *whole_assignment(result), *graded_again(result)),
        body=body,
        style=page_style(),
    )


def _total(result: StudentResult, here: StudentResult) -> float:
    """What counts, where this notebook is all that there is: what was taken off is said below."""
    alone = len({notebook for notebook, _ in result.exercises}) == 1
    return result.score if alone and result.score is not None and result.deduction else here.points_so_far


def _body(notebook: NotebookNode | None, verdict: NotebookVerdict, library: str) -> str:
    """The notebook as it was run; nothing where it was not."""
    if notebook is None or any(cell.status == "ungradable" for cell in verdict.cells):
        return ""
    return notebook_body(without_paths(without_hidden_tests(notebook), library))


def _of_verdict(verdict: NotebookVerdict) -> StudentResult:
    results = {(verdict.notebook, cell.cell): result_of(cell) for cell in verdict.cells}
    return StudentResult(Student(verdict.student), results)


def _exercise(
    cell: CellVerdict, result: ExerciseResult, title: str, comments: tuple[str, ...], linked: bool
) -> ExerciseSection:
    words = WORDS.get(result.status, "graded")
    if result.decided_by == "person":
        words = "graded by hand"
    if result.waiver:
        words = result.waiver
    if result.extra_credit:
        words += f", with {points(result.extra_credit)} points of extra credit"
    failed = tuple(check for check in cell.checks if not check.passed)
    passed = tuple(check for check in cell.checks if check.passed)
    status, most = result.status, result.max_points
    if not most and status not in ("passed", "manual"):
        status, words = "free", "no points depend on it"
    return ExerciseSection(cell.cell, title, status, words, result.points, most, failed, passed, comments, linked)


def comments_by_exercise(
    notebook: NotebookNode | None, verdict: NotebookVerdict, comments: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Graded cell -> comments. nbgrader hangs a comment on the answer; its points stand at the next graded cell."""
    graded = [cell.cell for cell in verdict.cells]
    order = [cells.grade_id(cell) for cell in notebook.cells] if notebook is not None else []
    found: dict[str, tuple[str, ...]] = {}
    for name, text in comments.items():
        if not text or not text.strip() or not graded:
            continue
        behind = order[order.index(name) :] if name in order else [name]
        target = next((cell for cell in behind if cell in graded), graded[-1])
        found[target] = (*found.get(target, ()), text.strip())
    return found


def _friendly(note: str) -> str:
    return (note[:1].upper() + note[1:]).rstrip(".") + "."


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["points"] = points
    return environment


@lru_cache(maxsize=1)
def page_style() -> str:
    # the colours of both stand out enough from the background, those of comments too
    light = HtmlFormatter(style="xcode").get_style_defs(".highlight")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    own = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n{own}"


def whole_assignment(result: StudentResult) -> tuple[str, ...]:
    """Lines about all notebooks together; none where one notebook is all there is and nothing was late."""
    several = len({notebook for notebook, _ in result.exercises}) > 1
    of = f"of {points(result.max_points)} points"
    late = result.lateness.reason if result.lateness is not None and result.lateness.days else ""
    if result.state == "refused":
        return (f"Handed in too late to be taken ({late}): this submission has no score.",)
    if result.points is None:
        undecided = len(result.waiting)
        exercises = "1 exercise has" if undecided == 1 else f"{undecided} exercises have"
        lines = [f"All notebooks: {points(result.points_so_far)} {of} so far; {exercises} no points yet."]
        if late:
            lines.append(f"Handed in late ({late}); points are taken off when every exercise has some.")
        return tuple(lines if several else lines[1:])
    whole = "All notebooks: " if several else ""
    if result.deduction:
        earned, off, counts = points(result.points), points(result.deduction), points(result.score)
        why = late or "handed in late"
        return (f"{whole}{earned} {of} earned, {off} taken off ({why}), {counts} count.",)
    return (f"{whole}{points(result.points)} {of}{f' ({late})' if late else ''}.",) if several or late else ()


def graded_again(result: StudentResult) -> tuple[str, ...]:
    """A line for each time that the submission was graded again because the instructor's side had changed."""
    return tuple(_told(one) for one in result.regradings)


def _told(one: Regrading) -> str:
    changes = "; ".join(map(_change, one.changes)) or "your points stayed the same"
    return f"Graded again on {one.date.isoformat()} ({one.why}): {changes}."


def _change(change: Change) -> str:
    name = readable(change.exercise)
    if change.kept is not None:
        return f"{name} kept its {points(change.new)} points"
    return f"{name} had {points(change.old)} points then and {points(change.new)} after it"


def write_feedback(course: Course, assignment: str, student: str, result: StudentResult | None = None) -> list[Path]:
    """Write one page per notebook of the assignment. The folder is replaced as a whole.

    result: the student's, where it was gathered already.
    Raises NothingToGrade where the submission was not graded yet, GradingError where nothing can be written.
    """
    result = result or gather_one(course, assignment, student)
    if result is None or result.verdict is None:
        raise NothingToGrade(
            f"{student} has no verdict for {assignment!r} yet: run 'autograder grade {assignment}' first"
        )
    by = result.submitted_by or student
    graded, folder = course.autograded(by, assignment), course.feedback(student, assignment)
    pages = {}
    for verdict in result.verdict.notebooks:
        notebook = _autograded(graded / f"{verdict.notebook}.ipynb", course)
        pages[verdict.notebook] = render_notebook(notebook, verdict, result, course.file.library)
    beside = exchange_files(course.submitted(by, assignment))
    with writing(folder), replacing(folder) as fresh:
        for name, page in pages.items():
            (fresh / f"{name}.html").write_text(page, encoding="utf-8")
        for name, data in beside.items():
            (fresh / name).write_bytes(data)
    return [folder / f"{name}.html" for name in pages]


def _autograded(path: Path, course: Course) -> NotebookNode | None:
    """With the repository of now: it may have been named after the notebook was graded."""
    return course.file.fill_in(nbformat.read(path, as_version=4)) if path.is_file() else None
