"""Pictures that a student pasted into the text of a cell, which Jupyter keeps as attachments of the cell.

Only pictures stay, and a page shows them within ``<img>`` alone, where an SVG runs no script and loads nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from urllib.parse import quote

#: mime type -> (ending, how the data begins); an SVG has no such beginning.
KINDS = {
    "image/png": ("png", b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": ("jpg", b"\xff\xd8\xff"),
    "image/gif": ("gif", b"GIF8"),
    "image/webp": ("webp", b"RIFF"),
    "image/svg+xml": ("svg", b""),
}
_IMG_TAG = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*["']?(attachment:[^"'\s<>]+)["']?[^<>]*>""", re.IGNORECASE)
_MISSING = re.compile(r"!\[[^\[\]\n]*\]\(\s*<?attachment:[^()\n]*\)")
NOT_KEPT = "*[A picture that could not be kept stood here.]*"


def picture(kind: str, text: str) -> str | None:
    """The picture in base64 without line breaks; None where it is no picture of this kind."""
    begins = KINDS[kind][1]
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        data = b"" if begins else text.encode("utf-8", "replace")  # tools write an SVG as it is, too
    if not data or not data.startswith(begins) or (kind == "image/svg+xml" and b"<svg" not in data[:4000].lower()):
        return None
    return base64.b64encode(data).decode()


def with_pictures(source: str, attachments: Mapping[str, Mapping[str, str]]) -> tuple[str, dict[str, dict[str, str]]]:
    """(text, attachments) of a cell: the pictures that the text shows, under plain names, and a word for all others."""
    if "attachment:" not in source:
        return source, {}
    kept: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    for number, (name, bundle) in enumerate(attachments.items()):
        found = ((kind, data) for kind in KINDS if kind in bundle and (data := picture(kind, bundle[kind])))
        if (first := next(found, None)) is not None:
            key = f"picture-{number}.{KINDS[first[0]][0]}"
            kept[key] = {first[0]: first[1]}
            names |= dict.fromkeys((name, quote(name), quote(name, safe="")), key)
    source = _IMG_TAG.sub(r"![picture](\1)", source)
    if names:
        either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        source = re.sub(rf"<attachment:({either})>|attachment:({either})",
                        lambda found: f"attachment:{names[found[1] or found[2]]}", source)  # fmt: skip
    shown = {key: bundle for key, bundle in kept.items() if f"attachment:{key}" in source}
    return _MISSING.sub(lambda found: found[0] if any(f"(attachment:{key}" in found[0] for key in shown) else NOT_KEPT,
                        source), shown  # fmt: skip
