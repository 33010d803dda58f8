"""Rules of this assignment's exercises, and the mistakes that they name."""

import numpy as np

from .._rules import (
    Answers,
    Case,
    Exercise,
    Judgement,
    Mistake,
    compare_case,
    named,
    pure,
    right,
    with_properties,
    without_side_effects,
    wrong,
)

GRAPH = Mistake(
    "LOSS-graph",
    "The loss comes back as a tensor, together with the graph of the whole step: memory fills up.",
    "A number: loss.item().",
    share=0.5,
)
MODE = Mistake(
    "FIT-mode",
    "Steps are made in eval mode: after the first measuring, dropout stays switched off.",
    "model.train() at the beginning of every epoch.",
    share=0.5,
)
EVAL_STEP = Mistake(
    "T-eval",
    "The model is in eval mode during the step, or after it: its dropout is switched off.",
    "Whoever trains has called model.train(); a step leaves the mode as it is.",
    share=0.5,
)
EVAL_MODE = Mistake(
    "FIT-eval",
    "The accuracy is measured in train mode, where dropout is at work.",
    "model.eval() before measuring.",
    share=0.5,
)
GRADIENTS = Mistake(
    "NO-GRAD", "Gradients are recorded where nobody needs them.", "with torch.no_grad(): around it.", share=0.5
)
GRADIENTS_OFF = Mistake(
    "GRAD-off",
    "Gradients are still switched off after the call: nothing can be trained any more.",
    "with torch.no_grad(): switches them on again at its end; torch.set_grad_enabled(False) alone does not.",
    share=0.5,
)
SHARED = Mistake(
    "SHARED",
    "The student's weights are the teacher's own: training one changes the other.",
    "Copy before you choose: copy.deepcopy.",
)
SPOILED = Mistake(
    "SPOILED", "The teacher is another one afterwards.", "Work on a copy: the teacher keeps all its layers."
)
LEAKY = Mistake(
    "LEAKY", "The gradient reaches the teacher's logits.", "They are fixed targets: detach() them.", share=0.5
)
LEARNED = Mistake(
    "LEARNED", "The teacher gets gradients, too.", "with torch.no_grad(): around the teacher's call.", share=0.5
)
TEACHER_MODE = Mistake(
    "TEACHER-mode",
    "The teacher runs in train mode: its dropout makes other targets in every step.",
    "teacher.eval() before it is called.",
    share=0.5,
)
SCALE = Mistake(
    "Q-far",
    "A number came back further from the original than half a step of its row.",
    "The nearest whole number: torch.round. The row's largest number becomes 127.",
)
KIND = Mistake("Q-kind", "The whole numbers are not stored as int8.", ".to(torch.int8)", share=0.5)
TYPE = Mistake("C-type", "A word has one label here and another one there.", "One label for each word *type*.")
TEST = Mistake(
    "C-test",
    "In the test half a word has another label than in the training half.",
    "Draw one table for all words, and look both halves up in it.",
)
CHANCE = Mistake(
    "C-chance", "The labels are the same for every generator.", "Draw them: torch.randint(…, generator=…)."
)
GENERATOR = Mistake(
    "C-generator",
    "With the same generator the labels differ: they were not drawn from it.",
    "torch.randint(…, generator=generator).",
)
UNEVEN = Mistake("C-uneven", "One of the two labels is far more frequent.", "Both equally likely: randint(2, …).")

#: Answers that are flags: whether something happened that must not. The mistake is then named.
_FLAGS = {
    "graph": GRAPH,
    "learned": LEARNED,
    "mode": MODE,
    "eval_mode": EVAL_MODE,
    "gradients": GRADIENTS,
    "gradients_off": GRADIENTS_OFF,
    "eval_step": EVAL_STEP,
    "shared": SHARED,
    "spoiled": SPOILED,
    "leaky": LEAKY,
    "teacher_mode": TEACHER_MODE,
}


def _flagged(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """The numbers first; then whether something happened on the way that must not."""
    judgement = compare_case(exercise, case, answers)
    if judgement.earned == 1:
        for name, mistake in _FLAGS.items():
            found = answers.arrays.get(name)
            if found is not None and found.any():
                return named(exercise, mistake.id)
    return judgement


flagged = without_side_effects(_flagged)


def _back_again(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """What comes back is compared; a known mistake is named, else how far off it is, or the kind of the numbers."""
    judgement = compare_case(exercise, case, answers)
    codes = answers.arrays.get("codes")
    if judgement.earned == 1 and codes is not None and codes.dtype != np.int8:  # the hidden cell always hands them over
        return named(exercise, "Q-kind")
    return judgement


back_again = without_side_effects(_back_again)


def one_label_per_type(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Labels by chance cannot be compared with stored ones: what must hold of them is looked at."""
    halves = [answers.arrays.get(name) for name in ("train", "test", "other")]
    words = [case.inputs["train_words"], case.inputs["test_words"], case.inputs["train_words"]]
    for labels, there in zip(halves, words, strict=True):
        if labels is None or labels.shape != there.shape:
            message = "Two tensors of labels are expected, one for each half, as long as the words."
            return wrong("labels", message, "Look up the table: table[train_words].")
        if not np.isin(labels, (0, 1)).all():
            return wrong("labels", "Only the labels 0 and 1 are expected.", "torch.randint(2, …)")
    train, test, other = halves
    assert train is not None and test is not None and other is not None
    known = [_table(labels, there) for labels, there in zip(halves, words, strict=True)]
    if known[0] is None or known[1] is None:
        return named(exercise, "C-type")
    if any(known[1].get(word, label) != label for word, label in known[0].items()):
        return named(exercise, "C-test")
    share = np.mean(list(known[0].values()))
    if not 0.3 < share < 0.7:
        return named(exercise, "C-uneven")
    if np.array_equal(train, other):
        return named(exercise, "C-chance")
    repeated = answers.arrays.get("repeated")
    if repeated is not None and not repeated.all():
        return named(exercise, "C-generator")
    changed = answers.arrays.get("changed")
    return named(exercise, "CHANGED") if changed is not None and changed.any() else right("labels")


def _table(labels: np.ndarray | None, words: np.ndarray) -> dict[int, int] | None:
    """word -> its label; None where one has both"""
    table: dict[int, int] = {}
    assert labels is not None
    for word, label in zip(words.tolist(), labels.tolist(), strict=True):
        if table.setdefault(word, label) != label:
            return None
    return table


standardised = with_properties(pure, {
    "moved": ("Where the same is added to every vector of both halves, the scores should stay. Yours change.",
              "The mean of the training half is subtracted from both halves."),
    "stretched": ("Where a feature is measured in another unit in both halves, the scores should stay. Yours change.",
                  "Both halves are divided by the standard deviation of the training half."),
})  # fmt: skip
soft_distance = with_properties(flagged, {
    "of_itself": ("Of a teacher and itself the loss should be 0. Yours is {yours}.",
                  "Are both softened in the same way, and compared with each other?"),
    "raised": ("Where all logits of a row are raised by the same number, the loss should stay. Yours changes.",
               "A softmax over the classes, for student and teacher."),
    "twice": ("Where the batch stands there twice, the loss should stay. Yours changes.", "A mean over the batch."),
})  # fmt: skip
cosine_distance = with_properties(pure, {
    "of_itself": ("Of hidden states and themselves the loss should be 0. Yours is {yours}.", "One minus the cosine."),
    "longer": ("Where vectors become longer, their cosine stays, and so should the loss. Yours changes.",
               "The cosine divides by both lengths."),
    "padded": ("What stands at padding should change nothing. Yours changes.", "Only tokens where real is True."),
})  # fmt: skip
