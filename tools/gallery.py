"""The gallery: every figure that the solved notebooks show, with its alt text, as a page of the project's own site."""

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode
from PIL import Image

from autograder.release.solved_run import name_of

MAX_COLOURS = (256, 128, 64, 32)  # as many as leave the file small enough
MAX_BYTES = 60_000
#: Where the page lies, and its pictures, as paths in the repository.
PAGE, FOLDER = "docs/gallery.md", "docs/gallery"
HEAD = """# Gallery

Every figure that the solved notebooks draw, with its alt text. The interactive views (bertviz, the text box) are not
among them.
"""


@dataclass(frozen=True)
class Picture:
    """A picture of a notebook. ``cell``: the id of its cell, with ``-2`` and so on where that has several"""

    notebook: str
    cell: str
    alt: str
    png: bytes

    @property
    def file(self) -> str:
        return f"{self.notebook.replace('/', '-')}-{self.cell}.png"


def pictures(name: str, source: NotebookNode, shown: Mapping[str, Sequence[NotebookNode]]) -> Iterator[Picture]:
    """The pictures of a solved notebook, in order. Raises ValueError for one without an alt text.

    shown: name of a cell (:func:`name_of`) -> its outputs in the solved run
    """
    for cell in source.cells:
        outputs = [one for one in shown.get(name_of(cell), ()) if "image/png" in one.get("data", {})]
        for number, output in enumerate(outputs, start=1):
            alt = output.metadata.get("image/png", {}).get("alt") or cell.metadata.get("alt")
            if not alt:
                raise ValueError(
                    f"The picture of cell {cell.id} in {name} has no alt text: draw it by a function of "
                    f'course/figures, or write the text into the cell\'s metadata as "alt".'
                )
            id = cell.id if number == 1 else f"{cell.id}-{number}"
            yield Picture(name, id, alt, small(base64.b64decode(output.data["image/png"])))


def small(png: bytes) -> bytes:
    """The picture without metadata, and where that is too large in fewer colours."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    for colours in (None, *MAX_COLOURS):
        written = io.BytesIO()
        fewer = picture if colours is None else picture.quantize(colours, dither=Image.Dither.NONE)
        fewer.save(written, "PNG", optimize=True)
        if written.tell() <= MAX_BYTES:
            break
    return written.getvalue()


def page(found: Sequence[Picture]) -> str:
    """The text of the page, with a section for each assignment and each notebook. found: in the order of both."""
    parts, assignment, notebook = [HEAD], "", ""
    for one in found:
        if one.notebook.partition("/")[0] != assignment:
            assignment = one.notebook.partition("/")[0]
            parts.append(f"## {assignment}\n")
        if one.notebook != notebook:
            notebook = one.notebook
            parts.append(f"### [{notebook}](../source/{notebook}.ipynb)\n")
        text = re.sub(r"([\\`*_\[\]<>])", r"\\\1", one.alt)
        parts.append(f"`{one.cell}`\n\n![The figure of {one.cell}, described below](gallery/{one.file})\n\n{text}\n")
    return "\n".join(parts)
