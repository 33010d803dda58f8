"""Links of a repository's Markdown, as they lead from a page of its site."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

_CODE = re.compile(r"(?ms)(^[ \t]*(?P<fence>```+|~~~+).*?^[ \t]*(?P=fence)|`[^`\n]*`)")
#: A picture from elsewhere, such as a badge: a page that needs no network shows its words.
_FAR_PICTURE = re.compile(r"!\[([^\]]*)\]\(https?://[^)\s]+(?:\s+[\"'][^\"']*[\"'])?\)")
#: A tag that loads something from elsewhere; of a page that needs no network it is a link.
_LOADS = re.compile(
    r"<(?:img|iframe|video|audio|embed)\b[^>]*?\bsrc\s*=\s*[\"']((?:https?:)?//[^\"']+)[\"'][^>]*>", re.I
)
_SCRIPT = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<link\b[^>]*>", re.IGNORECASE | re.DOTALL)
_ALT = re.compile(r"\b(?:alt|title)\s*=\s*[\"']([^\"']+)")
_NAMED = re.compile(r"\b(?:id|name)\s*=\s*[\"']([^\"']+)")
_LINK = re.compile(
    r"(\]\(\s*<?|\b(?:src|href)\s*=\s*[\"']|(?m:^) {0,3}\[[^^\]][^\]]*\]:\s*<?)"  # [a](b), src="b", [a]: b
    r"((?:[^()\s>\"']|\([^()\s]*\))+)"
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


@dataclass(frozen=True)
class Links:
    """``pages``: path in the repository -> path in the site's source, of pages and pictures.

    address: of the repository on the forge. anchors: the ids that somebody wrote into a text; all others are made of
    headings.
    """

    folder: Path
    pages: dict[str, str]
    address: str
    anchors: Collection[str] = field(default=())

    def rewritten(self, text: str, file: str) -> str:
        """The text of the repository's file ``file``. Links out of the site lead to the repository on the forge."""

        def led(part: str) -> str:
            plain = _LOADS.sub(_led_to, _SCRIPT.sub("", _FAR_PICTURE.sub(r"\1", part)))
            return _LINK.sub(lambda found: found[1] + self._target(found[2], file), plain)

        return outside_code(text, led)

    def _target(self, link: str, file: str) -> str:
        path, mark, anchor = link.partition("#")
        if _ELSEWHERE.match(link) and not link.startswith("#"):
            return link
        target = os.path.normpath(PurePosixPath(file).parent / unquote(path)) if path else file
        here = PurePosixPath(self.pages.get(file, file)).parent
        if (page := self.pages.get(target)) is not None:
            return (quote(os.path.relpath(page, here)) if path else "") + mark + self._anchor(anchor)
        kind = "tree" if (self.folder / target).is_dir() else "blob"
        return f"{self.address}/{kind}/main/{quote(target)}{mark}{anchor}"

    def _anchor(self, anchor: str) -> str:
        """The id that the site makes of a heading. Jupyter keeps capital letters and signs, Colab names the cell."""
        name = unquote(anchor)
        if name in self.anchors or not name:
            return anchor
        return re.sub(r"[^\w-]", "", name.strip().lower().replace(" ", "-"))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with everything changed that is not code."""
    parts = _CODE.split(text)  # for each piece of code, the piece and its fence
    parts[::3] = map(change, parts[::3])
    return "".join(part for at, part in enumerate(parts) if at % 3 != 2)


def without_code(text: str) -> str:
    return _CODE.sub("", text)


def named(text: str) -> set[str]:
    """The ids that somebody wrote into a text."""
    return set(_NAMED.findall(without_code(text)))


def _led_to(tag: re.Match[str]) -> str:
    words = _ALT.search(tag[0])
    return f'<a href="{tag[1]}">{words[1] if words else html.escape(tag[1])}</a>'
