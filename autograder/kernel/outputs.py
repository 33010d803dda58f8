"""What a cell shows, collected from messages that nobody vouches for, and bounded while it arrives."""

import json
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from autograder.model.plain_text import COLOUR

MAX_OUTPUTS = 200
#: What a line, and what an output, take in a notebook file besides their text: quotes, indentation, names.
_LINE_BYTES = 16
_OUTPUT_BYTES = 300
_MAX_NAME = 200
_MAX_LINE_COUNT = 200

#: What a notebook of the course can show; a script has no place in it.
_TEXT_TYPES = ("text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", "image/png", "image/jpeg")
_PICTURES = ("image/png", "image/jpeg")
MAX_ALT_CHARACTERS = 1000


def clean(value: Any, longest: int) -> str:
    """``value`` as text that any file can hold, at most ``longest`` characters of it."""
    text = value if isinstance(value, str) else "" if value is None else repr(value)[:longest]
    return text[:longest].encode("utf-8", "replace").decode()


def written_bytes(text: str) -> int:
    """What ``text`` takes in a notebook file: a control character is written as six, every line is indented."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) + _LINE_BYTES * len(text.splitlines())


@dataclass
class Allowance:
    """What a whole notebook may still show, in bytes as they are written. Shared by the outputs of its cells."""

    left: int


class Outputs:
    """The outputs of one cell, as nbformat wants them: at most ``most_bytes`` and :data:`MAX_OUTPUTS` of them.

    Bytes are counted as they are written. ``notebook``: what all cells together may still show.
    """

    def __init__(self, most_bytes: int, notebook: Allowance | None = None) -> None:
        self._notebook = notebook or Allowance(most_bytes)
        self._of_notebook = self._notebook.left < most_bytes
        self._left = self._most = max(0, min(most_bytes, self._notebook.left))
        self._nodes: list[NotebookNode] = []
        self._shown: dict[str, NotebookNode] = {}
        self._clear_at_next = self._finished = False
        self._omitted = ""

    def add(self, kind: str, content: dict[str, Any]) -> None:
        """Take in one message; a kind that shows nothing, or one out of shape, is passed over.

        So is everything after :meth:`finish`: a thread may go on printing while later cells run, and nobody reads it.
        """
        if self._finished:
            return
        if kind == "clear_output":
            self._clear_at_next = bool(content.get("wait"))
            if not self._clear_at_next:
                self._clear()
            return
        handler = {
            "stream": self._stream,
            "execute_result": self._display,
            "display_data": self._display,
            "update_display_data": self._update,
            "error": self._error,
        }.get(kind)
        if handler is not None:
            if self._clear_at_next:
                self._clear()
            handler(kind, content)

    def omit(self, what: str) -> None:
        self._omitted = self._omitted or what

    def finish(self) -> list[NotebookNode]:
        """The outputs as nodes of a notebook, which nothing changes any more."""
        if not self._finished:
            self._notebook.left -= self._most - self._left
        self._finished = True
        nodes = [_joined(node) if node["output_type"] == "stream" else node for node in self._nodes]
        if self._omitted:
            nodes.append(_node("stream", name="stderr", text=f"[{self._omitted}]\n"))
        return nodes

    def _clear(self) -> None:
        self._nodes.clear()
        self._shown.clear()
        self._left = self._most
        self._clear_at_next = False

    def _stream(self, kind: str, content: dict[str, Any]) -> None:
        name, text = content.get("name"), content.get("text")
        if name not in ("stdout", "stderr") or not isinstance(text, str):
            return
        text = self._afford(clean(text, self._most + 1))
        if not text:
            return
        last = self._nodes[-1] if self._nodes else None
        if last is not None and last["output_type"] == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self._append(_node("stream", name=name, text=[text]))

    def _display(self, kind: str, content: dict[str, Any]) -> None:
        data = self._bundle(content.get("data"))
        if data is None:
            return
        node = _node(kind, data=data, metadata=self._alt_texts(content.get("metadata"), data))
        if kind == "execute_result":
            count = content.get("execution_count")
            node["execution_count"] = count if type(count) is int and 0 <= count < 1 << 31 else None
        self._append(node)
        transient = content.get("transient")
        name = transient.get("display_id") if isinstance(transient, dict) else None
        if isinstance(name, str):
            self._shown[name[:_MAX_NAME]] = node

    def _update(self, kind: str, content: dict[str, Any]) -> None:
        """Replace what this cell showed; an earlier cell's outputs stay as they were when it ended."""
        transient = content.get("transient")
        name = transient.get("display_id") if isinstance(transient, dict) else None
        if isinstance(name, str) and name[:_MAX_NAME] in self._shown:
            node = self._shown[name[:_MAX_NAME]]
            self._left += sum(map(written_bytes, node["data"].values()))
            self._left += sum(written_bytes(told["alt"]) for told in node["metadata"].values())
            data = self._bundle(content.get("data"))
            node["data"] = NotebookNode() if data is None else data
            node["metadata"] = self._alt_texts(content.get("metadata"), node["data"])

    def _error(self, kind: str, content: dict[str, Any]) -> None:
        ename, evalue, lines = problem(content)
        if self._affordable(written_bytes(ename) + written_bytes(evalue)):
            lines = tuple(line for line in lines if self._affordable(written_bytes(line)))
            self._append(_node("error", ename=ename, evalue=evalue, traceback=list(lines)))

    def _bundle(self, data: Any) -> NotebookNode | None:
        if not isinstance(data, dict):
            return None
        kept = {kind: data[kind] for kind in _TEXT_TYPES if isinstance(data.get(kind), str)}
        if not kept or not self._affordable(sum(map(written_bytes, kept.values()))):
            return None
        return NotebookNode({kind: clean(text, self._most) for kind, text in kept.items()})

    def _alt_texts(self, metadata: Any, data: NotebookNode) -> NotebookNode:
        """What the pictures show in words, as far as there is room; nothing else of the metadata is kept."""
        kept = NotebookNode()
        for kind in _PICTURES:
            told = metadata.get(kind) if kind in data and isinstance(metadata, dict) else None
            if isinstance(told, dict) and isinstance(told.get("alt"), str):
                text = clean(told["alt"], MAX_ALT_CHARACTERS)
                if (size := written_bytes(text)) <= self._left:
                    self._left -= size
                    kept[kind] = NotebookNode(alt=text)
        return kept

    def _affordable(self, size: int) -> bool:
        if size > self._left:
            of_cell = f"a cell may show {self._most >> 10} kB"
            who = "the notebook has shown all that it may" if self._of_notebook else of_cell
            self.omit(f"the rest of the output was left out: {who}")
            return False
        self._left -= size
        return True

    def _afford(self, text: str) -> str:
        """As much of ``text`` as there is room for."""
        room = max(0, self._left)
        cut = text[:room]  # a character takes a byte or more
        while cut and written_bytes(cut) > room:
            cut = cut[: len(cut) // 2]
        if len(cut) < len(text):
            self._affordable(room + 1)
            self._left = 0
        else:
            self._left -= written_bytes(cut)
        return cut

    def _append(self, node: NotebookNode) -> None:
        if len(self._nodes) < MAX_OUTPUTS:
            self._left -= _OUTPUT_BYTES
            self._nodes.append(node)
        else:
            self.omit(f"the rest of the output was left out: a cell may have {MAX_OUTPUTS} outputs")


def problem(content: dict[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """Name, value and traceback of an error, as a message gives them, bounded."""
    lines = content.get("traceback")
    lines = lines if isinstance(lines, list) else []
    if len(lines) > _MAX_LINE_COUNT:
        lines = [*lines[: _MAX_LINE_COUNT // 2], "...", *lines[-_MAX_LINE_COUNT // 2 :]]
    trace = tuple(clean(line, 10_000) for line in lines)
    ename, evalue = clean(content.get("ename"), _MAX_NAME), clean(content.get("evalue"), 4000)
    if ename == "NoneType" and trace:  # ipykernel's word where the value of a cell could not be shown
        ename, _, evalue = COLOUR.sub("", trace[-1]).partition(": ")
    return ename, evalue, trace


def _joined(stream: NotebookNode) -> NotebookNode:
    """A stream's pieces as one text, in a node of its own."""
    return _node("stream", name=stream["name"], text="".join(stream["text"]))


def _node(kind: str, **fields: Any) -> NotebookNode:
    return NotebookNode(output_type=kind, **fields)
