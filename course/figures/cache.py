"""The drawings of the decoder's notebook on the cache: what is kept at each step, and how long a step takes."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from course.figures.canvas import Canvas
from course.figures.described import curves_text, described
from course.figures.tutorial_plots import BLUE, ORANGE, plain, subplots

ACROSS, UPWARDS = "tokens so far", "ms for one more token"


def growing_cache(words: Sequence[str] = ("mia", "has", "a", "red", "ball"), prompt: int = 3) -> Figure:
    """One row for the prompt and one for each step: what is computed, and what the cache holds already."""
    steps = len(words) - prompt + 1
    canvas = Canvas(7.5, 0.9 + 0.62 * steps)
    top = 0.62 * steps + 0.5
    for column, word in enumerate(words):
        canvas.label(1.9 + 1.1 * column, top + 0.15, word, size=9.5)
    for step in range(steps):
        y, known = top - 0.3 - 0.62 * step, prompt + step
        canvas.label(0.1, y, "prompt" if step == 0 else f"step {step}", align="left", size=9.5)
        for column in range(known):
            new = step == 0 or column == known - 1
            text, kind = ("q, k, v", "learned") if new else ("k, v kept", "data")
            canvas.box(1.9 + 1.1 * column, y, text, kind, 0.98, 0.42)
    canvas.label(0.1, 0.15, "coloured: computed in this step; white: read from the cache", align="left", size=8.5)
    rows = ". ".join(
        f"Step {step}: query, key and value of “{words[prompt + step - 1]}” are computed; keys and values of the "
        f"{prompt + step - 1} words before it are kept"
        for step in range(1, steps)
    )
    first = f"The prompt: query, key and value of “{' '.join(words[:prompt])}” are computed"
    return canvas.described(f"A table with a column for each word and a row for each step. {first}. {rows}.")


def step_times(panels: Mapping[str, tuple[Sequence[int], Mapping[str, Sequence[float]]]]) -> Figure:
    """panels: title -> (lengths, label -> milliseconds for one more token at each length)"""
    figure, row = subplots(2.8, len(panels), squeeze=False)
    for axes, (title, (lengths, curves)) in zip(row[0], panels.items(), strict=True):
        for (label, times), (style, colour) in zip(curves.items(), (("-", ORANGE), ("--", BLUE)), strict=False):
            axes.plot(lengths, times, style, color=colour, label=label)
        axes.set_title(title, fontsize=9)
        axes.set_ylim(bottom=0)
        plain(axes, ACROSS, UPWARDS)
    row[0][0].legend(fontsize=8, frameon=False)
    told = (
        f"{title}: " + curves_text({label: (lengths, times) for label, times in curves.items()}, ACROSS, UPWARDS)
        for title, (lengths, curves) in panels.items()
    )
    return described(figure, f"{len(panels)} line charts, one for each model. " + " ".join(told))
