"""Runs one notebook and prints its errors as JSON: [[cell id, error name, message], ...]. Started by the tests."""

import json
import sys

import nbformat
from nbclient import NotebookClient

if __name__ == "__main__":
    notebook = nbformat.read(sys.argv[1], as_version=4)
    # "python3" is this interpreter's own kernel, as long as nobody's kernelspec is in sight
    NotebookClient(notebook, allow_errors=True, timeout=120, kernel_name="python3").execute()
    errors = [
        (cell.id, output.ename, output.evalue)
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    json.dump(errors, sys.stdout)
