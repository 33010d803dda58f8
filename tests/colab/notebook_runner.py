"""Runs notebooks and prints their errors as JSON: {notebook: [[cell id, error name, message], ...]}. Started by tests.

``kernel NOTEBOOK ...``: by nbclient in ipykernel, as Jupyter does. ``shell NOTEBOOK ...``: each in a process of its own
that is forked from this one, so that what others wrote is imported once; in its own folder, with IPython alone.
"""

import contextlib
import importlib
import io
import json
import os
import sys
from pathlib import Path

import nbformat

#: What most notebooks import and takes long; nothing of the course, whose wheel is what is tried.
OF_OTHERS = (
    "torch", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "matplotlib_inline.backend_inline",
    "IPython.core.interactiveshell", "transformers.models.auto.tokenization_auto",
    "transformers.models.distilbert.modeling_distilbert", "transformers.models.llama.modeling_llama",
)  # fmt: skip


def in_a_kernel(path: Path) -> list[tuple[str, str, str]]:
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    # "python3" is this interpreter's own kernel, as long as nobody's kernelspec is in sight
    metadata = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, allow_errors=True, timeout=120, kernel_name="python3", resources=metadata).execute()
    return [
        (cell.id, output.ename, output.evalue)
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]


def in_a_shell(path: Path) -> list[tuple[str, str, str]]:
    from IPython.core.interactiveshell import InteractiveShell

    notebook = nbformat.read(path, as_version=4)
    os.chdir(path.parent)
    sys.path[0] = ""  # in place of this file's folder
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as in ipykernel
    errors = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell = InteractiveShell.instance()
        for cell in notebook.cells:
            if cell.cell_type == "code":
                done = shell.run_cell(cell.source, store_history=True)
                if error := done.error_before_exec or done.error_in_exec:
                    errors.append((cell.id, type(error).__name__, str(error)))
    return errors


def forked(path: Path) -> list[tuple[str, str, str]]:
    """What ``in_a_shell`` finds, in a process of its own."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        with os.fdopen(writing, "w") as pipe:
            json.dump(in_a_shell(path), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.wait()
    return json.loads(said)


if __name__ == "__main__":
    how, *paths = sys.argv[1:]
    if how == "shell":
        for name in OF_OTHERS:
            importlib.import_module(name)
    run = {"kernel": in_a_kernel, "shell": forked}[how]
    json.dump({path: run(Path(path).resolve()) for path in paths}, sys.stdout)
