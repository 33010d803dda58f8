"""Random mixtures of Markdown, HTML and formulas: what is called harmless renders to nothing but inert tags."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.pipeline.inert import TAGS
from autograder.pipeline.markdown import harmless_markdown

pytestmark = pytest.mark.slow

#: ␣ is a space and ␤ a line break.
PIECES = r"""
<script> </script> <img␣src=x␣onerror=alert(1)> <img␣src='x'␣onerror='alert(1)'> <b> </b> <!-- --> --!> <svg
/onload=1> ` `` ``` ```mermaid ␤ ␤␤ ␣␣␣␣ >␣ *␣ [ ]( javascript:alert(1)) ](javascript:alert(1)) ]:␣javascript:x [a]
<a␣href=' '> ' < javascript:x> $ $$ \begin{a} \end{a} \\[ \\] | |--|␤ <div <details> </details> <![CDATA[ ]]> <?php ?>
&lt; &#x3c; \< ~~~ #␣ <style> </style> <textarea> <pre> </pre> data:text/html,x a <iframe␣src=x> <p␤onclick=x> ![
attachment:x) 1.␣ :␣
"""


class Harm(HTMLParser):
    """Collects tags and attributes that are not inert."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[object] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS | {"input"}:  # Markdown's own check boxes
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or re.match(r"\s*(javascript|vbscript|data:text)", value or "", re.IGNORECASE):
                self.found.append((tag, name, value))

    def handle_comment(self, data: str) -> None:
        if "<" in data or ">" in data:
            self.found.append(data)


@pytest.mark.parametrize("seed", range(3))
def test_random_texts_render_to_nothing_that_runs(seed: int) -> None:
    pieces = [piece.replace("␣", " ").replace("␤", "\n") for piece in PIECES.split()]
    taste = random.Random(seed)
    for _ in range(600):
        text = "".join(taste.choice(pieces) for _ in range(taste.randint(1, 9)))
        harm = Harm()
        harm.feed(markdown2html_mistune(harmless_markdown(text)))
        harm.close()
        assert harm.found == [], text
