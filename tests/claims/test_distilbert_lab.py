"""The numbers in the texts of ``distilbert_lab`` follow from its cells, its stored measurements and the checkpoint."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course import distillation
from tests.claims.texts import numbers, printed_numbers, run, says

TRAINING, DISTILLATION, PROBING = (f"distilbert_lab/{name}" for name in ("1_training", "2_distillation", "3_probing"))

pytestmark = pytest.mark.slow


# --- notebook 1 -------------------------------------------------------------------------------------------------------


def test_adamw_by_hand_is_that_of_torch_over_200_steps() -> None:
    names: dict[str, Any] = {}
    printed = run(TRAINING, "imports", "adamw_step_answer", "parity", given=names)
    assert "after 200 steps" in printed
    assert float((names["weight"] - names["theirs"].detach()).abs().max()) < 1e-12


@pytest.fixture(scope="module")
def trained() -> dict[str, Any]:
    names: dict[str, Any] = {}
    answers = ("training_step_answer", "fit_answer", "schedule_answer", "adamw_step_answer")
    run(TRAINING, "imports", "data", *answers, "by-hand", given=names)
    return names


def test_without_zero_grad_the_loss_rises(trained: dict[str, Any]) -> None:
    space = {**trained, "lab": _NoFigures}
    run(TRAINING, "zero-grad", given=space)
    says(TRAINING, "zero-grad-notice", "The blue line falls slowly. The orange line rises")
    falls, rises = space["losses"](torch.optim.SGD), space["losses"](space["Forgetful"])
    assert falls[-1] < falls[0] < rises[0] < rises[-1]


def test_five_seeds_of_three_ways_to_train(trained: dict[str, Any]) -> None:
    space = dict(trained)
    run(TRAINING, "compare", given=space)
    told = numbers(
        TRAINING, "compare-notice", "are # ± # for SGD, # ± # for AdamW, and # ± # for AdamW with the schedule"
    )
    found = [runs[:, -1, 1] for runs in space["histories"].values()]
    means = [float(one.mean()) for one in found]
    errors = [float(one.std()) / 5**0.5 for one in found]
    assert means == pytest.approx(told[::2], abs=0.01)
    assert errors == pytest.approx(told[1::2], abs=0.004)
    for one, other, sentence in (
        (
            1,
            2,
            "The means are # apart, and two standard errors of this difference are #: **five seeds do not show it.**",
        ),
        (0, 1, "AdamW beats SGD: #, where two standard errors are #."),
    ):
        apart, bound = numbers(TRAINING, "compare-notice", sentence)
        assert means[other] - means[one] == pytest.approx(apart, abs=0.01)
        assert 2 * (errors[one] ** 2 + errors[other] ** 2) ** 0.5 == pytest.approx(bound, abs=0.01)
        assert apart < bound
    low, high = numbers(TRAINING, "compare-notice", "SGD ended between # and #, depending on the seed.")
    assert [float(found[0].min()), float(found[0].max())] == pytest.approx([low, high], abs=0.015)
    assert float(found[2].max() - found[2].min()) < float(found[0].max() - found[0].min())


def test_the_body_learns_its_reviews_by_heart(trained: dict[str, Any]) -> None:
    rows = [printed_numbers(line) for line in run(TRAINING, "body", given=dict(trained)).splitlines()]
    first, last, at_first, at_last = numbers(
        TRAINING, "body-notice", "The loss falls from # to #, but the accuracy, # at first, stops at #:"
    )
    assert [rows[0][0], rows[2][0]] == pytest.approx([first, last], abs=0.03)
    assert [rows[0][1], rows[1][1], rows[2][1]] == pytest.approx([at_first, at_last, at_last], abs=0.03)


class _NoFigures:
    """In place of course.figures.lab"""

    losses = lines = two_effects = staticmethod(lambda *given, **more: None)


# --- notebook 3 -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def probed() -> dict[str, Any]:
    names: dict[str, Any] = {}
    answers = ("probe_answer", "control_labels_answer", "head_parts_answer", "through_norm_answer")
    run(PROBING, "imports", "states", *answers, "accuracy", "attribute", given=names)
    names["lab"] = _NoFigures
    return names


def test_the_parts_sum_to_the_logit_within_a_hundred_thousandth(probed: dict[str, Any]) -> None:
    assert max(probed["gaps"]) < 1e-5


def test_accuracies_by_layer(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "by-layer", given=space)
    first, fourth = numbers(PROBING, "by-layer-notice", "# after the first layer, # after the fourth")
    means = [mean for mean, _ in space["curves"]["sentiment, read at [CLS]"]]
    assert [round(means[1], 2), round(means[4], 2)] == pytest.approx([first, fourth], abs=0.011)
    assert abs(means[0] - 0.5) < 0.04 and means[5] == pytest.approx(means[4], abs=0.03)
    assert all(abs(mean - 0.5) < 0.07 for mean, _ in space["curves"]["labels shuffled"])


def test_words_and_their_arbitrary_labels(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "selectivity", given=space)
    real, control = ([mean for mean, _ in values] for values in space["curves"].values())
    (by_heart, at_first) = numbers(
        PROBING,
        "selectivity-notice",
        "are learned by heart to #, and the sentiment of the review can hardly be read, #.",
    )
    faded, at_last = numbers(
        PROBING, "selectivity-notice", "the word itself fades, down to #, and the review's sentiment comes in, up to #"
    )
    (third,) = numbers(PROBING, "selectivity-notice", "the probe's accuracy on the real task, #, is *lower*")
    found = [control[0], real[0], control[6], real[6], real[3]]
    assert found == pytest.approx([by_heart, at_first, faded, at_last, third], abs=0.011)
    assert real[3] < control[3]


def test_effects(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "effects", "together", given=space)
    direct, knocked_out = space["direct"], space["knocked_out"]
    last, whole, network = numbers(
        PROBING, "effects-notice", "# of a difference of #; most of the rest, #, is from the last network"
    )
    (missing,) = numbers(PROBING, "effects-notice", "without it the difference falls by #.")
    (one_by_one,) = numbers(PROBING, "effects-notice", "costs less than it wrote: # for all twelve")
    (together,) = numbers(PROBING, "together-notice", "Together they cost #.")
    sentences = space["sentences"]
    parts = torch.stack([space["attribute"](ids) * (1 if space["difference"](ids) > 0 else -1) for ids in sentences])
    assert float(direct[5].sum()) == pytest.approx(last, abs=0.02)
    assert float(parts.sum(1).mean()) == pytest.approx(whole, abs=0.02)
    assert float(parts.mean(0)[-1]) == pytest.approx(network, abs=0.02)
    assert float(knocked_out[3, 9]) == pytest.approx(missing, abs=0.02) == knocked_out.max()
    assert float(knocked_out[5].sum()) == pytest.approx(one_by_one, abs=0.02)
    assert space["total"] == pytest.approx(together, abs=0.02)
    heads = [(layer, head) for layer, head in ((3, 9), (5, 10), (1, 7), (5, 0))]
    for row, (layer, head) in enumerate(heads, 1):
        told = numbers(PROBING, "exercise-disagree", f"| {row} | layer {layer}, head {head} | # | # |")
        assert told == pytest.approx([abs(float(direct[layer, head])), abs(float(knocked_out[layer, head]))], abs=0.011)


# --- notebook 2 -------------------------------------------------------------------------------------------------------


def test_the_stored_table_says_what_the_text_says() -> None:
    rows = distillation.stored("distilled")
    printed = run(DISTILLATION, "table", given={"distillation": distillation})
    (base,), (untrained,), student = (
        rows["teacher, 6 layers"],
        rows["layers 0, 3, untrained"],
        rows["layers 0, 3: soft"],
    )
    assert len(student) == 3 and "int8" in printed
    mean, error = distillation.mean_and_error([one["accuracy"] for one in student])
    (coin,) = numbers(DISTILLATION, "table-notice", "the two layers answer like a coin: #.")
    told = numbers(
        DISTILLATION, "table-notice", "the student has # ± #. That is # % of its teacher's accuracy, #, in a third of"
    )
    (agreement,) = numbers(DISTILLATION, "table-notice", "the same as its teacher on # % of the reviews")
    assert [coin, *told] == pytest.approx(
        [untrained["accuracy"], mean, error, 100 * mean / base["accuracy"], base["accuracy"]], abs=0.5e-3, rel=5e-3
    )
    assert mean >= 0.9 * base["accuracy"]
    assert sum(one["seconds"] for one in student) / 3 == pytest.approx(base["seconds"] / 3, rel=0.05)
    assert 100 * distillation.mean_and_error([one["agreement"] for one in student])[0] == pytest.approx(
        agreement, abs=0.5
    )
    in_int8 = [one["int8 accuracy"] for one in student]
    assert abs(distillation.mean_and_error(in_int8)[0] - mean) < error


def test_nothing_but_the_copied_layers_of_the_student_is_new() -> None:
    names: dict[str, Any] = {}
    run(DISTILLATION, "imports", "student_from_answer", given=names)
    teacher = distillation.teacher()
    student = names["student_from"](teacher, [1, 3, 5])
    assert len(teacher.layers) == 6
    theirs, own = teacher.state_dict(), student.state_dict()
    for name, weight in own.items():
        part = name.replace("layers.1", "layers.3").replace("layers.2", "layers.5") if name[:8] != "layers.0" else name
        part = name.replace("layers.0", "layers.1") if name[:8] == "layers.0" else part
        assert torch.equal(weight, theirs[part]) and weight.data_ptr() != theirs[part].data_ptr()


def test_sixty_steps_of_distillation() -> None:
    names: dict[str, Any] = {}
    answers = ("student_from_answer", "soft_loss_answer", "hidden_loss_answer", "distil_step_answer")
    run(DISTILLATION, "imports", "teacher", *answers, "train", "distil", given=names)
    (before,) = numbers(DISTILLATION, "distil-notice", "the three inherited layers have an accuracy of #:")
    (after,) = numbers(DISTILLATION, "distil-notice", "Sixty steps bring #, at half of the teacher's time.")
    (error,) = numbers(DISTILLATION, "distil-notice", "On 500 reviews an accuracy has a standard error of about #,")
    first, last = numbers(DISTILLATION, "distil-notice", "the loss falls, from # to #,")
    assert names["before"].accuracy == pytest.approx(before, abs=0.005)
    assert names["after"].accuracy == pytest.approx(after, abs=0.02)
    assert (after * (1 - after) / 500) ** 0.5 == pytest.approx(error, abs=0.001)
    assert len(names["losses"]) == 60
    assert sum(names["losses"][:10]) / 10 == pytest.approx(first, abs=0.1)
    assert sum(names["losses"][-10:]) / 10 == pytest.approx(last, abs=0.1)
    assert names["after"].seconds == pytest.approx(names["first"].seconds / 2, rel=0.25)
