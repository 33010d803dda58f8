"""The notebook's part of the page: nbconvert renders it, an allow-list cleans it, formulas become MathML."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from nbconvert.exporters import TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from traitlets.config import Config

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
