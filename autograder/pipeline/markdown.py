"""Markdown that a submission holds, made fit for any page: shown as it is where it is inert and quick, else as text."""

import re
from collections import Counter
from functools import lru_cache

#: Longer Markdown is shown as text: parsers of Markdown take a time that grows with the square of some texts' lengths.
MAX_MARKDOWN = 20_000
_MAX_REMEMBERED = 4_000  # characters: so many texts of at most this length take a few MB
#: What no text that is written by hand has, and what those parsers and those of code take longest for.
_MAX_FORMULAS, _MAX_GAP, _MAX_CODE_LINE = 300, 200, 1000
_GAP = re.compile(rf"\s{{{_MAX_GAP},}}")
_FORMULA_BEGINS = re.compile(r"\\\\[\[(]|\\begin|\$\$")
#: HTML with more tags, or deeper, than a table needs: every page that shows it would be slow, or very large.
_MAX_TAGS, _MAX_OPEN, _MAX_STYLED_TAGS = 10_000, 100, 50_000
_ANY_TAG = re.compile(r"<(/?)([a-zA-Z]+)")
_STYLED = re.compile(r"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/]", re.IGNORECASE)
#: Tags that nobody has to close.
_NEVER_OPEN = {
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
}  # fmt: skip


LEFT_OUT = "[An output that a page cannot show safely stood here.]"
SHOWN_AS_TEXT = "*(Shown as plain text: it holds HTML or links that are not run here, or is very long.)*"
_FENCED = f"{SHOWN_AS_TEXT}\n\n"


def short_lines(source: str) -> str:
    """Code or text as a page shows it: very long lines and gaps are cut, which only machines write."""
    if len(source) <= _MAX_CODE_LINE and not _GAP.search(source):
        return source
    lines = "\n".join(line if len(line) <= _MAX_CODE_LINE else _cut(line) for line in source.split("\n"))
    return _GAP.sub(lambda gap: "\n\n" if "\n" in gap[0] else "  ", lines)


def _cut(line: str) -> str:
    said = f" # [cut: this line has {len(line)} characters]"
    return line[: _MAX_CODE_LINE - len(said)] + said


def harmless_markdown(source: str, pictures: frozenset[str] = frozenset()) -> str:
    """The text itself where its rendering is inert and quick, else the same text as a block of code.

    pictures: names of the cell's attachments.
    """
    return source if is_harmless_markdown(source, pictures) else as_text(source)


def as_text(source: str) -> str:
    """The text as a block of code, which every parser takes as it stands."""
    source = short_lines(source)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
    fenced = f"{_FENCED}{fence}\n{source}\n{fence}\n"
    return fenced if _is_fenced(fenced) and _is_inert_markdown(fenced) else LEFT_OUT


def _is_fenced(text: str) -> bool:
    """Whether this is what :func:`as_text` makes; such a text is quick to read, however long."""
    body = text.removeprefix(_FENCED)
    fence = body[: len(body) - len(body.lstrip("`"))]
    begin, end = f"{fence}\n", f"\n{fence}\n"
    inside = body[len(begin) : -len(end)]
    whole = text.startswith(_FENCED) and body.startswith(begin) and body.endswith(end)
    return whole and 3 <= len(fence) <= 100 and fence not in inside and short_lines(inside) == inside


def is_harmless_markdown(source: str, pictures: frozenset[str] = frozenset()) -> bool:
    """Whether nbconvert's own Markdown parser finds only inert HTML, links and images in the text, and soon."""
    # the instructor's texts are in every submission; what is longer would take memory for nothing
    return (_is_remembered if len(source) <= _MAX_REMEMBERED else _is_harmless)(source, pictures)


@lru_cache(maxsize=512)
def _is_remembered(source: str, pictures: frozenset[str]) -> bool:
    return _is_harmless(source, pictures)


def _is_harmless(source: str, pictures: frozenset[str]) -> bool:
    if not _is_fenced(source) and (
        len(source) > MAX_MARKDOWN
        or _GAP.search(source)
        or len(_FORMULA_BEGINS.findall(source)) > _MAX_FORMULAS
        or is_tangled(source)
    ):
        return False
    return not re.search(r"[<\[]|mermaid", source) or _is_inert_markdown(source, pictures)


def _is_inert_markdown(source: str, pictures: frozenset[str] = frozenset()) -> bool:
    # nbconvert takes a third of a second to import, and few texts need its parser
    from autograder.pipeline.markdown_parser import is_inert_markdown

    return is_inert_markdown(source, pictures)


def is_tangled(text: str) -> bool:
    """Whether HTML has so many tags, or so deep, that parsing it takes very long or makes very much of it.

    A tag of style that stays open, ``<b title=1>``, is repeated in every paragraph that follows.
    """
    tags = sum(1 for _ in _ANY_TAG.finditer(text))
    if tags > _MAX_TAGS or len(_STYLED.findall(text)) * tags > _MAX_STYLED_TAGS:
        return True
    still_open: Counter[str] = Counter()
    deep = 0
    for tag in _ANY_TAG.finditer(text):
        name, step = tag[2].lower(), -1 if tag[1] else 1
        if name not in _NEVER_OPEN and still_open[name] + step >= 0:
            still_open[name] += step
            deep += step
            if deep > _MAX_OPEN:
                return True
    return False
