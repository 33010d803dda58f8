"""Making a student's outputs and texts harmless, before anybody's browser shows them.

Applied to what is saved under ``autograded/`` (the formgrader renders it in the teacher's session) and
once more by the feedback page. Allow-lists throughout: what is not known to be inert is not kept.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import nbformat
import nh3
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from autograder import cells

#: Structure and emphasis. No forms, no frames, no SVG or MathML, nothing that loads or runs.
TAGS = nh3.ALLOWED_TAGS - {"area", "map", "nav", "header", "footer", "article", "aside"} | {"tfoot"}
_ATTRIBUTES = {
    "*": {"title", "dir"},
    "a": {"href"},
    "details": {"open"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "scope", "style"},
}
_IMAGE_URL = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")
_LINK_URL = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}

LEFT_OUT = "[An output that a page cannot show safely stood here.]"
SHOWN_AS_TEXT = "*(Shown as plain text: it holds HTML or links that are not run here.)*"


def clean_html(text: str, *, classes: bool = False) -> str:
    """The HTML without anything that runs, loads, sends or restyles the page around it.

    classes: keep ``class`` and our own ``id``s; only for HTML that was made here.
    """
    attributes = {**_ATTRIBUTES, "*": _ATTRIBUTES["*"] | {"class", "id"}} if classes else _ATTRIBUTES
    return nh3.clean(
        text,
        tags=set(TAGS),
        attributes=attributes,
        attribute_filter=_keep_attribute,
        url_schemes={"http", "https", "mailto", "data"},
        filter_style_properties={"text-align"},
    )


def _keep_attribute(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "src":
        return value if _IMAGE_URL.match(value) else None
    if attribute == "href":
        return value if _LINK_URL.match(value) else None
    if attribute == "id":
        return value if value.startswith("cell-") else None
    return value


def harmless(notebook: NotebookNode) -> NotebookNode:
    """A copy that any page may show: outputs cleaned, dangerous Markdown turned into plain text.

    Protected cells are the teacher's own text and stay as they are. Marks in nbgrader's terms (an error
    output, a number as the result) survive.
    """
    copy = nbformat.from_dict(deepcopy(notebook))
    copy.metadata.pop("widgets", None)
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = [clean for output in cell.outputs if (clean := _output(output)) is not None]
        elif not cells.is_protected(cell):
            cell.pop("attachments", None)
            if cell.cell_type == "markdown":
                cell.source = harmless_markdown(cell.source)
    return copy


def _output(output: Mapping[str, Any]) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return nbformat.v4.new_output("stream", name=name, text=_text(output.get("text")))
    if kind == "error":
        trace = output.get("traceback")
        lines = [_text(line) for line in trace] if isinstance(trace, list) else []
        return nbformat.v4.new_output(
            "error", ename=_text(output.get("ename")), evalue=_text(output.get("evalue")), traceback=lines
        )
    if kind not in ("display_data", "execute_result"):
        return None
    data, metadata = output.get("data"), output.get("metadata")
    clean = _bundle(data if isinstance(data, Mapping) else {})
    sizes = _sizes(metadata if isinstance(metadata, Mapping) else {}, clean)
    if kind == "execute_result":
        count = output.get("execution_count")
        return nbformat.v4.new_output(
            kind, data=clean, metadata=sizes, execution_count=count if isinstance(count, int) else None
        )
    return nbformat.v4.new_output(kind, data=clean, metadata=sizes)


def _bundle(data: Mapping[str, Any]) -> dict[str, str]:
    """mime type -> content, of the kinds that can be shown; never empty."""
    clean: dict[str, str] = {}
    for kind, value in data.items():
        text = _text(value)
        if kind in ("text/plain", "text/latex"):
            clean[kind] = text
        elif kind == "text/markdown":
            clean[kind] = harmless_markdown(text)
        elif kind == "text/html" and (cleaned := clean_html(text)).strip():
            clean[kind] = cleaned
        elif kind in _MAGIC and (image := _image(text, _MAGIC[kind])):
            clean[kind] = image
    svg = _text(data.get("image/svg+xml"))
    if svg and not {"image/png", "image/jpeg", "text/html"} & set(clean):
        # inside <img> an SVG neither runs scripts nor loads anything, whatever renders the page
        encoded = base64.b64encode(svg.encode("utf-8", "replace")).decode()
        clean["text/html"] = f'<img src="data:image/svg+xml;base64,{encoded}" alt="drawing">'
    return clean or {"text/plain": LEFT_OUT}


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _image(text: str, magic: bytes) -> str | None:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return base64.b64encode(data).decode() if data.startswith(magic) else None


def _sizes(metadata: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Widths and heights of images as plain numbers; templates write them into attributes."""
    sizes: dict[str, dict[str, int]] = {}
    for kind in _MAGIC.keys() & data.keys():
        given = metadata.get(kind)
        if isinstance(given, Mapping):
            sizes[kind] = {
                side: int(given[side])
                for side in ("width", "height")
                if isinstance(given.get(side), (int, float)) and 0 < given[side] < 10_000
            }
    return sizes


def harmless_markdown(source: str) -> str:
    """The text itself where its rendering is inert, else the same text as a block of code."""
    if is_harmless_markdown(source):
        return source
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    fenced = f"{SHOWN_AS_TEXT}\n\n{fence}\n{source}\n{fence}\n"
    return fenced if is_harmless_markdown(fenced) else LEFT_OUT


def is_harmless_markdown(source: str) -> bool:
    """Whether nbconvert's own Markdown parser finds only inert HTML, links and images in the text."""
    if not re.search(r"[<\[]|mermaid", source):
        return True
    watch = _Watch()
    try:
        MarkdownWithMath(renderer=watch).render(source)
    except (InvalidNotebook, RecursionError, ValueError):
        return False
    return not watch.harm


class _Watch(IPythonRenderer):
    """nbconvert's renderer, noting whatever it would pass through that is not inert."""

    def __init__(self) -> None:
        super().__init__(escape=False)
        self.harm = False

    def block_html(self, html: str) -> str:
        self.harm |= not _inert(html)
        return ""

    inline_html = block_html

    def link(self, text: str, url: str, title: str | None = None) -> str:
        self.harm |= not _safe_url(url)
        return text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        # an attachment that is not there makes nbconvert give up on the whole page
        self.harm |= not _safe_url(url) or url.startswith("attachment:")
        return text

    def block_mermaidjs(self, code: str) -> str:
        self.harm = True  # nbconvert writes it out unescaped
        return ""


_TAG = re.compile(r"""</?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-z-]+(?:="[^"<>`]*"|='[^'<>`]*')?)*)\s*/?>""")
_ATTRIBUTE = re.compile(r"""([a-z-]+)(?:=(?:"([^"]*)"|'([^']*)'))?""")
_INERT_ATTRIBUTES = {
    "class", "id", "title", "alt", "width", "height", "align", "open", "start", "colspan", "rowspan", "dir", "target",
    "rel", "border", "name",
}  # fmt: skip


def _inert(text: str) -> bool:
    """True where every ``<`` opens a plain, complete, allowed tag or is no tag at all."""
    # browsers end a comment earlier than Markdown does (``--!>``), so one that holds a bracket is none here
    text = re.sub(r"<!--[^<>]*-->", "", text)
    position = 0
    while (position := text.find("<", position)) >= 0:
        if not re.match(r"[a-zA-Z/!?]", text[position + 1 : position + 2]):
            position += 1
            continue
        tag = _TAG.match(text, position)
        if not tag or tag[1].lower() not in TAGS or not _inert_attributes(tag[2]):
            return False
        position = tag.end()
    return True


def _inert_attributes(text: str) -> bool:
    for name, double, single in _ATTRIBUTE.findall(text):
        value = html.unescape(double or single)
        if name in ("href", "src"):
            if not _safe_url(value):
                return False
        elif name == "style":
            if not re.fullmatch(r"[\w\s#%.,;:()-]*", value) or re.search(r"url|position", value, re.IGNORECASE):
                return False
        elif name not in _INERT_ATTRIBUTES:
            return False
    return True


def _safe_url(url: str) -> bool:
    """A web address, a mail address, an inline picture or a relative path; read as a browser reads it."""
    plain = re.sub(r"[\x00-\x20]", "", html.unescape(html.unescape(url)))
    scheme = re.match(r"([^/?#]*?):", plain)
    if scheme is None:
        return True
    return scheme[1].lower() in ("http", "https", "mailto", "attachment") or bool(_IMAGE_URL.match(plain))
