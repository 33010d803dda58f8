"""The prose of notebooks and guides: Markdown without code, links, mathematics and tables' rules."""

import ast
import io
import re
import tokenize
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


def what_students_get() -> dict[str, list[nbformat.NotebookNode]]:
    """Name -> all cells but model answers to written questions."""
    return {
        path.relative_to(ROOT / "source").as_posix(): [
            cell
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code" or not cell.metadata.get("nbgrader", {}).get("solution")
        ]
        for path in sorted((ROOT / "source").glob("*/*.ipynb"))
    }


#: Guides that were read for their language. Add a guide here when it was.
GUIDES = ("roadmap", "from-nbgrader", "from-otter", "plain-tests", "verdicts", "writing-exercises")


def guides() -> dict[str, str]:
    """Name -> text of guides."""
    return {f"docs/{name}.md": (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in GUIDES}


def in_code(source: str) -> str:
    """What people read in Python: comments, and texts of two words and more (docstrings, messages), one per line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    nodes = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return "\n\n".join([*found, *(text for text in nodes if isinstance(text, str) and " " in text.strip())])


def given_code() -> dict[str, str]:
    """Name -> the comments and texts in the code cells of a notebook, without its solutions and hidden tests."""
    hidden = re.compile(r"(?s)### BEGIN (SOLUTION|HIDDEN TESTS).*?### END \1")
    texts = {}
    for path in sorted((ROOT / "source").glob("*/*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        sources = [hidden.sub("pass", cell.source) for cell in cells if cell.cell_type == "code"]
        name = path.relative_to(ROOT / "source").as_posix()
        texts[f"{name}, code"] = "\n\n".join(in_code(re.sub(r"(?m)^[%!].*$", "", source)) for source in sources)
    return texts


def messages() -> dict[str, str]:
    """Name -> the texts of a module from which checks, figures and feedback speak, and of what students fill in."""
    folders = (ROOT / "course", ROOT / "exercises", ROOT / "source", ROOT / "autograder" / "exercise")
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): in_code(path.read_text(encoding="utf-8")) for path in paths}
