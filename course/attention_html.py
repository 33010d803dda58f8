"""bertviz's interactive head view and model view, drawn without the network.

bertviz's page fetches require.js, jQuery and D3 from the internet. Here jQuery (from the package XStatic-jQuery)
and D3 (from mpld3) are put into the page itself, and a few lines stand for require.js; so a view also works in an
exam room, and in a saved notebook years from now.

The three packages are installed without what they require (``pip install --no-deps``): bertviz asks for an AWS client,
for a view that the course does not use. On Colab the first view fetches them.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from course.colab import on_colab
from course.errors import CourseError, MissingPackage

if TYPE_CHECKING:
    from IPython.display import HTML
    from torch import Tensor

    # One tensor (1, heads, tokens, tokens) per layer, in a list, or in a dictionary from layer to tensor.
    Attention = Mapping[int, Tensor] | Sequence[Tensor]

PACKAGES = {"bertviz": "bertviz", "mpld3": "mpld3", "xstatic.pkg.jquery": "XStatic-jQuery"}

# Both libraries hand themselves to ``module``/``exports`` where these exist, and then leave the page's globals alone.
_PAGE = """<div role="group" aria-label="{label}">
{body}
</div>
<script type="text/javascript">
(function () {{
const jquery = {{exports: {{}}}}, d3 = {{exports: {{}}}};
(function (module, exports) {{ {jquery} }})(jquery, jquery.exports);
(function (module, exports) {{ {d3} }})(d3, d3.exports);
const require = {{config: function () {{}}}};
const requirejs = function (names, start) {{ start(jquery.exports, d3.exports); }};
{view}
}})();
</script>
"""


def head_view(
    attention: Attention,
    tokens: Sequence[str],
    layer: int = 0,
    heads: Sequence[int] | None = None,
    sentence_b_start: int | None = None,
) -> HTML:
    """Lines from each query (left) to the keys it attends to (right), one colour per head.

    attention: one tensor (1, heads, tokens, tokens) per layer, as a list or a dictionary
    tokens: the tokens as text, one per position
    layer, heads: what to show first; all heads if not given
    sentence_b_start: position of the second sentence's first token, where there are two

    Raises MissingPackage where bertviz is not installed and cannot be fetched, CourseError where the shapes do not fit.
    """
    _need_packages()
    import bertviz

    layers, words = _checked(attention, tokens)
    page = bertviz.head_view(
        layers, words, sentence_b_start, layer=layer, heads=None if heads is None else list(heads), html_action="return"
    )
    label = f"Head view of attention, layer {layer} at first: lines from each token on the left to those on the right."
    return _offline(page, label)


def model_view(attention: Attention, tokens: Sequence[str], sentence_b_start: int | None = None) -> HTML:
    """All layers (rows) and heads (columns) at a glance; a click opens one. Arguments as for ``head_view``."""
    _need_packages()
    import bertviz

    layers, words = _checked(attention, tokens)
    page = bertviz.model_view(layers, words, sentence_b_start, display_mode="light", html_action="return")
    heads = layers[0].shape[1]
    label = f"Model view of attention: {len(layers)} rows of layers, {heads} heads in each; a click opens a head."
    return _offline(page, label)


def _need_packages() -> None:
    missing = _missing()
    if missing and on_colab():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *missing])
        importlib.invalidate_caches()
        missing = _missing()
    if missing:
        raise MissingPackage(
            f"The interactive views need {' and '.join(missing)}: pip install --no-deps {' '.join(missing)}. "
            f"figures.attention_heatmaps shows the same numbers without."
        )


def _missing() -> list[str]:
    return [package for module, package in PACKAGES.items() if not _installed(module)]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is not there either
        return False


def _checked(attention: Attention, tokens: Sequence[str]) -> tuple[list[Tensor], list[str]]:
    layers = [attention[i] for i in sorted(attention)] if isinstance(attention, Mapping) else list(attention)
    words = [str(token) for token in tokens]
    if not layers:
        raise CourseError("There is no attention to draw: expected one tensor per layer, came none.")
    for index, weights in enumerate(layers):
        shape = tuple(weights.shape)
        if len(shape) != 4 or shape[0] != 1 or shape[2:] != (len(words), len(words)):
            raise CourseError(
                f"Layer {index}: the attention must have shape (1, heads, {len(words)}, {len(words)}), one sentence "
                f"of {len(words)} tokens, but has {shape}."
            )
    return [weights.detach().float().cpu() for weights in layers], words


def _offline(page: HTML, label: str) -> HTML:
    """The same page with every script in it, in place of links to them. label: what a screen reader calls the view"""
    from IPython.display import HTML

    match = re.fullmatch(
        r'\s*<script src="[^"]*require[^"]*"></script>(?P<body>.*?)'
        r'<script type="text/javascript">(?P<view>.*)</script>\s*',
        page.data,
        flags=re.DOTALL,
    )
    if match is None:
        raise CourseError("bertviz's page looks different from what the course knows; version 1.4.1 is known to work.")
    # A token that reads "</script>" must not end the script.
    view = match["view"].replace("</", "<\\/")
    return HTML(
        _PAGE.format(label=escape(label), body=match["body"], view=view, jquery=_source("jquery"), d3=_source("d3"))
    )


def _source(library: str) -> str:
    module, path = {"jquery": ("xstatic.pkg.jquery", "data/jquery.min.js"), "d3": ("mpld3", "js/d3.v5.min.js")}[library]
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    return (Path(spec.origin).parent / path).read_text(encoding="utf-8")
