"""The numbers in the texts of ``distilbert_lab`` follow from its cells, its stored measurements and the checkpoint."""

from typing import Any

import pytest
import torch

from course import distillation
from course.reviews import Batches, Reviews, load_reviews
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
    text = "are # ± # for SGD, # ± # for AdamW, and # ± # for AdamW with the schedule"
    told = numbers(TRAINING, "compare-notice", text)
    runs = [history[:, -1, 1] for history in space["histories"].values()]
    means, errors = [float(run.mean()) for run in runs], [float(run.std()) / 5**0.5 for run in runs]
    assert means == pytest.approx(told[::2], abs=0.01)
    assert errors == pytest.approx(told[1::2], abs=0.004)
    no_difference = "two standard errors of this difference are #: **five seeds do not show it.**"
    for first, second, text in (
        (1, 2, f"The means are # apart, and {no_difference}"),
        (0, 1, "AdamW beats SGD: #, where two standard errors are #."),
    ):
        bound = 2 * (errors[first] ** 2 + errors[second] ** 2) ** 0.5
        tells(TRAINING, "compare-notice", text, means[second] - means[first], bound, abs=0.01)
        apart, bound = numbers(TRAINING, "compare-notice", text)
        assert apart < bound
    text = "SGD ended between # and #, depending on the seed."
    tells(TRAINING, "compare-notice", text, float(runs[0].min()), float(runs[0].max()), abs=0.015)
    assert float(runs[2].max() - runs[2].min()) < float(runs[0].max() - runs[0].min())


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
    means = [mean for mean, _ in space["curves"]["sentiment, read at [CLS]"]]
    text = "# after the first layer, # after the fourth"
    tells(PROBING, "by-layer-notice", text, round(means[1], 2), round(means[4], 2), abs=0.011)
    assert abs(means[0] - 0.5) < 0.04 and means[5] == pytest.approx(means[4], abs=0.03)
    assert all(abs(mean - 0.5) < 0.07 for mean, _ in space["curves"]["labels shuffled"])


def test_words_and_their_arbitrary_labels(probed: dict[str, Any]) -> None:
    space = dict(probed)
    run(PROBING, "selectivity", given=space)
    real, control = ([mean for mean, _ in values] for values in space["curves"].values())
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
        ("together-notice", "Together they cost #.", space["total"]),
    ):  # fmt: skip
        tells(PROBING, cell, text, *values, abs=0.02)
    assert knocked_out[3, 9] == knocked_out.max()
    for row, (layer, head) in enumerate(((3, 9), (5, 10), (1, 7), (5, 0)), 1):
        values = (abs(float(effects[layer, head])) for effects in (direct, knocked_out))
        tells(PROBING, "exercise-disagree", f"| {row} | layer {layer}, head {head} | # | # |", *values, abs=0.011)


# --- notebook 2 -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> Any:
    return distillation.stored("distilled")


def mean_and_error(runs: list[dict[str, float]], column: str) -> tuple[float, float]:
    return distillation.mean_and_error([run[column] for run in runs])


def notice_tells(text: str, *values: float) -> None:
    tells(DISTILLATION, "table-notice", text, *values, abs=0.5e-3, rel=5e-3)


def test_the_table_has_a_line_for_each_row_and_no_number_of_its_own(rows: Any) -> None:
    printed = run(DISTILLATION, "table", given={"distillation": distillation}).splitlines()
    assert [line[:24].strip() for line in printed[1:] if "int8" not in line] == list(rows)
    for line, runs in zip((line for line in printed[1:] if "int8" not in line), rows.values(), strict=True):
        mean, error = mean_and_error(runs, "accuracy")
        assert line[24:].split()[:3] == [f"{mean:.3f}", "±", f"{error:.3f}"]


def test_two_layers_have_nine_tenths_of_the_accuracy_in_a_third_of_the_time(rows: Any) -> None:
    (base,), (untrained,) = rows["teacher, 6 layers"], rows["layers 0, 3, untrained"]
    student = rows["layers 0, 3: soft"]
    assert len(student) == 3
    (mean, error), whole = mean_and_error(student, "accuracy"), base["accuracy"]
    notice_tells("the two layers answer like a coin: #.", untrained["accuracy"])
    text = "they have # ± #. That is # % of their teacher's accuracy, #, in a third of"
    notice_tells(text, mean, error, 100 * mean / whole, whole)
    agreement = 100 * mean_and_error(student, "agreement")[0]
    tells(DISTILLATION, "table-notice", "the same as their teacher on # % of the reviews", agreement, abs=0.5)
    assert mean >= 0.9 * whole
    assert mean_and_error(student, "seconds")[0] == pytest.approx(base["seconds"] / 3, rel=0.05)
    assert abs(mean_and_error(student, "int8 accuracy")[0] - mean) < error


def test_a_third_layer_costs_half_of_the_time(rows: Any) -> None:
    (base,), student = rows["teacher, 6 layers"], rows["layers 1, 3, 5: soft"]
    assert len(student) == 3
    mean, error = mean_and_error(student, "accuracy")
    text = "5 have # ± #. That is # % of the teacher's accuracy, in half of its time"
    notice_tells(text, mean, error, 100 * mean / base["accuracy"])
    assert mean_and_error(student, "seconds")[0] == pytest.approx(base["seconds"] / 2, rel=0.05)


def test_hard_labels_beside_soft_targets(rows: Any) -> None:
    soft, hard = rows["layers 0, 3: soft"], rows["layers 0, 3: hard labels"]
    assert len(hard) == 3
    mean, error = mean_and_error(hard, "accuracy")
    agreement = 100 * mean_and_error(hard, "agreement")[0]
    notice_tells("labels they have # ± #, and agree with the teacher on # %", mean, error, agreement)
    apart = abs(mean - mean_and_error(soft, "accuracy")[0])
    says(DISTILLATION, "end", "with hard labels the student is just as good")
    assert apart < error


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
    error = (after * (1 - after) / 500) ** 0.5
    assert len(losses) == 60
    first, last = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    for text, values, within in (
        ("the three inherited layers have an accuracy of #:", [before], 0.005),
        ("Sixty steps bring #, at half of the teacher's time.", [after], 0.02),
        ("On 500 reviews an accuracy has a standard error of about #,", [error], 0.001),
        ("the loss falls, from # to #,", [first, last], 0.1),
    ):
        tells(DISTILLATION, "distil-notice", text, *values, abs=within)
