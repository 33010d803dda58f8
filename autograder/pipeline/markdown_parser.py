"""What nbconvert's own Markdown parser makes of a text: whether all of it is inert."""

from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath

from autograder.pipeline.inert import is_inert, is_safe_url


def is_inert_markdown(source: str, pictures: frozenset[str] = frozenset()) -> bool:
    """Whether the parser finds only inert HTML, links and images in the text; False where it gives up.

    pictures: names of the cell's attachments.
    """
    watch = _Watch(pictures)
    try:
        MarkdownWithMath(renderer=watch).render(source)
    except (InvalidNotebook, RecursionError, ValueError):
        return False
    return not watch.harm


class _Watch(IPythonRenderer):
    """nbconvert's renderer, noting whatever it would pass through that is not inert."""

    def __init__(self, pictures: frozenset[str]) -> None:
        super().__init__(escape=False)
        self.harm = False
        self._pictures = pictures

    def block_html(self, html: str) -> str:
        self.harm |= not is_inert(html)
        return ""

    inline_html = block_html

    def link(self, text: str, url: str, title: str | None = None) -> str:
        self.harm |= not is_safe_url(url)
        return text

    def image(self, text: str, url: str, title: str | None = None) -> str:
        # an attachment that is not there makes nbconvert give up on the whole page
        missing = url.startswith("attachment:") and url.removeprefix("attachment:") not in self._pictures
        self.harm |= not is_safe_url(url) or missing
        return text

    def block_mermaidjs(self, code: str) -> str:
        self.harm = True  # nbconvert writes it out unescaped
        return ""
