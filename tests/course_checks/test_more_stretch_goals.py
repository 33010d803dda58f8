"""The stretch goals of the notebooks that test and look at attention: right ones pass, wrong ones are named."""

from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from course.check import encoder_lab, numpy_attention
from course.check.base import CheckFailed
from tests.course_checks.test_stretch_goals import untouched, with_changes
from tests.grading import ROOT, solution

TESTS, VIEWS = ("numpy_attention", "3_write_tests"), ("encoder_lab", "3_attention_visualization")
ENCODER = ("encoder_lab", "2_encoder")
TOKENS = [*["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]", "fruit", "flies", "like", "a", "banana", "[SEP]"]]


def slipping(*changes: tuple[str, str]) -> Any:
    return with_changes(TESTS, "slips_through", {"np": np}, *changes)


@pytest.fixture
def own_test() -> Any:
    scope: dict[str, Any] = {"np": np}
    exec(solution(*TESTS, "written_tests_answer"), scope)
    return scope["test_attention"]


@pytest.fixture
def stored() -> torch.Tensor:
    return load_file(ROOT / "course" / "data" / "encoder_lab" / "attentions.safetensors")["attentions"]


def rolling(*changes: tuple[str, str]) -> Any:
    return with_changes(VIEWS, "attention_rollout", {"torch": torch}, *changes)


def test_they_may_be_left(capsys: pytest.CaptureFixture[str], own_test: Any, stored: torch.Tensor) -> None:
    numpy_attention.slips_through(untouched, own_test)
    encoder_lab.attention_rollout(untouched, stored, TOKENS)
    assert capsys.readouterr().out.count("not begun") == 2


def test_a_mistake_that_slips_through_is_found_to_be_one(capsys: pytest.CaptureFixture[str], own_test: Any) -> None:
    numpy_attention.slips_through(slipping(), own_test)
    assert "it is wrong on" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ((("-3, 3", "-700, 700"),), "right on all of them"),
        ((("/ np.sqrt(query.shape[1])", ""),), "It rejects it: AssertionError three_to_one"),
        ((("return exp", "return 2 * exp"),), "What does your test not look at"),
        ((("@ value", "@ value.T"),), "it must run"),
        ((("@ value", "@ value[:, :1]"),), "must have shape"),
    ],
    ids=["no mistake", "not scaled", "twice as large", "an error", "another shape"],
)
def test_a_mistake_that_does_not_slip_through(changes: Any, says: str, own_test: Any) -> None:
    with pytest.raises(CheckFailed, match=says):
        numpy_attention.slips_through(slipping(*changes), own_test)


def test_an_unwritten_test_lets_nothing_through() -> None:
    with pytest.raises(CheckFailed, match="test_attention is needed"):
        numpy_attention.slips_through(slipping(), untouched)


MEAN, STEP = "attentions.mean(dim=1)", "(average + itself) / 2 @ made_of"
RIGHT = {
    "as it stands": (),
    "the last layer first": (
        (MEAN, "attentions.mean(dim=1).flip(0)"),
        (STEP, "made_of @ (average + itself) / 2"),
    ),
    "a list": (("return made_of", "return made_of.tolist()"),),
}


@pytest.mark.parametrize("way", RIGHT)
def test_a_right_rollout_passes(way: str, capsys: pytest.CaptureFixture[str], stored: torch.Tensor) -> None:
    encoder_lab.attention_rollout(rolling(*RIGHT[way]), stored, TOKENS)
    said = capsys.readouterr().out
    assert "✓" in said and "[CLS] has 14% of the last layer's weights, 53% of the rollout" in said


WRONG = {
    "the other way round": (((STEP, "made_of @ ((average + itself) / 2)"),), "the last layer stands on the left"),
    "no skip": (((STEP, "average @ made_of"),), "skips are missing"),
    "not halved": (((" / 2", ""),), "nothing was halved"),
    "the last layer": (((STEP, "(average + itself) / 2"),), "the last layer alone"),
    "the first layer": (((MEAN, "attentions.mean(dim=1)[:1]"),), "the first layer alone"),
    "the mean of layers": ((("    return made_of", "    return (attentions.mean((0, 1)) + itself) / 2"),), "average"),
    "transposed": ((("return made_of", "return made_of.T"),), "That is transposed"),
    "the first head": (((MEAN, "attentions[:, 0]"),), "First the average of the heads"),
    "the largest head": (((MEAN, "attentions.amax(dim=1)"),), "averaged, not added"),
    "heads added": (((MEAN, "attentions.sum(dim=1)"),), "averaged, not added"),
    "heads kept": (((MEAN, "attentions"),), "No axis for layers or heads"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rollout_is_named(name: str) -> None:
    changes, says = WRONG[name]
    with pytest.raises(CheckFailed, match=says):
        encoder_lab.attention_rollout(rolling(*changes))


def by_hand(*changes: tuple[str, str]) -> tuple[Any, Any]:
    """layer_norm and gelu of the solution, changed."""
    text = solution(*ENCODER, "by_hand_answer")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    scope: dict[str, Any] = {"torch": torch}
    exec(text, scope)
    return scope["layer_norm"], scope["gelu"]


def test_a_norm_and_a_gelu_by_hand_may_be_left(capsys: pytest.CaptureFixture[str]) -> None:
    encoder_lab.by_hand(untouched, by_hand()[1])
    encoder_lab.by_hand(by_hand()[0], untouched)
    assert capsys.readouterr().out.count("not begun") == 2


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (("((x - mean) ** 2).mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True, unbiased=False)"),),
        (("x / 2 * (1 + torch.erf(x / 2**0.5))", "x * torch.distributions.Normal(0, 1).cdf(x)"),),
    ],
)
def test_a_right_norm_and_gelu_pass(changes: tuple[tuple[str, str], ...], capsys: pytest.CaptureFixture[str]) -> None:
    encoder_lab.by_hand(*by_hand(*changes))
    assert "✓ by_hand" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("((x - mean) ** 2).mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)"), "divided by n - 1"),
        (("torch.sqrt(variance + eps)", "variance"), "not put under a root"),
        ((" * gamma + beta", ""), "gamma and beta are missing"),
        (("dim=-1", "dim=(-1, -2)"), "run over all tokens"),
        (("dim=-1", "dim=1"), "Yours differs"),
        (("erf(x / 2**0.5)", "tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))"), "approximation by tanh"),
        (("2**0.5", "2"), "gelu gives what nn.GELU gives"),
        (("return x / 2", "x / 2"), "gelu's result"),
    ],
)
def test_a_wrong_norm_or_gelu_is_told_why(change: tuple[str, str], says: str) -> None:
    with pytest.raises(CheckFailed, match=says):
        encoder_lab.by_hand(*by_hand(change))
