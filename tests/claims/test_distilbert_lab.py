"""The numbers in the texts of ``distilbert_lab`` follow from its cells, its stored measurements and the checkpoint."""

from typing import Any

import pytest
import torch

from course import distillation
from course.reviews import Batches, Reviews, load_reviews, paired
from tests.claims.texts import numbers, printed_numbers, run, says, tells

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
    losses, last = (torch.stack([runs[:, -1, at] for runs in space["histories"].values()]) for at in (0, 1))
    text = "the means are # for SGD, # for AdamW, and # for AdamW with the schedule"
    tells(TRAINING, "compare-notice", text, *last.mean(dim=1).tolist(), abs=0.01)
    text = "further, to #, where SGD ends at #."
    tells(TRAINING, "compare-notice", text, *losses.mean(dim=1)[[1, 0]].tolist(), abs=0.01)
    faster, scheduled = (last[1] - last[0]).sort().values, (last[2] - last[1]).sort().values  # (seeds,) each
    text = "with each of the five seeds, by # to #."
    tells(TRAINING, "compare-notice", text, float(faster[0]), float(faster[-1]), abs=0.005)
    text = "with the others it gains #, # and #: **five seeds do not show it.**"
    tells(TRAINING, "compare-notice", text, *scheduled[2:].tolist(), abs=0.005)
    assert faster[0] > 0 and scheduled[:2].abs().max() < 0.003
    text = "SGD ended between # and #, depending on the seed."
    tells(TRAINING, "compare-notice", text, float(last[0].min()), float(last[0].max()), abs=0.005)


def test_the_body_learns_its_reviews_by_heart(trained: dict[str, Any]) -> None:
    rows = [printed_numbers(line) for line in run(TRAINING, "body", given=dict(trained)).splitlines()]
    text = "The loss falls from # to #, but the accuracy, # at first, stops at #:"
    for last in (1, 2):
        tells(TRAINING, "body-notice", text, rows[0][0], rows[2][0], rows[0][1], rows[last][1], abs=0.03)


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
    true, shuffled = space["true"].tolist(), space["shuffled"]
    text = "# after the first layer, # after the fourth"
    tells(PROBING, "by-layer-notice", text, round(true[1], 2), round(true[4], 2), abs=0.011)
    assert abs(true[0] - 0.5) < 0.04 and true[5] == pytest.approx(true[4], abs=0.03)
    text = "single ones lie between # and #, and their mean is at chance"
    tells(PROBING, "by-layer-notice", text, float(shuffled.min()), float(shuffled.max()), abs=0.011)
    assert (shuffled.mean(dim=0) - 0.5).abs().max() < 0.01 and len(shuffled) == 20


def test_words_and_their_arbitrary_labels(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "selectivity", given=space)
    real, control = (values.tolist() for values in space["curves"].values())
    for text, *values in (
        ("are learned by heart to #, and the sentiment of the review can hardly be read, #.", control[0], real[0]),
        ("the word itself fades, down to #, and the review's sentiment comes in, up to #", control[6], real[6]),
        ("the probe's accuracy on the real task, #, is *lower*", real[3]),
    ):
        tells(PROBING, "selectivity-notice", text, *values, abs=0.011)
    assert real[3] < control[3]


def test_effects(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "effects", "together", given=space)
    direct, knocked_out = space["direct"], space["knocked_out"]
    sentences = space["sentences"]
    parts = torch.stack([space["attribute"](ids) * (1 if space["difference"](ids) > 0 else -1) for ids in sentences])
    whole, network = float(parts.sum(1).mean()), float(parts.mean(0)[-1])
    for cell, text, *values in (
        ("effects-notice", "# of a difference of #; most of the rest, #, is from the last network",
         float(direct[5].sum()), whole, network),
        ("effects-notice", "without it the difference falls by #.", float(knocked_out[3, 9])),
        ("effects-notice", "costs less than it wrote: # for all twelve", float(knocked_out[5].sum())),
        ("together-notice", "Together they cost #, and they wrote #.", float(space["lost"].sum()), sum(space["heads"])),
        ("together-notice", "Most of the rest, #, is lost by the network", space["network"]),
        ("together-notice", "all earlier layers count for # more", -float(space["lost"][:-13].sum())),
    ):  # fmt: skip
        tells(PROBING, cell, text, *values, abs=0.02)
    assert knocked_out[3, 9] == knocked_out.max()
    for row, (layer, head) in enumerate(((3, 9), (5, 10), (1, 7), (5, 0)), 1):
        values = (abs(float(effects[layer, head])) for effects in (direct, knocked_out))
        tells(PROBING, "exercise-disagree", f"| {row} | layer {layer}, head {head} | # | # |", *values, abs=0.011)


# --- notebook 2 -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    """The names of the cells with the table and the paired differences; ``printed``: what they print."""
    names: dict[str, Any] = {"distillation": distillation, "paired": paired}
    printed = [run(DISTILLATION, cell, given=names) for cell in ("table", "paired")]
    return names | {"printed": printed}


def accuracies(stored: dict[str, Any], name: str) -> list[float]:
    return [float((one.answers == stored["labels"]).float().mean()) for one in stored["rows"][name]]


def shares(stored: dict[str, Any], name: str) -> tuple[float, float]:
    """A way of training, in % of the teacher's accuracy, and in % of what this has above guessing."""
    (whole,), found = accuracies(stored, "teacher, 6 layers"), accuracies(stored, name)
    mean = sum(found) / len(found)
    return 100 * mean / whole, 100 * (mean - 0.5) / (whole - 0.5)


def agreement(stored: dict[str, Any], name: str) -> float:
    teacher = stored["rows"]["teacher, 6 layers"][0].answers
    found = [float((one.answers == teacher).float().mean()) for one in stored["rows"][name]]
    return 100 * sum(found) / len(found)


def notice_tells(text: str, *values: float, within: float = 0.5e-3) -> None:
    tells(DISTILLATION, "table-notice", text, *values, abs=within)


def test_the_table_has_a_line_for_each_row_and_no_number_of_its_own(stored: dict[str, Any]) -> None:
    lines = [line for line in stored["printed"][0].splitlines()[1:] if "int8" not in line]
    assert [line[:26].strip() for line in lines] == list(stored["rows"])
    for line, name in zip(lines, stored["rows"], strict=True):
        found = accuracies(stored, name)
        assert printed_numbers(line[26:])[: len(found)] == [pytest.approx(one, abs=0.5e-3) for one in found]


def test_the_untrained_layers_answer_one_thing_alone(stored: dict[str, Any]) -> None:
    (untrained,) = stored["rows"]["layers 0, 3, untrained"]
    text = "they answer *positive* every time, # times of #, and half of the reviews are."
    notice_tells(text, int(untrained.answers.sum()), len(stored["labels"]))
    assert untrained.answers.all() and stored["labels"].float().mean() == 0.5


def test_two_layers_in_a_third_of_the_time_and_three_in_half(stored: dict[str, Any]) -> None:
    rows, soft, more = stored["rows"], "layers 0, 3: soft", "layers 1, 3, 5: soft"
    (base,), (whole,) = rows["teacher, 6 layers"], accuracies(stored, "teacher, 6 layers")
    notice_tells("with soft targets they have #, # and #. On average", *accuracies(stored, soft))
    of_all, above = shares(stored, soft)
    text = "that is # % of their teacher's accuracy, #; of what the teacher has above guessing it is # %."
    notice_tells(text, of_all, whole, above, within=0.5)
    notice_tells("the same as their teacher on # % of the reviews", agreement(stored, soft), within=0.5)
    notice_tells("Layers 1, 3 and 5 have #, # and #,", *accuracies(stored, more))
    text = "which is # % of the teacher's accuracy, or # % of what it has above guessing, in half of its time"
    notice_tells(text, *shares(stored, more), within=0.5)
    for name, part in ((soft, 3), (more, 2)):
        assert len(rows[name]) == 3
        assert rows[name][0].seconds == pytest.approx(base.seconds / part, rel=0.05)
    in_int8 = [float((one.in_int8 == stored["labels"]).float().mean()) for one in rows[soft]]
    moved = max(abs(a - b) for a, b in zip(in_int8, accuracies(stored, soft), strict=True))
    notice_tells("the accuracy moves by # at most", moved)


def test_hard_labels_beside_soft_targets(stored: dict[str, Any]) -> None:
    hard = "layers 0, 3: hard labels"
    notice_tells("With hard labels they have #, # and #,", *accuracies(stored, hard))
    notice_tells("and agree with the teacher on # %", agreement(stored, hard), within=0.5)
    says(DISTILLATION, "end", "with hard labels the student is just as good")
    lines = stored["printed"][1].splitlines()[2:]
    apart = [printed_numbers(line[44:].replace("+", "")) for line in lines]  # difference and error, three times
    beyond = [all(one > 2 * error for one, error in zip(found[::2], found[1::2], strict=True)) for found in apart]
    assert beyond == [True, False, True, False]


def test_the_teacher_is_nearly_sure_of_the_reviews_that_its_student_learns_from() -> None:
    (least,) = numbers(DISTILLATION, "end", "in nine of ten training reviews it gives one class more than #,")
    model, train = distillation.teacher(), load_reviews().train
    with torch.no_grad():
        batches = Batches.of(Reviews(train.texts[::20], train.labels[::20]), size=32, max_tokens=64)
        sure = torch.cat([model(ids)[0].softmax(dim=-1).amax(dim=-1) for ids, _ in batches.epoch()])
    assert float((sure > least).float().mean()) == pytest.approx(0.9, abs=0.05)


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
    before, after, losses = names["before"].accuracy, names["after"].accuracy, names["losses"]
    assert len(losses) == 60
    first, last = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    for text, values, within in (
        ("the three inherited layers have an accuracy of #:", [before], 0.005),
        ("Sixty steps bring #, at half of the teacher's time.", [after], 0.02),
        ("The gain, #, is less than two of its paired errors, # each", [names["gain"], names["error"]], 0.002),
        ("the loss falls, from # to #,", [first, last], 0.1),
    ):
        tells(DISTILLATION, "distil-notice", text, *values, abs=within)
