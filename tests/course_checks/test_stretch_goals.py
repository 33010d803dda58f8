"""Stretch goals bring no points: one that was not begun is no failure, a right one passes, a wrong one is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course.check import numpy_attention
from course.check.base import CheckFailed
from tests.grading import solution

ATTENTION = "numpy_attention", "1_attention"


def untouched(*given: Any) -> Any:
    raise NotImplementedError


def with_changes(place: tuple[str, str], name: str, scope: dict[str, Any], *changes: tuple[str, str]) -> Any:
    """The function of the solution cell, with some words replaced."""
    text = solution(*place, f"{name}_answer")
    for old, new in changes:
        assert old in text, f"the solution no longer says {old!r}"
        text = text.replace(old, new)
    exec(text, scope)
    return scope[name]


def in_blocks(*changes: tuple[str, str]) -> Any:
    return with_changes(ATTENTION, "attention_in_blocks", {"np": np}, *changes)


def test_attention_in_blocks_may_be_left(capsys: pytest.CaptureFixture[str]) -> None:
    numpy_attention.attention_in_blocks(untouched, untouched)
    assert "not begun" in capsys.readouterr().out


def test_attention_in_blocks_is_compared_with_the_students_own(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, Any] = {"np": np}
    for name in ("softmax", "self_attention"):
        exec(solution(*ATTENTION, f"{name}_answer"), scope)
    numpy_attention.attention_in_blocks(in_blocks(), scope["apply_self_attention"])
    assert "✓" in (said := capsys.readouterr().out) and "The same as your apply_self_attention" in said
    numpy_attention.attention_in_blocks(in_blocks(), lambda x, *weights: x)
    assert "your apply_self_attention gives something else" in capsys.readouterr().out
    numpy_attention.attention_in_blocks(in_blocks(), untouched)
    assert "apply_self_attention" not in capsys.readouterr().out


LARGER, FACTOR = "np.maximum(largest, scores.max(axis=1, keepdims=True))", "np.exp(largest - new)"
STARTS, END = "range(0, len(keys), block)", "return mixed / total"
RIGHT_BLOCKS = {
    "another way to write the loop": ((STARTS, "range(0, keys.shape[0], block)"),),
    "a very small number to begin with": (("-np.inf", "-1e300"),),
    "einsum": (("queries @ keys[part].T", "np.einsum('id,jd->ij', queries, keys[part])"),),
    "a list": ((END, "return (mixed / total).tolist()"),),
}


@pytest.mark.parametrize("name", RIGHT_BLOCKS)
def test_right_attention_in_blocks_passes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    numpy_attention.attention_in_blocks(in_blocks(*RIGHT_BLOCKS[name]))
    assert "✓" in capsys.readouterr().out


WRONG_BLOCKS: dict[str, tuple[tuple[tuple[str, str], ...], str]] = {
    "nothing is brought to the new m": ((("np.exp(largest - new),", "1.0,"),), "neither sum was multiplied"),
    "only s is": ((("factor * mixed", "mixed"),), "but o was not"),
    "only o is": ((("factor * total", "total"),), "but s was not"),
    "an average of blocks": (((LARGER, "scores.max(1, keepdims=True)"),
                              (FACTOR, "1.0")), "All blocks count alike"),
    "divided after every block": ((("        largest = new", "        mixed, largest = mixed / total, new"),
                                   (END, "return mixed")), "Divide once, at the end"),
    "the factor upside down": (((FACTOR, "np.exp(np.where(total, new - largest, 0))"),), "upside down"),
    "not scaled": (((" / np.sqrt(d)", ""),), "not divided by √d"),
    "divided by d": (((" / np.sqrt(d)", " / d"),), "not by its root"),
    "the last block left out": (((STARTS, "range(0, len(keys) - block + 1, block)"),), "left out"),
    "float32": (((END, "return (mixed / total).astype(np.float32)"),), "float32"),
    "no m at all": (((LARGER, "np.zeros((n, 1))"),),
                    "does not fit into a float"),
    "the block's m": (((LARGER, "scores.max(1, keepdims=True)"),),
                      "of all blocks so far"),
    "m begins at 0": ((("-np.inf", "0.0"),), "begins at -np.inf"),
    "one m for all queries": ((("scores.max(axis=1, keepdims=True)", "scores.max()"),), "a largest score of its own"),
    "all scores at once": (((STARTS, "range(0, len(keys), len(keys))"),
                            ("start + block", "len(keys)")), "no more than one block of scores"),
    "an argument is changed": ((("largest = np.full", "values *= 2; largest = np.full"),), "values must stay"),
    "the wrong shape": (((END, "return (mixed / total).T"),), r"must have shape \(7, 3\)"),
    "an error": ((("keys[part].T", "keys[part]"),), "should work"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_BLOCKS)
def test_wrong_attention_in_blocks_is_named(name: str) -> None:
    changes, says = WRONG_BLOCKS[name]
    with pytest.raises(CheckFailed, match=says):
        numpy_attention.attention_in_blocks(in_blocks(*changes))
