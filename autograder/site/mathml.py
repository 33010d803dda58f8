"""A Sphinx extension: formulas become MathML, which browsers show without scripts, fonts or network."""

import html
from typing import Any

from latex2mathml.converter import convert


def mathml(latex: str, *, block: bool) -> str:
    """The formula; its text where the converter cannot read it."""
    try:
        return str(convert(latex, display="block" if block else "inline"))
    except Exception:  # a page has many formulas: one that is wrong is shown as it was written
        return f"<code>{html.escape(latex)}</code>"


def _inline(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    translator.body.append(mathml(node.astext(), block=False))
    raise SkipNode


def _block(translator: Any, node: Any) -> None:
    from docutils.nodes import SkipNode

    translator.body.append(f'<div class="math" tabindex="0">{mathml(node.astext(), block=True)}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
