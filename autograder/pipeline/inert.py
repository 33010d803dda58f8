"""HTML and links that neither run, load nor restyle anything, judged by allow-lists."""

import html
import re

import nh3

#: Structure and emphasis. No forms, no frames, no SVG or MathML, nothing that loads or runs.
TAGS = nh3.ALLOWED_TAGS - {"area", "map", "nav", "header", "footer", "article", "aside"} | {"tfoot"}
IMAGE_URL = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")
_TAG = re.compile(r"""</?([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-z-]+(?:="[^"<>`]*"|='[^'<>`]*')?)*)\s*/?>""")
_ATTRIBUTE = re.compile(r"""([a-z-]+)(?:=(?:"([^"]*)"|'([^']*)'))?""")
_INERT_ATTRIBUTES = {
    "class", "id", "title", "alt", "width", "height", "align", "open", "start", "colspan", "rowspan", "dir", "target",
    "rel", "border", "name",
}  # fmt: skip


def is_inert(text: str) -> bool:
    """True where every ``<`` opens a plain, complete, allowed tag or is no tag at all."""
    # browsers end a comment earlier than Markdown does (``--!>``), so one that holds a bracket is none here
    text = re.sub(r"<!--[^<>]*-->", "", text)
    position = 0
    while (position := text.find("<", position)) >= 0:
        if not re.match(r"[a-zA-Z/!?]", text[position + 1 : position + 2]):
            position += 1
            continue
        tag = _TAG.match(text, position)
        if not tag or tag[1].lower() not in TAGS or not _inert_attributes(tag[2]):
            return False
        position = tag.end()
    return True


def _inert_attributes(text: str) -> bool:
    for name, double, single in _ATTRIBUTE.findall(text):
        value = html.unescape(double or single)
        if name in ("href", "src"):
            if not is_safe_url(value):
                return False
        elif name == "style":
            if not re.fullmatch(r"[\w\s#%.,;:()-]*", value) or re.search(r"url|position", value, re.IGNORECASE):
                return False
        elif name not in _INERT_ATTRIBUTES:
            return False
    return True


def is_safe_url(url: str) -> bool:
    """A web address, a mail address, an inline picture or a relative path; read as a browser reads it."""
    plain = re.sub(r"[\x00-\x20]", "", html.unescape(html.unescape(url)))
    scheme = re.match(r"([^/?#]*?):", plain)
    if scheme is None:
        return True
    return scheme[1].lower() in ("http", "https", "mailto", "attachment") or bool(IMAGE_URL.match(plain))
