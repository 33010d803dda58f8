"""Links of a repository's Markdown, as they lead from a page of its site."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_CODE = re.compile(r"(?ms)(^[ \t]*(?P<fence>```+|~~~+).*?^[ \t]*(?P=fence)|`[^`\n]*`)")
#: A picture from elsewhere, such as a badge: a page that needs no network shows its words.
_FAR_PICTURE = re.compile(r"!\[([^\]]*)\]\(https?://[^)\s]+\)")
_LINK = re.compile(r"(\]\(\s*<?|\b(?:src|href)\s*=\s*[\"'])([^)\s>\"']+)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


@dataclass(frozen=True)
class Links:
    """``pages``: path in the repository -> path in the site's source; ``files``: what lies in the site as it is.

    address: of the repository on the forge.
    """

    folder: Path
    pages: dict[str, str]
    files: Collection[str]
    address: str

    def rewritten(self, text: str, file: str) -> str:
        """The text of the repository's file ``file``. Links out of the site lead to the repository on the forge."""
        parts = _CODE.split(text)
        # split gives, for each piece of code, the piece and its fence
        for at in range(0, len(parts), 3):
            plain = _FAR_PICTURE.sub(r"\1", parts[at])
            parts[at] = _LINK.sub(lambda found: found[1] + self._target(found[2], file), plain)
        return "".join(part for at, part in enumerate(parts) if at % 3 != 2)

    def _target(self, link: str, file: str) -> str:
        path, mark, anchor = link.partition("#")
        if _ELSEWHERE.match(link) or not path:
            return link
        target = os.path.normpath(PurePosixPath(file).parent / path)
        here = PurePosixPath(self.pages.get(file, file)).parent
        if (page := self.pages.get(target)) is not None or target in self.files:
            return os.path.relpath(page or target, here) + mark + anchor
        kind = "tree" if (self.folder / target).is_dir() else "blob"
        return f"{self.address}/{kind}/main/{target}{mark}{anchor}"
