"""The visible checks of the DistilBERT notebooks: they name what is wrong, and take whatever is right."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch
from torch import nn

from course import parts
from course.check import distilbert as check
from course.check.base import CheckFailed
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.distilbert_cells import INIT, STEPS


def said(run: Any, *things: Any) -> str:
    """What a check says of wrong code. Fails where it says nothing."""
    with pytest.raises(CheckFailed) as failure:
        run(*things)
    assert len(str(failure.value).splitlines()) >= 2, "expected, came, where to look"
    return str(failure.value)


# --- notebook 1 -------------------------------------------------------------------------------------------------------

RIGHT_EMBEDDINGS = {
    "sum": cells.embeddings(),
    "other order": cells.embeddings("embeddings = position_embeddings + input_embeds"),
    "torch.add": cells.embeddings("embeddings = torch.add(input_embeds, position_embeddings)"),
    "in place on a copy": cells.embeddings("embeddings = input_embeds.clone(); embeddings += position_embeddings"),
    "expanded": cells.embeddings(positions="torch.arange(seq_length).unsqueeze(0).expand_as(input_ids)"),
    "float64 in between": cells.embeddings(
        "embeddings = (input_embeds.double() + position_embeddings.double()).float()"
    ),
    "transformers": parts.ReadyEmbeddings,
}
WRONG_EMBEDDINGS = {
    "input_embeds - position_embeddings": "subtracted",
    "position_embeddings - input_embeds": "subtracted",
    "input_embeds * position_embeddings": "multiplied",
    "input_embeds": "does not know where it stands",
    "position_embeddings.expand_as(input_embeds)": "which word",
    "(input_embeds + position_embeddings) / 2": "averaged",
    "torch.cat([input_embeds, position_embeddings.expand_as(input_embeds)], -1)": "not laid end to end",
    "None": "stopped with",
}
WRONG_POSITIONS = {
    "torch.arange(1, seq_length + 1)": "begin at 1",
    "torch.arange(len(input_ids))[:, None].expand_as(input_ids)": "along the batch",
    "torch.zeros_like(input_ids)": "gets position 0",
    "input_ids": "the token ids",
    "torch.arange(seq_length).flip(0)": "counted from the end",
    "self.__dict__.setdefault('kept', torch.arange(seq_length))": "expected shape",
}


@pytest.mark.parametrize("style", RIGHT_EMBEDDINGS)
def test_right_embeddings_pass_however_they_are_written(style: str, capsys: pytest.CaptureFixture[str]) -> None:
    check.embeddings(RIGHT_EMBEDDINGS[style])
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize("merge", WRONG_EMBEDDINGS)
def test_a_wrong_merge_of_words_and_positions_is_named(merge: str) -> None:
    assert WRONG_EMBEDDINGS[merge] in said(check.embeddings, cells.embeddings(f"embeddings = {merge}"))


@pytest.mark.parametrize("positions", WRONG_POSITIONS)
def test_wrong_positions_are_named(positions: str) -> None:
    assert WRONG_POSITIONS[positions] in said(check.position_ids, cells.embeddings(positions=positions))


@pytest.mark.parametrize("positions", list(WRONG_POSITIONS)[:5])
def test_wrong_positions_cost_their_own_points_alone(positions: str, capsys: pytest.CaptureFixture[str]) -> None:
    check.embeddings(cells.embeddings(positions=positions.replace("input_ids", "input_ids.clamp(max=8)", 1)))
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize("merge", WRONG_EMBEDDINGS)
def test_a_wrong_merge_leaves_the_positions_their_points(merge: str, capsys: pytest.CaptureFixture[str]) -> None:
    check.position_ids(cells.embeddings(f"embeddings = {merge}"))
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize("result", ["embeddings", "self.LayerNorm(input_embeds) + position_embeddings"])
def test_a_layernorm_that_is_missing_or_too_early_is_named(result: str) -> None:
    assert "mean 0 and variance 1" in said(check.embeddings, cells.embeddings(result=result))


def test_embeddings_that_change_their_input_are_rejected() -> None:
    changed = cells.embeddings("embeddings = input_embeds + position_embeddings; input_ids += 1")
    assert "changed" in said(check.embeddings, changed)


def test_an_empty_gap_is_no_mistake_but_a_gap() -> None:
    assert "not filled in yet" in said(check.embeddings, cells.embeddings("raise NotImplementedError()"))


# --- notebook 2 -------------------------------------------------------------------------------------------------------

TAIL = "; weights = scores.softmax(-1); context = weights @ v"
RIGHT_BLOCKS = {
    "matmul": cells.attention_block(),
    "einsum": cells.attention_block(
        STEPS="scores = torch.einsum('bhqd,bhkd->bhqk', q, k); weights = F.softmax(scores, dim=3); "
        "context = torch.einsum('bhqk,bhkd->bhqd', weights, v)"
    ),
    "float64 in between": cells.attention_block(
        STEPS="weights = torch.softmax(q.double() @ k.double().mT, -1).float(); context = torch.matmul(weights, v)"
    ),
    "fused context": cells.attention_block(
        STEPS="weights = (q @ k.mT).softmax(-1); context = F.scaled_dot_product_attention(q * size**0.5, k, v)"
    ),
    "head by head": cells.attention_block(
        STEPS="weights = torch.stack([(q[:, h] @ k[:, h].mT).softmax(-1) for h in range(heads)], 1); "
        "context = torch.stack([weights[:, h] @ v[:, h] for h in range(heads)], 1)"
    ),
    "baddbmm": cells.attention_block(
        STEPS="one, two = q.flatten(0, 1), k.flatten(0, 1); "
        "zero = torch.zeros(len(one), one.shape[1], two.shape[1]); "
        "scores = torch.baddbmm(zero, one, two.mT).unflatten(0, (bs, heads))" + TAIL
    ),
    "reshape and contiguous": cells.attention_block(
        SPLIT="(lambda x: x.reshape(bs, -1, heads, size).permute(0, 2, 1, 3).contiguous())",
        MERGED="context.permute(0, 2, 1, 3).contiguous().view(bs, -1, heads * size)",
    ),
    "another order of declaration": cells.attention_block(INIT="; ".join(reversed(INIT.split("; ")))),
    "numerically careful by hand": cells.attention_block(
        STEPS="s = q @ k.mT; e = (s - s.amax(-1, keepdim=True)).exp(); weights = e / e.sum(-1, keepdim=True); "
        "context = weights @ v"
    ),
    "transformers": parts.ReadyAttentionBlock,
}


@pytest.mark.parametrize("style", RIGHT_BLOCKS)
def test_a_right_block_passes_all_checks_however_it_is_written(style: str) -> None:
    check.attention_block(RIGHT_BLOCKS[style])


WRONG_INITS = {
    INIT.replace("self.v_lin = nn.Linear(config.dim, config.dim)", "self.v_lin = self.k_lin"): "one and the same",
    INIT.replace("config.dim)", "config.dim, bias=False)"): "must have a bias",
    INIT.replace("config.dim)", "config.attention_head_size)"): "All heads share one layer",
    INIT.replace("config.dim)", "config.hidden_dim)"): "hidden_dim is the width of the feed-forward network",
    INIT.replace("config.dim", "768"): "come from the config",
    INIT.replace("self.v_lin", "self.value"): "a layer called v_lin",
    INIT.replace("nn.Linear", "nn.Bilinear").replace("config.dim)", "config.dim, 2)"): "must be a linear layer",
    "raise NotImplementedError()": "not filled in yet",
}
WRONG_SCORES = {
    "q @ k": "Which axis of k",
    "q @ k.mT * math.sqrt(size)": "nothing was divided",
    "q @ k.mT / math.sqrt(size)": "happened twice",
    "q @ k.mT / math.sqrt(heads * size)": "a further division, by √dim",
    "q @ k.mT * math.sqrt(size) / math.sqrt(heads * size)": "by √dim, the width of all heads",
    "q @ k.mT / size": "by the size of a head",
    "3 * q @ k.mT": "3 times",
    "k @ q.mT": "changed places",
    "-(q @ k.mT)": "the sign is wrong",
    "torch.zeros(bs, heads, q.shape[2], k.shape[2])": "all scores are alike",
    "torch.sigmoid(q @ k.mT)": "does not stand out",
    "(q @ k.mT)[:, :1].expand(bs, heads, -1, -1)": "alike",
}
WRONG_WEIGHTS = {
    "scores.softmax(-2)": "axis 2, the queries",
    "scores.softmax(1)": "axis 1, the heads",
    "scores.softmax(0)": "axis 0, the batch",
    "scores": "was it applied?",
    "scores.exp() / scores.exp().sum(-1, keepdim=True)": "exp alone overflows",
    "scores.softmax(-1).softmax(-1)": "not by two",
    "scores.sigmoid()": "sums to",
    "torch.full_like(scores, 1 / scores.shape[-1])": "one softmax",
}
WRONG_CONTEXTS = {
    "weights.mT @ v": "transposed",
    "v": "own value",
    "(q @ k.mT @ v).softmax(-1)": "sums to 1",
    "weights @ v * 2": "that value",
    "weights @ k": "token i + 1",
}


@pytest.mark.parametrize("init", WRONG_INITS)
def test_wrong_projections_are_named(init: str) -> None:
    assert WRONG_INITS[init] in said(check.attention_init, cells.attention_block(INIT=init))


@pytest.mark.parametrize("scores", WRONG_SCORES)
def test_wrong_scores_are_named(scores: str) -> None:
    assert WRONG_SCORES[scores] in said(check.attention_scores, cells.attention_block(STEPS=f"scores = {scores}{TAIL}"))


@pytest.mark.parametrize("weights", WRONG_WEIGHTS)
def test_wrong_weights_are_named_and_cost_no_scores(weights: str) -> None:
    block = cells.attention_block(STEPS=f"scores = q @ k.mT; weights = {weights}; context = weights @ v")
    assert WRONG_WEIGHTS[weights] in said(check.attention_weights, block)
    if "sigmoid" not in weights and "full_like" not in weights:  # these two leave nothing to read the scores from
        check.attention_scores(block)


@pytest.mark.parametrize("context", WRONG_CONTEXTS)
def test_a_wrong_context_is_named_and_costs_neither_scores_nor_weights(context: str) -> None:
    block = cells.attention_block(STEPS=f"scores = q @ k.mT; weights = scores.softmax(-1); context = {context}")
    assert WRONG_CONTEXTS[context] in said(check.attention_context, block)
    check.attention_scores(block)
    check.attention_weights(block)


def test_each_step_can_be_checked_before_the_next_is_written() -> None:
    scores_only = cells.attention_block(STEPS="scores = q @ k.mT")
    check.attention_scores(scores_only)
    assert "was it applied" in said(check.attention_weights, scores_only)
    no_context = cells.attention_block(STEPS="scores = q @ k.mT; weights = scores.softmax(-1)")
    check.attention_weights(no_context)
    assert "context" in said(check.attention_context, no_context)


@pytest.mark.parametrize("init", [i for i in WRONG_INITS if "self.value" not in i and "raise" not in i])
def test_wrong_projections_cost_neither_scores_nor_weights_nor_context(init: str) -> None:
    block = cells.attention_block(INIT=init)
    check.attention_scores(block)
    check.attention_weights(block)
    check.attention_context(block)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"MERGED": "context.reshape(bs, -1, heads * size)"}, "before they are merged"),
        ({"SKIP_ONE": "0"}, "hidden_states and sa_output"),
        ({"SKIP_TWO": "0"}, "hidden_states and sa_output"),
        ({"SKIP_TWO": "hidden_states"}, "second skip"),
        ({"SPLIT": "(lambda x: x.view(1, -1, heads, size).transpose(1, 2))"}, "number 1"),
    ],
)
def test_given_lines_that_were_changed_are_named(change: dict[str, str], words: str) -> None:
    assert words in said(check.attention_context, cells.attention_block(**change))


@pytest.mark.parametrize("split", ["x.view(bs, heads, -1, size)", "x.view(bs, -1, size, heads).permute(0, 3, 1, 2)"])
def test_heads_that_are_cut_wrongly_are_seen_in_the_scores(split: str) -> None:
    block = cells.attention_block(SPLIT=f"(lambda x: {split})")
    assert "each head on its own" in said(check.attention_scores, block)


@pytest.mark.parametrize(
    ("run", "steps"),
    [
        (check.attention_weights, "weights = F.dropout((q @ k.mT).softmax(-1)); context = weights @ v"),
        (check.attention_context, STEPS + "; context = F.dropout(context)"),
    ],
)
def test_dropout_that_goes_on_in_eval_mode_is_named(run: Any, steps: str) -> None:
    assert "dropout" in said(run, cells.attention_block(STEPS=steps))


def test_a_block_that_changes_its_input_is_rejected() -> None:
    block = cells.attention_block(STEPS=STEPS + "; hidden_states.mul_(2)")
    assert "changed" in said(check.attention_scores, block)


# --- all of them ------------------------------------------------------------------------------------------------------


def test_the_checks_leave_random_numbers_and_gradients_as_they_were() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    check.embeddings(cells.embeddings())
    check.attention_block(cells.attention_block())
    assert torch.equal(torch.rand(3), expected)
    assert torch.is_grad_enabled()


def test_the_checks_of_the_block_take_a_tenth_of_a_second() -> None:
    check.attention_block(cells.attention_block())
    start = time.process_time()
    check.attention_block(cells.attention_block())
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("thing", [None, 3, nn.Linear(2, 2), lambda config: 5])
def test_something_that_is_no_class_of_a_module_is_named(thing: Any) -> None:
    assert said(check.embeddings, thing)
    assert said(check.attention_init, thing)
