"""Submissions that make much out of little: outputs that grow when they are written, texts that take long to read.

Each is the solved notebook with cells behind it; ``code`` and ``markdown`` are those cells' texts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Flood:
    id: str
    code: tuple[str, ...] = ()
    markdown: tuple[str, ...] = ()

    def submission(self, honest: bytes) -> bytes:
        notebook = json.loads(honest)
        for kind, texts in (("code", self.code), ("markdown", self.markdown)):
            for number, text in enumerate(texts):
                cell = {"cell_type": kind, "id": f"{kind}{number}", "metadata": {}, "source": text}
                notebook["cells"].append(cell | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
        return json.dumps(notebook).encode()


def _show(kind: str, text: str) -> str:
    return f"from IPython.display import display\ndisplay({{'{kind}': {text}}}, raw=True)"


FLOODS = [
    Flood("control characters", tuple(f"print('\\x01' * {1 << 20})  # {n}" for n in range(14))),
    Flood("empty lines in outputs", tuple(f"print('\\n' * {1 << 20})  # {n}" for n in range(12))),
    Flood("long errors", tuple(f"raise ValueError('\\x01' * 200_000)  # {n}" for n in range(10))),
    Flood("drawings", tuple("figures.attention_block()" + " " * n for n in range(150))),
    Flood("HTML outputs", tuple(_show("text/html", f"'<p>&' * 100_000 + '{n}'") for n in range(10))),
    Flood("formulas in an output", tuple(_show("text/markdown", f"'\\\\\\\\[' * 20_000 + '{n}'") for n in range(3))),
    Flood("blanks", markdown=(" " * 60_000 + "[x]", "<" + " " * 60_000)),
    Flood("dots", code=("if 0: x = " + ".".join("a" * 5_000),)),
    Flood("empty lines", code=("x = 1" + "\n" * 30_000 + "y = 2",)),
]
