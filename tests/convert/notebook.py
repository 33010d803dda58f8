"""Writing otter notebooks for tests: a few words a cell."""

from collections.abc import Iterable

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell


def raw(text: str) -> NotebookNode:
    return new_raw_cell(text)


def text(text: str) -> NotebookNode:
    return new_markdown_cell(text)


def code(source: str, shown: str = "", printed: str = "") -> NotebookNode:
    """A code cell with the output that Jupyter stored: what the last line showed, and what was printed."""
    outputs = [new_output("stream", name="stdout", text=printed)] if printed else []
    outputs += [new_output("execute_result", data={"text/plain": shown})] if shown else []
    return new_code_cell(source, outputs=outputs)


def notebook(*cells: NotebookNode | Iterable[NotebookNode]) -> NotebookNode:
    flat = [one for cell in cells for one in ([cell] if isinstance(cell, NotebookNode) else cell)]
    made = new_notebook(cells=flat)
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def question(
    name: str,
    *tests: NotebookNode,
    solution: NotebookNode | None = None,
    prompt: NotebookNode | None = None,
    config: str = "",
) -> list[NotebookNode]:
    made = [raw(f"# BEGIN QUESTION\nname: {name}\n{config}")]
    for kind, inside in (("PROMPT", [prompt]), ("SOLUTION", [solution]), ("TESTS", list(tests))):
        if any(inside):
            made += [raw(f"# BEGIN {kind}"), *(cell for cell in inside if cell), raw(f"# END {kind}")]
    return [*made, raw("# END QUESTION")]
