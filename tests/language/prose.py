"""The prose of notebooks and guides: Markdown without code, links, mathematics and tables' rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

import nbformat

from tests.grading import ROOT

#: What is no prose, in the order in which it is taken out.
NO_PROSE = re.compile(
    r"```.*?```"  # listings
    r"|`[^`]*`"  # names
    r"|\$\$.*?\$\$|\$[^$\n]+\$"  # formulas
    r"|=== (?:BEGIN|END) MARK SCHEME ==="
    r"|!?\[[^\]]*\]\(https?://[^)]*\)|https?://\S+"  # links out, with their titles
    r"|<[^>]+>|^\|[-:| ]+\|$"  # tags, rules of tables
    r"|\[(?:CLS|SEP|MASK|PAD)\]",
    re.DOTALL | re.MULTILINE,
)


def prose(text: str) -> str:
    """Markdown -> what a person reads as sentences."""
    return re.sub(r"\]\([^)]*\)", "]", NO_PROSE.sub(" ", text))


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and list items; no headings, no tables."""
    for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", prose(text)):
        if not block.lstrip().startswith(("#", "|", ">")):
            yield " ".join(re.sub(r"[*_]", "", block).split())


def sentences(text: str) -> Iterator[str]:
    """Sentences of three words and more."""
    for paragraph in paragraphs(text):
        for sentence in re.split(r"(?<=[.!?:])[\"”)]*\s+", paragraph):
            if len(sentence.split()) >= 3:
                yield sentence


def notebooks() -> dict[str, str]:
    """Name -> the text of all Markdown cells."""
    texts = {}
    for path in sorted((ROOT / "source").glob("*/*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        name = path.relative_to(ROOT / "source").as_posix()
        texts[name] = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return texts


#: Guides that were read for their language. Add a guide here when it was.
GUIDES = ("roadmap", "from-nbgrader", "from-otter", "plain-tests", "verdicts", "writing-exercises")


def guides() -> dict[str, str]:
    """Name -> text of guides."""
    return {f"docs/{name}.md": (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in GUIDES}
