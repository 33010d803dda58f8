"""Draws every figure of the solved notebooks, and writes ``docs/gallery.md`` with what each one shows.

    python -m tools.gallery                                  # all notebooks: this takes minutes
    python -m tools.gallery decoder numpy_attention/1_attention   # these alone; the other sections stay as they are

A notebook runs as an instructor's does, without its hidden tests. Of each cell with a picture the gallery has the
picture and its alt text: the one saved with the picture, or in the cell's metadata. Nothing else is in the file, so
that a second run on the same machine writes the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

from autograder.model.cells import split_hidden

ROOT = Path(__file__).resolve().parents[1]
PAGE, FOLDER = ROOT / "docs" / "gallery.md", ROOT / "docs" / "gallery"
MAX_COLOURS = (256, 128, 64, 32)  # as many as leave the file small enough
MAX_BYTES = 60_000
HEAD = """# Gallery

Every figure that the solved notebooks draw, with its alt text. Made by `python -m tools.gallery`; not to be edited.
The interactive views (bertviz, the text box) are not among them.
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


def notebooks(chosen: list[str]) -> dict[str, Path]:
    """``assignment/notebook`` -> its source; all of them, or those chosen by this name or by their assignment's.

    Raises SystemExit (2) for a name that there is not.
    """
    every = {f"{path.parent.name}/{path.stem}": path for path in sorted(ROOT.glob("source/*/*.ipynb"))}
    names = {name: [one for one in every if one == name or one.startswith(f"{name}/")] for name in chosen}
    if missing := [name for name, found in names.items() if not found]:
        print(f"There is no notebook {missing[0]}. There are: {', '.join(every)}.", file=sys.stderr)
        raise SystemExit(2)
    wanted = {one for found in names.values() for one in found} if chosen else set(every)
    return {name: path for name, path in every.items() if name in wanted}


def executed(path: Path) -> NotebookNode:
    """The solved notebook with its outputs. Nothing is downloaded. Raises CellExecutionError where a cell fails."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = split_hidden(cell.source).visible
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=600, resources={"metadata": {"path": str(path.parent)}}
    )
    return client.execute()


def pictures(name: str, notebook: NotebookNode) -> Iterator[Picture]:
    """The pictures of an executed notebook, in order. Raises ValueError for one without an alt text."""
    for cell in notebook.cells:
        shown = [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
        for number, output in enumerate(shown, start=1):
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


def section(name: str, found: list[Picture]) -> str:
    parts = [f"### [{name}](../source/{name}.ipynb)\n"]
    for one in found:
        text = re.sub(r"([\\`*_\[\]<>])", r"\\\1", one.alt)
        parts.append(f"`{one.cell}`\n\n![The figure of {one.cell}, described below](gallery/{one.file})\n\n{text}\n")
    return "\n".join(parts)


def sections(page: str) -> dict[str, str]:
    """Notebook -> its section of a page."""
    parts = re.split(r"(?m)^(?=###? )", page)
    return {match[1]: f"{part.rstrip()}\n" for part in parts if (match := re.match(r"### \[(\S+)\]", part))}


def page(parts: dict[str, str]) -> str:
    written, assignment = [HEAD], ""
    for name in sorted(parts):
        if name.split("/")[0] != assignment:
            assignment = name.split("/")[0]
            written.append(f"## {assignment}\n")
        written.append(parts[name])
    return "\n".join(written)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "notebook", nargs="*", help="an assignment, or assignment/notebook; all of them if none is named"
    )
    chosen = notebooks(parser.parse_args(arguments).notebook)
    FOLDER.mkdir(exist_ok=True)
    before = sections(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    parts = {name: before[name] for name in before.keys() & notebooks([]).keys()}
    for name, path in chosen.items():
        try:
            found = list(pictures(name, executed(path)))
        except ValueError as error:
            print(error, file=sys.stderr)
            raise SystemExit(2) from None
        for one in found:
            (FOLDER / one.file).write_bytes(one.png)
        parts.pop(name, None)
        if found:
            parts[name] = section(name, found)
        print(f"{name}: {len(found)} in the gallery", flush=True)
        PAGE.write_text(page(parts), encoding="utf-8")
    for path in FOLDER.glob("*.png"):
        if f"](gallery/{path.name})" not in page(parts):
            path.unlink()


if __name__ == "__main__":
    main()
