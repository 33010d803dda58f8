"""Photographs solved notebooks in JupyterLab, for the guides.

    python -m tools.screenshots            # needs chromium and chromedriver; some minutes

Each notebook runs without its hidden tests, then a headless Chromium opens it at the cell named below. Look at every
picture before you commit it: the solution cells are not in it, the figure is.
"""

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.model.cells import split_hidden
from tests.browser.conftest import LOCAL
from tests.browser.jupyter import jupyter_server
from tests.browser.lab import Notebook
from tests.feedback.browser import chromium
from tests.grading import ROOT
from tools.gallery import small

#: Notebook -> the cell at the top of its picture.
SHOWN = {
    "decoder/1_language_model": "train-text",
    "decoder/2_generation": "filters-text",
    "decoder/3_kv_cache": "time",
    "decoder/4_modern_block": "distance",
    "decoder/5_looking_inside": "effect-text",
}


def executed(path: Path) -> NotebookNode:
    """The solved notebook with its outputs. Nothing is downloaded. Raises CellExecutionError where a cell fails."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = split_hidden(cell.source).visible
    folder = {"metadata": {"path": str(path.parent)}}
    return NotebookClient(notebook, kernel_name="python3", timeout=600, resources=folder).execute()


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder, home, profile = (Path(temporary, name) for name in ("notebooks", "home", "profile"))
        for one in (folder, home, profile):
            one.mkdir()
        sources = {name: ROOT / "source" / f"{name}.ipynb" for name in SHOWN}
        for name, path in sources.items():
            nbformat.write(executed(path), folder / path.name)
            print(f"{name}: executed", flush=True)
        with chromium(profile, *LOCAL) as browser, jupyter_server(folder, home) as server:
            for name, path in sources.items():
                Notebook(browser, server, path.name).show_from(SHOWN[name])
                target = ROOT / "docs" / "images" / f"{name.replace('/', '-')}.png"
                target.write_bytes(small(browser.get_screenshot_as_png()))
                print(target.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main()
