"""``Transformer.forward`` from ids to log-probabilities, without padding: padding is another exercise's business."""

from __future__ import annotations

import numpy as np

from autograder.exercise import SIDE_EFFECTS, Case, Exercise, Mistake, dropout_at_work, same_twice, without_side_effects

from .._classifier import ClassifierVariant, draw, forward


def make(generator: np.random.Generator) -> list[Case]:
    return [draw(generator, 3, 5, 6, 4, (5, 5, 5)), draw(generator, 4, 7, 8, 2, (7, 7, 7, 7))]


def _known(id: str, message: str, hint: str, **wrong: str) -> Mistake:
    variant = ClassifierVariant(**wrong)
    return Mistake(id, message, hint, lambda case: {"log_probabilities": forward(case, variant)}, variant)


FORWARD_MISTAKES = [
    _known("M15-logits", "These are raw scores; log-probabilities are asked for.",
           "log_softmax over the classes comes last.", end="logits"),
    _known("M15-softmax", "These are probabilities; their logarithms are asked for.",
           "nll_loss wants log-probabilities.", end="softmax"),
    _known("M15-axis", "The log_softmax runs over the sentences of the batch.",
           "Each sentence's probabilities sum to 1.", end="batch"),
    _known("M15-negative", "The sign is wrong: log-probabilities are never positive.",
           "nll_loss brings its own minus.", end="negative"),
    _known("M15-all", "The average is not taken over the tokens.", "Which axis counts the tokens?", pool="max"),
    _known("M15-first", "Only the first token reaches the classifier.", "Average over all real tokens.", pool="first"),
    _known("M15-last", "Only the last token reaches the classifier.", "Average over all real tokens.", pool="last"),
    _known("M15-sum", "The tokens are summed, not averaged.", "A long sentence must not count more than a short one.",
           pool="sum"),
    _known("EMB-scale", "The token vectors were not multiplied by √k.", "They are, before the positions are added.",
           scale="none"),
    _known("EMB-scale-k", "The token vectors were multiplied by k; by its square root they should be.", "√k.",
           scale="k"),
    _known("EMB-divided", "The token vectors were divided by √k.", "Multiplied they should be.", scale="divided"),
    _known("M11-none", "The positions were not added.", "pos_enc does it.", positions="none"),
    _known("M11-before", "The positions were added before the factor √k, and so they grew with it.",
           "First the factor, then the positions.", positions="before"),
    _known("M14-none", "No block was called.", "Each block of transformer_blocks, one after the other.",
           blocks="none"),
    _known("M14-first", "Only the first block was used.", "What one block gives is what the next one takes.",
           blocks="first"),
    _known("M14-last", "Every block got the same input, and the last one's output was kept.",
           "What one block gives is what the next one takes.", blocks="last"),
    _known("M14-reversed", "The blocks were called from the last to the first.", "Block 0 comes first.",
           blocks="reversed"),
]  # fmt: skip
MISTAKES = [*FORWARD_MISTAKES, dropout_at_work("The log-probabilities"), *SIDE_EFFECTS]

EXERCISE = Exercise(make, without_side_effects(same_twice("log_probabilities")), MISTAKES, framework="torch")
