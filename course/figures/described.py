"""Alt texts: what a figure shows, in words, for those who cannot see it.

Jupyter saves the text beside the picture, as ``metadata["image/png"]["alt"]`` of the output. nbconvert's pages and the
course's feedback show it from there.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from course.figures.arrays import Array

#: A shorter text says nothing.
MIN_CHARACTERS = 20
#: One panel with more tokens than these is told by what its queries have in common.
MAX_LISTED = 20


def described(figure: Figure, text: str) -> Figure:
    """The figure, which from now on is shown with this alt text. Raises ValueError where the text is too short."""
    text = " ".join(text.split())
    if len(text) < MIN_CHARACTERS:
        raise ValueError(
            f"An alt text has {MIN_CHARACTERS} characters or more and says what one sees, but this is {text!r}."
        )
    figure._repr_mimebundle_ = partial(_metadata, text)  # type: ignore[attr-defined]
    return figure


def alt_text(figure: Figure) -> str:
    """The figure's alt text; empty where it has none."""
    bundle = getattr(figure, "_repr_mimebundle_", None)
    return bundle()[1]["image/png"]["alt"] if bundle else ""


def _metadata(text: str, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What IPython asks for: no picture, which its own formatter draws, but the words that go with it."""
    return {}, {"image/png": {"alt": text}}


def listed(names: Iterable[object]) -> str:
    """``a, b and c``"""
    *most, last = (str(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def number(value: float) -> str:
    """Three digits, without an exponent where people would write none."""
    value = float(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def curves_text(curves: Mapping[str, tuple[Any, Any]], xlabel: str, ylabel: str) -> str:
    """What a line chart shows. curves: name -> x and y, in the order of x"""
    told = []
    curves = {name: (x, y) for name, (x, y) in curves.items() if len(y)}
    if not curves:
        return f"An empty line chart of {ylabel} over {xlabel}."
    for name, (_, y) in curves.items():
        low, high = number(min(y)), number(max(y))
        told.append(f"“{name}” begins at {number(y[0])}, ends at {number(y[-1])} and lies between {low} and {high}")
    ends = [value for x, _ in curves.values() for value in (x[0], x[-1])]
    across = f"{xlabel} from {number(min(ends))} to {number(max(ends))}"
    return f"A line chart; across {across}, upwards {ylabel}. {'; '.join(told)}."


def attention_text(panels: Array, tokens: Sequence[str], titles: Sequence[str]) -> str:
    """What heat maps of attention weights show: where the largest weight of each query lies.

    panels: (panels, queries, keys)
    """
    strongest = panels.argmax(axis=2)  # (panels, queries)
    if len(panels) == 1 and len(tokens) <= MAX_LISTED:
        pairs = (f"“{token}” to “{tokens[key]}”" for token, key in zip(tokens, strongest[0], strict=True))
        return f"Attention weights of {titles[0]}. Largest weight of each query: {', '.join(pairs)}."
    found = "; ".join(f"{title}: {_mostly(keys, tokens)}" for title, keys in zip(titles, strongest, strict=True))
    what = "Heat map" if len(panels) == 1 else f"{len(panels)} heat maps"
    return (
        f"{what} of attention weights, with {len(tokens)} queries down and as many keys across. "
        f"Where the largest weights lie: {found}."
    )


def _mostly(keys: np.ndarray[Any, Any], tokens: Sequence[str]) -> str:
    """The commonest place of the largest weight. keys: the key of it, for each query"""
    places = np.arange(len(keys))
    counts = {words: int((keys - places == step).sum()) for step, words in (
        (0, "the token itself"), (-1, "the token before"), (1, "the token after"))}  # fmt: skip
    for key in dict.fromkeys(keys.tolist()):
        counts[f"“{tokens[key]}” (position {key})"] = int((keys == key).sum())
    place, count = max(counts.items(), key=lambda item: item[1])
    if 4 * count < len(keys):
        return f"no place for more than {count} of {len(keys)}"
    return f"{place} for {count} of {len(keys)}"
