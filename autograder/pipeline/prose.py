"""What students write in cells of code that is not executed: sentences, and code that is switched off."""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from autograder.plain.names import parse

#: A text has at least so many words; a comment that stands directly above code explains it, unless it is longer.
_MIN_WORDS, _MIN_WORDS_ABOVE_CODE = 5, 15
_WORD = re.compile(r"[^\W\d_]{2,}")
#: Languages without blanks between words; three signs count as one word.
_SIGN = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"(?:[^\W\d_]+['’]?[,;:.]?[ \t]+){4,}[^\W\d_]+")
#: Cell magics whose text the notebook's own Python executes; with all others nothing of a cell is.
_EXECUTED = frozenset({"time", "timeit", "capture", "prun", "pypy", "debug"})
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")


def is_prose(source: str) -> bool:
    """Whether a code cell does nothing: comments, texts, or no Python at all. A written answer may stand in it."""
    try:
        body = parse(source).body
    except SyntaxError:
        return True
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)


def texts_in(source: str, released: str = "") -> list[str]:
    """The sentences in a code cell that stand for themselves: they may be a written answer.

    A comment directly above code explains that code and does not count, nor does what the released cell says already.
    """
    try:
        body = parse(source).body
    except SyntaxError:
        lines = [line for line in source.split("\n") if _SENTENCE.search(line) and not _is_python(line)]
        found = ["\n".join(line for line in lines if not line.lstrip().startswith("#"))]
    else:
        found = [text for node in body for text in _strings(node)]
    known = {line.strip() for line in released.split("\n")}
    texts = ["\n".join(line for line in text.split("\n") if line.strip() not in known) for text in found]
    texts = [text for text in texts if _words(text) >= _MIN_WORDS and text.strip() not in released]
    return texts + list(_comments(source.split("\n"), known))


def switched_off(source: str) -> str:
    """Everything in a code cell that is not executed: comments, texts, and what stands below a magic such as %%html."""
    magic = _CELL_MAGIC.match(source)
    if magic and magic[1] not in _EXECUTED:
        return source
    comments = [line.lstrip()[1:] for line in source.split("\n") if line.lstrip().startswith("#")]
    try:
        nodes = list(ast.walk(parse(source)))
    except SyntaxError:
        nodes = []
    strings = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return "\n".join([*comments, *strings])


def _strings(node: ast.stmt) -> Iterator[str]:
    """A text that is a statement, gets a name, or is printed."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) else None
    is_print = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"
    for part in value.args if is_print and isinstance(value, ast.Call) else [value]:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.JoinedStr):
            constants = (one.value for one in part.values if isinstance(one, ast.Constant))
            yield " ".join(text for text in constants if isinstance(text, str))


def _comments(lines: list[str], known: set[str]) -> Iterator[str]:
    block: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        if text.startswith("#"):
            comment = text.lstrip("# ")
            if text not in known and not _is_python(comment):
                block.append(comment)
            continue
        if _words("\n".join(block)) >= (_MIN_WORDS_ABOVE_CODE if text else _MIN_WORDS):
            yield "\n".join(block)
        block = []


def _is_python(line: str) -> bool:
    """Whether a line is code, such as one that was switched off; the head of a loop or a function is, too."""
    for text in (line, f"{line} pass"):
        with suppress(SyntaxError):
            parse(text.strip())
            return True
    return False


def _words(text: str) -> int:
    return len(_WORD.findall(_SIGN.sub(" ", text))) + len(_SIGN.findall(text)) // 3
