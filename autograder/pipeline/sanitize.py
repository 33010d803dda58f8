"""Making a student's outputs and texts harmless, before anybody's browser shows them.

Applied to what is saved under ``autograded/`` (the formgrader renders it in the instructor's session) and
once more by the feedback page. Allow-lists throughout: what is not known to be inert is not kept.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import quote

import nbformat
import nh3
from nbformat import NotebookNode

from autograder.kernel.outputs import MAX_ALT_CHARACTERS
from autograder.model import cells
from autograder.pipeline.inert import IMAGE_URL, TAGS
from autograder.pipeline.markdown import LEFT_OUT, as_text, harmless_markdown, is_tangled, short_lines

_ATTRIBUTES = {
    "*": {"title", "dir"},
    "a": {"href"},
    "details": {"open"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    "td": {"colspan", "rowspan", "style"},
    "th": {"colspan", "rowspan", "scope", "style"},
}
_LINK_URL = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
_SHOWN = {"image/png", "image/jpeg"}  # of outputs

#: Of one notebook, besides the instructor's own marked cells.
MAX_MARKDOWN_OF_NOTEBOOK = 200_000


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
        return value if IMAGE_URL.match(value) else None
    if attribute == "href":
        return value if _LINK_URL.match(value) else None
    if attribute == "id":
        return value if value.startswith("cell-") else None
    return value


def harmless(notebook: NotebookNode) -> NotebookNode:
    """A copy that any page may show: outputs cleaned, dangerous Markdown turned into plain text.

    Protected cells are the instructor's own text and stay as they are. Marks in nbgrader's terms (an error
    output, a number as the result) survive.
    """
    copy = nbformat.from_dict(deepcopy(notebook))
    copy.metadata.pop("widgets", None)
    markdown = _Markdown()
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs = _outputs(cell, markdown)
            if not cells.is_locked(cell):
                cell.source = short_lines(cell.source)
        elif not cells.is_locked(cell):
            attachments = cell.pop("attachments", {})
            if cell.cell_type == "markdown":
                source, pictures = with_pictures(cell.source, attachments)
                cell.source = markdown.harmless(source, frozenset(pictures))
                if pictures:
                    cell.attachments = pictures
    return copy


def with_harmless_outputs(notebook: NotebookNode) -> NotebookNode:
    """A copy with cleaned outputs, whose texts are as they were. To clean it once more changes nothing that counts."""
    markdown = _Markdown()
    copies = [NotebookNode(cell) for cell in notebook.cells]
    for cell in copies:
        if cell.cell_type == "code":
            cell.outputs = _outputs(cell, markdown)
    return NotebookNode({**notebook, "cells": copies})


def _outputs(cell: NotebookNode, markdown: "_Markdown") -> list[NotebookNode]:
    return [clean for output in cell.outputs if (clean := _output(output, markdown)) is not None]


class _Markdown:
    """Makes the Markdown of one notebook harmless, as long as there is not too much of it."""

    def __init__(self) -> None:
        self._left = MAX_MARKDOWN_OF_NOTEBOOK

    def harmless(self, source: str, pictures: frozenset[str] = frozenset()) -> str:
        self._left -= len(source)
        return harmless_markdown(source, pictures) if self._left >= 0 else as_text(source)


def _output(output: Mapping[str, Any], markdown: _Markdown) -> NotebookNode | None:
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return _new_output("stream", name=name, text=_text(output.get("text")))
    if kind == "error":
        trace = output.get("traceback")
        lines = [_text(line) for line in trace] if isinstance(trace, list) else []
        return _new_output(
            "error", ename=_text(output.get("ename")), evalue=_text(output.get("evalue")), traceback=lines
        )
    if kind not in ("display_data", "execute_result"):
        return None
    data, metadata = output.get("data"), output.get("metadata")
    clean = _bundle(data if isinstance(data, Mapping) else {}, markdown)
    told = _of_pictures(metadata if isinstance(metadata, Mapping) else {}, clean)
    if kind == "execute_result":
        count = output.get("execution_count")
        return _new_output(kind, data=clean, metadata=told, execution_count=count if isinstance(count, int) else None)
    return _new_output(kind, data=clean, metadata=told)


def _new_output(kind: str, **content: object) -> NotebookNode:
    """As nbformat makes it, which checks each against the schema; that is most of the time here."""
    return nbformat.from_dict({"output_type": kind, **content})


def _bundle(data: Mapping[str, Any], markdown: _Markdown) -> dict[str, str]:
    """mime type -> content, of the kinds that can be shown; never empty."""
    clean: dict[str, str] = {}
    for kind, value in data.items():
        text = _text(value)
        if kind in ("text/plain", "text/latex"):
            clean[kind] = text
        elif kind == "text/markdown":
            clean[kind] = markdown.harmless(text)
        elif kind == "text/html" and not is_tangled(text) and (cleaned := clean_html(text)).strip():
            clean[kind] = cleaned if len(cleaned) <= 2 * len(text) + 1000 else LEFT_OUT
        elif kind in _SHOWN and (image := picture(kind, text)):
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


def _of_pictures(metadata: Mapping[str, Any], data: Mapping[str, str]) -> dict[str, dict[str, int | str]]:
    """Widths and heights of images as plain numbers, and their alt texts; templates write them into attributes.

    An alt text is any text: who writes it into a page escapes it.
    """
    told: dict[str, dict[str, int | str]] = {}
    for kind in _SHOWN & data.keys():
        given = metadata.get(kind)
        if isinstance(given, Mapping):
            told[kind] = {
                side: int(given[side])
                for side in ("width", "height")
                if isinstance(given.get(side), (int, float)) and 0 < given[side] < 10_000
            }
            if alt := _text(given.get("alt"))[:MAX_ALT_CHARACTERS]:
                told[kind]["alt"] = alt
    return told


# Pictures that a student pasted into the text of a cell, which Jupyter keeps as attachments of the cell.
# Only pictures stay, and a page shows them within ``<img>`` alone, where an SVG runs no script and loads nothing.

#: mime type -> (ending, how the data begins); an SVG has no such beginning.
KINDS = {
    "image/png": ("png", b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": ("jpg", b"\xff\xd8\xff"),
    "image/gif": ("gif", b"GIF8"),
    "image/webp": ("webp", b"RIFF"),
    "image/svg+xml": ("svg", b""),
}
_IMG_TAG = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*["']?(attachment:[^"'\s<>]+)["']?[^<>]*>""", re.IGNORECASE)
_MISSING = re.compile(r"!\[[^\[\]\n]*\]\(\s*<?attachment:[^()\n]*\)")
NOT_KEPT = "*[A picture that could not be kept stood here.]*"


def picture(kind: str, text: str) -> str | None:
    """The picture in base64 without line breaks; None where it is no picture of this kind."""
    begins = KINDS[kind][1]
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b"" if begins else text.encode("utf-8", "replace")  # tools write an SVG as it is, too
    if not data or not data.startswith(begins) or (kind == "image/svg+xml" and b"<svg" not in data[:4000].lower()):
        return None
    return base64.b64encode(data).decode()


def with_pictures(source: str, attachments: Mapping[str, Mapping[str, str]]) -> tuple[str, dict[str, dict[str, str]]]:
    """(text, attachments) of a cell: the pictures that the text shows, under plain names, and a word for all others."""
    if "attachment:" not in source:
        return source, {}
    kept: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for number, (name, bundle) in enumerate(attachments.items()):
        found = ((kind, data) for kind in KINDS if kind in bundle and (data := picture(kind, bundle[kind])))
        if (first := next(found, None)) is not None:
            key = f"picture-{number}.{KINDS[first[0]][0]}"
            kept[key] = {first[0]: first[1]}
            names |= dict.fromkeys((name, quote(name), quote(name, safe="")), key)
    source = _IMG_TAG.sub(r"![picture](\1)", source)
    if names:
        either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        source = re.sub(rf"<attachment:({either})>|attachment:({either})",
                        lambda found: f"attachment:{names[found[1] or found[2]]}", source)  # fmt: skip
    shown = {key: bundle for key, bundle in kept.items() if f"attachment:{key}" in source}
    return _MISSING.sub(lambda found: found[0] if any(f"(attachment:{key}" in found[0] for key in shown) else NOT_KEPT,
                        source), shown  # fmt: skip
