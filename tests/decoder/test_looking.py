"""Notebook 5 of the decoder: what its model can do, what its texts say of it, and its stretch goal."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course.check import decoder as check
from course.check.decoder import _ready
from course.modern_parts import ready_rotate
from course.small_decoder import SIZES, SmallDecoder, repeated_tokens, trained_decoder
from tests.grading import solution

NOTEBOOK, PERIOD = "5_looking_inside", 16


@pytest.fixture(scope="module")
def space() -> dict[str, Any]:
    """The notebook's own functions."""
    found: dict[str, Any] = {"torch": torch, "nn": nn}
    for name in ("induction_score", "knock_out", "patch"):
        exec(solution("decoder", NOTEBOOK, f"{name}_answer"), found)
    return found


@pytest.fixture(scope="module")
def ids() -> torch.Tensor:
    return repeated_tokens(100, PERIOD, seed=9)


@torch.no_grad()
def right(logits: torch.Tensor, ids: torch.Tensor) -> float:
    """How often the next token is right in the second round."""
    return float((logits[:, PERIOD:-1].argmax(-1) == ids[:, PERIOD + 1 :]).float().mean())


def test_the_model_copies_the_first_round_and_knows_nothing_in_it(ids: torch.Tensor) -> None:
    with torch.no_grad():
        logits = trained_decoder()(ids)
    assert right(logits, ids) > 0.98
    first = logits[:, : PERIOD - 1].argmax(-1) == ids[:, 1:PERIOD]
    assert float(first.float().mean()) < 0.05


def test_induction_heads_are_in_layer_one_and_two_heads_before_look_at_the_previous_token(
    space: dict[str, Any], ids: torch.Tensor
) -> None:
    attentions = trained_decoder().attentions(ids)
    before, behind = (space["induction_score"](weights, PERIOD) for weights in attentions)
    assert before.max() < 0.1 and behind.min() > 0.9
    previous = attentions[0].diagonal(-1, -2, -1).mean((0, 2))
    assert (previous > 0.8).tolist() == [True, False, True, False]


def test_one_induction_head_is_not_missed_and_all_of_them_are(space: dict[str, Any], ids: torch.Tensor) -> None:
    model = trained_decoder()
    share = lambda layer, heads: right(space["knock_out"](model, ids, layer, heads), ids)  # noqa: E731
    assert min(share(1, [head]) for head in range(4)) > 0.98
    assert share(1, [0, 1, 2, 3]) < 0.05
    assert share(0, [0, 2]) < 0.2
    assert share(0, []) > 0.98, "no hook was left"


def test_knocking_out_is_the_same_as_weights_of_zero(space: dict[str, Any], ids: torch.Tensor) -> None:
    model = trained_decoder()
    silent = space["knock_out"](model, ids[:4], 1, [2])
    model.layers[1].self_attn.o_proj.weight.data[:, 32:48] = 0
    torch.testing.assert_close(silent, model(ids[:4]), atol=1e-5, rtol=1e-5)


def test_patching_every_token_in_turn_ends_in_the_clean_run_at_the_last_layer(
    space: dict[str, Any], ids: torch.Tensor
) -> None:
    model, clean, corrupted = trained_decoder(), ids[:2], ids[2:4]
    with torch.no_grad():
        want = model(clean)
        for token in (0, 5, 31):
            torch.testing.assert_close(space["patch"](model, clean, corrupted, 1, token)[:, token], want[:, token])


def test_the_small_decoder_is_torchs_attention_with_rotated_queries_and_keys() -> None:
    torch.manual_seed(0)
    model, ids = SmallDecoder(**SIZES), torch.randint(64, (2, 7))
    angles = torch.arange(7)[:, None] * 10000 ** (-torch.arange(0, 16, 2) / 16)
    cos, sin = (torch.cat([table, table], -1) for table in (angles.cos(), angles.sin()))
    x = model.embed_tokens(ids)
    for layer in model.layers:
        normed = F.rms_norm(x, (64,), layer.input_layernorm.weight, 1e-6)
        own = layer.self_attn
        q, k, v = (part(normed).unflatten(-1, (4, 16)).transpose(1, 2) for part in (own.q_proj, own.k_proj, own.v_proj))
        mixed = F.scaled_dot_product_attention(ready_rotate(q, cos, sin), ready_rotate(k, cos, sin), v, is_causal=True)
        x = x + own.o_proj(mixed.transpose(1, 2).flatten(2))
    want = model.lm_head(F.rms_norm(x, (64,), model.norm.weight, 1e-6))
    torch.testing.assert_close(model(ids), want, atol=1e-5, rtol=1e-5)


def test_a_hook_that_is_left_is_counted_and_taken_off() -> None:
    def forgetful(model: Any, ids: torch.Tensor) -> Any:
        model.layers[0].register_forward_hook(lambda *given: None)
        return model(ids)

    model = _ready.small_model()
    found = _ready.called(forgetful, model, (torch.zeros(1, 3, dtype=torch.long),), (torch.ones(1, 3).long(),))
    assert (found["hooks"], found["changed"], _ready.clear_hooks(model)) == (2, False, 0)


def test_the_stretch_goal_may_be_left_and_is_checked_where_it_is_begun(
    capsys: pytest.CaptureFixture[str], space: dict[str, Any]
) -> None:
    def untouched(*given: Any) -> Any:
        raise NotImplementedError

    check.mean_knock_out(untouched)
    assert "not begun" in capsys.readouterr().out
    with pytest.raises(AssertionError, match="its own mean"):
        check.mean_knock_out(space["knock_out"])
