"""The visible checks of the DistilBERT notebooks: they name what is wrong, and take whatever is right."""

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

WRONG_MERGES = {
    "words - positions": "subtracted",
    "words * positions": "multiplied",
    "words": "positions are missing",
    "positions": "words are missing",
    "(words + positions) / 2": "averaged",
    "torch.cat([words, positions], -1)": "twice as long",
    "(words.abs() + 1).log() + positions": "the values are not",
    "words.add_(positions)": "changed in place",
    "None": "nothing came",
}
WRONG_POSITIONS = {
    "torch.arange(1, input_ids.shape[1] + 1)": "begin at 1",
    "torch.arange(len(input_ids))[:, None].expand_as(input_ids)": "along the batch",
    "torch.zeros_like(input_ids)": "gets position 0",
    "input_ids": "the token ids",
    "torch.arange(input_ids.shape[1]).flip(0)": "counted from the end",
    "torch.arange(nobody_knows)": "nobody_knows",
}


@pytest.mark.parametrize("positions", WRONG_POSITIONS)
def test_wrong_positions_are_named_and_cost_their_own_points_alone(
    positions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = cells.embeddings(POSITIONS=positions)
    assert WRONG_POSITIONS[positions] in said(check.position_ids, wrong)
    check.merge(wrong)
    check.embeddings(wrong)
    assert capsys.readouterr().out.count("✓") == 2


def test_positions_that_are_kept_of_a_longer_sentence_are_noticed_in_the_whole() -> None:
    kept = "self.__dict__.setdefault('kept', torch.arange(input_ids.shape[1]))"
    assert "put together they stop" in said(check.embeddings, cells.embeddings(POSITIONS=kept))


@pytest.mark.parametrize("merge", WRONG_MERGES)
def test_a_wrong_merge_is_named_and_costs_its_own_points_alone(merge: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = cells.embeddings(MERGE=f"return {merge}")
    assert WRONG_MERGES[merge] in said(check.merge, wrong)
    check.position_ids(wrong)
    check.embeddings(wrong)
    assert capsys.readouterr().out.count("✓") == 2


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("self.merge(words, positions)", "LayerNorm is missing"),
        ("self.LayerNorm(self.merge(words, positions)).double()", "no float32"),
        ("self.LayerNorm(self.merge(words, positions + input_ids.zero_().sum()))", "changed in place"),
        ("self.LayerNorm(self.merge(words, positions[:, 1:]))", "stopped with RuntimeError"),
    ],
)
def test_a_seam_costs_the_embeddings_alone(result: str, words: str) -> None:
    seam = cells.embeddings(RESULT=result)
    assert words in said(check.embeddings, seam)
    check.position_ids(seam)
    check.merge(seam)


def test_where_no_part_is_right_there_is_no_whole() -> None:
    neither = cells.embeddings(MERGE="raise NotImplementedError()", POSITIONS="input_ids")
    assert "not filled in yet" in said(check.merge, neither)
    assert "None of its parts is right yet" in said(check.embeddings, neither)


# --- notebook 2 -------------------------------------------------------------------------------------------------------

RIGHT_BLOCKS = {
    "reshape and contiguous": cells.attention_block(
        SPLIT="(lambda x: x.reshape(bs, -1, heads, size).permute(0, 2, 1, 3).contiguous())",
        MERGED="context.permute(0, 2, 1, 3).contiguous().view(bs, -1, heads * size)",
    ),
    "another order of declaration": cells.attention_block(INIT="; ".join(reversed(INIT.split("; ")))),
    "einsum": cells.attention_block(
        SCORES="torch.einsum('bhqd,bhkd->bhqk', q, k)", WEIGHTS="F.softmax(scores, dim=3)",
        CONTEXT="torch.einsum('bhqk,bhkd->bhqd', weights, v)",
    ),
    "float64 in between": cells.attention_block(WEIGHTS="scores.double().softmax(-1).float()"),
    "head by head": cells.attention_block(
        SCORES="torch.stack([q[:, h] @ k[:, h].mT for h in range(q.shape[1])], 1)",
        CONTEXT="torch.stack([weights[:, h] @ v[:, h] for h in range(v.shape[1])], 1)",
    ),
    "ready-made": parts.ReadyAttentionBlock,
}  # fmt: skip
IN_ONE_FORWARD = {
    "matmul": "weights = (q @ k.mT).softmax(-1); context = weights @ v",
    "fused context": "weights = (q @ k.mT).softmax(-1); context = F.scaled_dot_product_attention(q * size**0.5, k, v)",
    "by hand": "s = q @ k.mT; e = (s - s.amax(-1, keepdim=True)).exp(); weights = e / e.sum(-1, keepdim=True); "
    "context = weights @ v",
}


@pytest.mark.parametrize("style", RIGHT_BLOCKS)
def test_a_right_block_passes_all_checks_however_it_is_written(style: str) -> None:
    for part in (*MISTAKES, "attention_block"):
        getattr(check, part)(RIGHT_BLOCKS[style])


@pytest.mark.parametrize("style", IN_ONE_FORWARD)
def test_a_right_block_without_methods_serves_the_next_notebook(style: str) -> None:
    block = cells.block_in_one_forward(IN_ONE_FORWARD[style])
    check.encoder_block(block)
    check.attention_block(block)
    assert "has no method attention_scores" in said(check.attention_scores, block)


def test_a_wrong_block_does_not_serve_the_next_notebook_and_its_part_says_why() -> None:
    assert "attention_weights" in said(check.encoder_block, cells.attention_block(WEIGHTS="scores.softmax(-2)"))
    assert "residual" in said(check.encoder_block, cells.attention_block(SKIP_ONE="0"))


#: Mistakes in one part, of which no other part is to know.
MISTAKES = {
    "attention_init": {
        "shared": {"INIT": INIT.replace("self.v_lin = nn.Linear(config.dim, config.dim)", "self.v_lin = self.k_lin")},
        "no bias": {"INIT": INIT.replace("config.dim)", "config.dim, bias=False)")},
        "one head wide": {"INIT": INIT.replace("config.dim)", "config.attention_head_size)")},
        "another name": {"INIT": INIT.replace("self.v_lin", "self.value")},
        "half precision, so nothing runs": {"INIT": INIT.replace("config.dim)", "config.dim, dtype=torch.float16)")},
        "it stops": {"INIT": INIT.replace("config.dim)", "config.width)")},
    },
    "attention_scores": {
        scores: {"SCORES": scores}
        for scores in ("q @ k", "k @ q.mT", "-(q @ k.mT)", "3 * q @ k.mT", "torch.sigmoid(q @ k.mT)",
                       "(q @ k.mT).half()", "(q @ k.mT).tolist()", "(q @ k.mT)[:1]", "undefined @ k")
    },
    "attention_weights": {
        weights: {"WEIGHTS": weights}
        for weights in (
            "scores.softmax(-2)", "scores", "scores.sigmoid()", "scores.double().softmax(-1)",
            "torch.full_like(scores, 1 / scores.shape[-1])", "scores.mT.softmax(-1)", "scores.softmax(-1)[:1]",
            "scores.sigmoid() / scores.sigmoid().sum(-1, keepdim=True)",
            "scores.exp() / scores.exp().sum(-1, keepdim=True)", "scores.sub_(1).softmax(-1)",
        )
    },
    "attention_context": {
        context: {"CONTEXT": context}
        for context in ("weights.mT @ v", "v", "weights @ v + v", "(weights @ v).double()", "undefined @ v", "None")
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "mistake"), [(part, mistake) for part, mistakes in MISTAKES.items() for mistake in mistakes]
)
def test_a_mistake_in_one_part_of_the_block_costs_no_other(part: str, mistake: str) -> None:
    block = cells.attention_block(**MISTAKES[part][mistake])
    said(getattr(check, part), block)
    for other in MISTAKES.keys() - {part} | {"attention_block"}:
        getattr(check, other)(block)


@pytest.mark.parametrize("seam", ["weights = weights.mT", "context = context * 2", "weights = weights.double()"])
def test_a_mistake_that_no_part_owns_is_the_whole_blocks(seam: str) -> None:
    block = cells.attention_block(STEPS=f"{STEPS}; {seam}")
    said(check.attention_block, block)
    for part in MISTAKES:
        getattr(check, part)(block)


def test_each_step_can_be_checked_before_the_next_is_written() -> None:
    scores_only = cells.attention_block(WEIGHTS="unwritten", CONTEXT="unwritten")
    check.attention_scores(scores_only)
    said(check.attention_weights, scores_only)


@pytest.mark.parametrize("change", ["SKIP_ONE", "SKIP_TWO"])
def test_given_lines_that_were_changed_are_named(change: str) -> None:
    assert "residual" in said(check.attention_block, cells.attention_block(**{change: "0"}))


def test_a_block_that_changes_its_input_is_rejected() -> None:
    block = cells.attention_block(SKIP_ONE="hidden_states.add_(0.5).sub(0.5)")
    assert "in place" in said(check.attention_block, block)


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
