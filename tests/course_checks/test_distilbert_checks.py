"""The visible checks of the DistilBERT notebooks: they name what is wrong, and take whatever is right."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from autograder.exercise import Answers
from autograder.exercise.case_inputs import CaseInputs
from course import parts
from course.check import distilbert as check
from course.check.base import CheckFailed
from tests.course_checks import distilbert_cells as cells
from tests.course_checks.distilbert_cells import INIT, STEPS
from tests.grading import REFERENCES


def said(run: Any, *things: Any) -> str:
    """What a check says of wrong code. Fails where it says nothing."""
    with pytest.raises(CheckFailed) as failure:
        run(*things)
    assert len(str(failure.value).splitlines()) >= 2, "expected, came, where to look"
    return str(failure.value)


# --- notebook 1 -------------------------------------------------------------------------------------------------------

WRONG_MERGES = [
    "input_embeds - position_embeddings", "input_embeds * position_embeddings", "input_embeds",
    "position_embeddings.expand_as(input_embeds)", "(input_embeds + position_embeddings) / 2",
    "torch.cat([input_embeds, position_embeddings.expand_as(input_embeds)], -1)", "None",
]  # fmt: skip
WRONG_POSITIONS = {
    "torch.arange(1, seq_length + 1)": "begin at 1",
    "torch.arange(len(input_ids))[:, None].expand_as(input_ids)": "along the batch",
    "torch.zeros_like(input_ids)": "gets position 0",
    "input_ids": "the token ids",
    "torch.arange(seq_length).flip(0)": "counted from the end",
    "self.__dict__.setdefault('kept', torch.arange(seq_length))": "expected shape",
}


@pytest.mark.parametrize("positions", WRONG_POSITIONS)
def test_wrong_positions_are_named_and_cost_their_own_points_alone(
    positions: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = cells.embeddings(positions=positions)
    assert WRONG_POSITIONS[positions] in said(check.position_ids, wrong)
    check.embeddings(wrong)
    assert "✓" in capsys.readouterr().out


def test_positions_that_cannot_be_made_cost_the_merge_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    check.embeddings(cells.embeddings(positions="torch.arange(nobody_knows)"))
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize("merge", WRONG_MERGES)
def test_a_wrong_merge_is_refused_and_leaves_the_positions_their_points(
    merge: str, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = cells.embeddings(f"embeddings = {merge}")
    said(check.embeddings, wrong)
    check.position_ids(wrong)
    assert "✓" in capsys.readouterr().out


def test_an_operation_that_no_mistake_explains_is_shown_by_a_shift() -> None:
    power = cells.embeddings("embeddings = (input_embeds.abs() + 1).log() + position_embeddings")
    assert "undoes such a shift" in said(check.embeddings, power)


def test_embeddings_that_change_their_input_are_rejected() -> None:
    changed = cells.embeddings("embeddings = input_embeds + position_embeddings; input_ids += 1")
    assert "changed in place" in said(check.embeddings, changed)


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


#: Mistakes in one part, of which no other part is to know.
MISTAKES = {
    "attention_init": {
        "shared": {"INIT": INIT.replace("self.v_lin = nn.Linear(config.dim, config.dim)", "self.v_lin = self.k_lin")},
        "no bias": {"INIT": INIT.replace("config.dim)", "config.dim, bias=False)")},
        "one head wide": {"INIT": INIT.replace("config.dim)", "config.attention_head_size)")},
        "another name": {"INIT": INIT.replace("self.v_lin", "self.value")},
        "half precision, so nothing runs": {"INIT": INIT.replace("config.dim)", "config.dim, dtype=torch.float16)")},
    },
    "attention_scores": {
        scores: {"STEPS": f"scores = {scores}{TAIL}"}
        for scores in ("q @ k", "k @ q.mT", "-(q @ k.mT)", "3 * q @ k.mT", "torch.sigmoid(q @ k.mT)",
                       "(q @ k.mT).half()")
    },
    "attention_weights": {
        weights: {"STEPS": f"scores = q @ k.mT; weights = {weights}; context = weights @ v"}
        for weights in (
            "scores.softmax(-2)", "scores", "scores.sigmoid()", "scores.double().softmax(-1)",
            "torch.full_like(scores, 1 / scores.shape[-1])",
            "scores.sigmoid() / scores.sigmoid().sum(-1, keepdim=True)",
            "scores.exp() / scores.exp().sum(-1, keepdim=True)",
        )
    },
    "attention_context": {
        context: {"STEPS": f"scores = q @ k.mT; weights = scores.softmax(-1); context = {context}"}
        for context in ("weights.mT @ v", "v", "weights @ k", "(weights @ v).double()", "undefined @ v")
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "mistake"), [(part, mistake) for part, mistakes in MISTAKES.items() for mistake in mistakes]
)
def test_a_mistake_in_one_part_of_the_block_costs_no_other(part: str, mistake: str) -> None:
    block = cells.attention_block(**MISTAKES[part][mistake])
    said(getattr(check, part), block)
    for other in MISTAKES.keys() - {part, "attention_context"}:  # the context's check runs the whole block, too
        getattr(check, other)(block)
    assert alone(block) == (part != "attention_context")


def alone(block: type) -> bool:
    """Whether the context is right in grading, where the part ``scores`` lost its points."""
    case = SimpleNamespace(points=0.0, max_points=5.0)
    return judged_context(block, {"distilbert/attention_scores": case}) == 1


def test_the_block_as_it_stands_is_judged_where_every_part_is_right_by_itself() -> None:
    seam = cells.attention_block(STEPS=STEPS + "; weights = weights.mT", MERGED="context.transpose(1, 2).flatten(2)")
    assert "as it stands" in said(check.attention_context, seam)
    for part in ("init", "scores", "weights"):
        getattr(check, f"attention_{part}")(cells.attention_block(STEPS=STEPS))
    assert judged_context(seam, {}) == 0


def judged_context(block: type, earlier: dict[str, Any]) -> float:
    slug = "distilbert/attention_context"
    exercise, cases = REFERENCES.exercise(slug), REFERENCES.cases(slug)
    earned = []
    for number, case in enumerate(cases):
        weights = {f"weights/{name}": array for name, array in case.weights.items()}
        stored = CaseInputs(slug, number, "torch", dict(case.config), {}, {**case.inputs, **weights})
        try:
            stored.compare(**check.calls.attention_context(block, stored))
        except (NameError, RuntimeError):
            return 0
        assert exercise.rule is not None
        earned.append(exercise.rule(exercise, case, Answers(stored._answers, "", earlier)).earned)
    return min(earned)


def test_each_step_can_be_checked_before_the_next_is_written() -> None:
    scores_only = cells.attention_block(STEPS="scores = q @ k.mT")
    check.attention_scores(scores_only)
    said(check.attention_weights, scores_only)
    no_context = cells.attention_block(STEPS="scores = q @ k.mT; weights = scores.softmax(-1)")
    check.attention_weights(no_context)
    assert "context" in said(check.attention_context, no_context)


@pytest.mark.parametrize("change", ["SKIP_ONE", "SKIP_TWO"])
def test_given_lines_that_were_changed_are_named(change: str) -> None:
    assert "residual" in said(check.attention_context, cells.attention_block(**{change: "0"}))


def test_a_block_that_changes_its_input_is_rejected() -> None:
    block = cells.attention_block(STEPS=STEPS + "; hidden_states.mul_(1)" + "; hidden_states += 1e-9")
    check.attention_scores(block)
    block = cells.attention_block(STEPS=STEPS, SKIP_ONE="hidden_states.add_(0.5).sub(0.5)")
    assert "in place" in said(check.attention_context, block)


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
