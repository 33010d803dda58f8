"""Stretch goals bring no points: one that was not begun is no failure, a right one passes, a wrong one is named."""

import math
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from course.check import numpy_attention
from course.check import transformer_tutorial as tutorial
from course.check.base import CheckFailed
from tests.grading import solution

ATTENTION = "numpy_attention", "1_attention"


#: The tutorial's stretch goals and their notebooks.
TUTORIAL = {"scores_gradient": "1_queries_keys_values", "shift_rotation": "2_transformer_block",
            "bootstrap_error": "3_training"}  # fmt: skip


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


def in_tutorial(name: str, *changes: tuple[str, str]) -> Any:
    scope = {"torch": torch, "F": F, "math": math}
    return with_changes(("transformer_tutorial", TUTORIAL[name]), name, scope, *changes)


@pytest.mark.parametrize("name", TUTORIAL)
def test_a_stretch_goal_of_the_tutorial_may_be_left(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(tutorial, name)(untouched)
    assert "not begun" in capsys.readouterr().out


RESULT, DRAWN = "return weights * (reached - average)", "torch.randint(n, (draws, n))"
RIGHT_TUTORIAL = {
    "scores_gradient": {
        "as it stands": (),
        "with a Jacobian": ((RESULT, """jacobian = weights.diag_embed() - weights[:, :, None] * weights[:, None]
    return (jacobian @ reached[:, :, None])[:, :, 0]"""),),
    },
    "shift_rotation": {
        "as it stands": (),
        "a list of lists": (("diag(*blocks)", "diag(*blocks).tolist()"),),
        "pair by pair": (("return torch.block_diag(*blocks)", """out = torch.zeros(emb_size, emb_size)
    for i, block in enumerate(blocks):
        out[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return out"""),),
    },
    "bootstrap_error": {
        "as it stands": (),
        "a loop": (("hits[places].mean(dim=1)", "torch.stack([hits[row].mean() for row in places])"),),
        "a tensor of one number": ((".item()", ""),),
        "without n - 1": (("averages.std()", "averages.std(correction=0)"),),
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "way"), [(name, way) for name in RIGHT_TUTORIAL for way in RIGHT_TUTORIAL[name]])
def test_a_right_stretch_goal_of_the_tutorial_passes(name: str, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(tutorial, name)(in_tutorial(name, *RIGHT_TUTORIAL[name][way]))
    assert "✓" in capsys.readouterr().out


BLOCK, FREQUENCY = "torch.stack([cos, sin, -sin, cos], dim=1)", "(-torch.arange(0, emb_size, 2) / emb_size)"
DIAGONAL = "torch.block_diag(*blocks)"
HALVES = "torch.cat([torch.cat([cos.diag(), sin.diag()], 1), torch.cat([-sin.diag(), cos.diag()], 1)])"
WRONG_TUTORIAL: dict[str, dict[str, tuple[tuple[tuple[str, str], ...], str]]] = {
    "scores_gradient": {
        "D alone": (((RESULT, "return reached"),), "gradient of the weights"),
        "nothing subtracted": (((RESULT, "return weights * reached"),), "something is subtracted"),
        "the diagonal alone": (((RESULT, "return weights * (1 - weights) * reached"),), "changes all weights"),
        "the sign": ((("reached - average", "average - reached"),), "the other way round"),
        "not times the weights": (((RESULT, "return reached - average"),), "still to be multiplied"),
        "the plain mean": ((("(weights * reached).sum", "reached.mean"),), "plain mean"),
        "the plain sum": ((("(weights * reached).sum", "reached.sum"),), "plain sum"),
        "divided by the root": (((RESULT, RESULT + " / values.shape[1] ** 0.5"),), "already divided"),
        "softmax over the queries": ((("(scores, dim=1)", "(scores, dim=0)"),), "softmax runs over the queries"),
        "one average for all rows": ((("sum(dim=1, keepdim=True)", "sum()"),), "Each row must sum to 0"),
        "values backwards": ((("values.T", "values.T.flip(0)"),), "axis of the values"),
        "summed over the queries": ((("sum(dim=1,", "sum(dim=0,"),), "over the keys"),
        "float32": (((RESULT, RESULT + ".float()"), ("return weights", "return 1 * weights")), "float32"),
        "transposed": (((RESULT, "return (weights * (reached - average)).T"),), "must have shape"),
        "in place": ((("(scores, dim=1)", "(scores.mul_(2).div_(2.5), dim=1)"),), "must stay as they are"),
        "autograd": (((RESULT, "return torch.autograd.grad(average.sum(), scores)"),), "autograd is off"),
    },
    "shift_rotation": {
        "backwards": (((BLOCK, "torch.stack([cos, -sin, sin, cos], dim=1)"),), "the other way"),
        "sines first, then cosines": (((DIAGONAL, HALVES),), "first half holds all sines"),
        "one angle for all": (((FREQUENCY, "torch.zeros(emb_size // 2)"),), "every pair turns by"),
        "the steps forgotten": ((("steps * 10000", "10000"),), "times steps"),
        "twice the exponent": ((("emb_size, 2) / emb_size", "emb_size, 2) * 2 / emb_size"),), "The exponent"),
        "another base": ((("10000", "500"),), "The exponent"),
        "half precision": ((("return " + DIAGONAL, f"return {DIAGONAL}.half().float()"),), "to 5e-05"),
        "a reflection": (((BLOCK, "torch.stack([cos, sin, sin, -cos], dim=1)"),), "no rotations"),
        "pairs mixed": (((DIAGONAL, DIAGONAL + " + 0.1"),), "different pairs|no rotations"),
        "blocks alone": ((("return " + DIAGONAL, "return blocks"),), "must have shape"),
        "degrees": ((("cos, sin = angle", "angle = angle.rad2deg(); cos, sin = angle"),), "in yours"),
    },
    "bootstrap_error": {
        "without replacement": (((DRAWN, "torch.rand(draws, n).argsort(1)"),), "without replacement"),
        "not averaged": ((("hits[places].mean(dim=1)", "hits[places].flatten()"),), "spread of single hits"),
        "divided again": ((("averages.std()", "(averages.std() / draws**0.5)"),), "not divided"),
        "samples too large": (((DRAWN, "torch.randint(n, (draws, draws))"),), "Each sample has n"),
        "one average of all": ((("mean(dim=1)", "mean()"),), "has no spread"),
        "half samples": (((DRAWN, "torch.randint(n, (draws, n // 2))"),), "n of the n sentences"),
        "the variance": ((("averages.std()", "averages.var()"),), "That is the variance"),
        "the accuracy": ((("averages.std()", "averages.mean()"),), "That is the accuracy itself"),
        "percent": ((("averages.std()", "(100 * averages.std())"),), "in percent"),
        "the formula": ((("averages.std()", "((hits.mean() * (1 - hits.mean()) / n) ** 0.5)"),), "formula holds"),
        "one number a draw": ((("averages.std().item()", "averages"),), "one number"),
        "in place": ((("n = len(hits)", "n = len(hits.sub_(0.5))"),), "must stay as they are"),
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "way"), [(name, way) for name in WRONG_TUTORIAL for way in WRONG_TUTORIAL[name]])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_wrong_stretch_goal_of_the_tutorial_is_named(name: str, way: str) -> None:
    changes, says = WRONG_TUTORIAL[name][way]
    with pytest.raises(CheckFailed, match=says):
        getattr(tutorial, name)(in_tutorial(name, *changes))
