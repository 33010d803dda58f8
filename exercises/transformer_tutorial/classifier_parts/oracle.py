"""The parts that ``Transformer.__init__`` makes: an embedding, as many blocks as depth says, and a head."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Answers, Case, Check, Exercise, Judgement, Mistake, compare_case, named

Array = np.ndarray


def make(generator: np.random.Generator) -> list[Case]:
    cases = []
    for k, heads, depth, seq_length, num_tokens, num_classes in ((6, 2, 4, 9, 13, 3), (8, 4, 3, 11, 17, 5)):
        config = {"k": k, "heads": heads, "depth": depth, "seq_length": seq_length, "num_tokens": num_tokens,
                  "num_classes": num_classes}  # fmt: skip
        expected = {"token_embedding": np.array([num_tokens, k]), "classification_head": np.array([num_classes, k]),
                    "blocks": np.array(depth), "distinct": np.array(depth), "registered": np.array(depth)}  # fmt: skip
        cases.append(Case(config, expected=expected))
    return cases


MISTAKES = [
    Mistake("M14-list", "The blocks stand in a plain Python list: the model does not know that they belong to it.",
            "nn.ModuleList and nn.Sequential register what they hold; a list does not.",
            lambda case: {"registered": np.array(0)}),
    Mistake("M14-one", "There is a single block, whatever depth says.", "As many as depth says.",
            lambda case: {"blocks": np.array(1), "distinct": np.array(1)}),
    Mistake("M14-repeated", "One and the same block is used at every depth.", "Make a new one each time round.",
            lambda case: {"distinct": np.array(1)}),
    Mistake("M14-heads", "There are as many blocks as heads.", "As many as depth says.",
            lambda case: {"blocks": np.array(case.config["heads"])}),
    Mistake("PART-turned", "The embedding has one row for each of the k dimensions.",
            "One row per entry of the vocabulary, k numbers each.",
            lambda case: {"token_embedding": np.array([case.config["k"], case.config["num_tokens"]])}),
    Mistake("PART-length", "The embedding has one row for each position.",
            "One row per entry of the vocabulary, k numbers each.",
            lambda case: {"token_embedding": np.array([case.config["seq_length"], case.config["k"]])}),
    Mistake("PART-head", "The head's output has the size of a word vector, not one number per class.",
            "k numbers go in, one for each class comes out.",
            lambda case: {"classification_head": np.array([case.config["k"], case.config["k"]])}),
    Mistake("PART-vocabulary", "The head gives one number for every token of the vocabulary.",
            "k numbers go in, one for each class comes out.",
            lambda case: {"classification_head": np.array([case.config["num_tokens"], case.config["k"]])}),
    Mistake("PART-bias", "The head has no bias.", "nn.Linear has one unless told otherwise."),
    Mistake("PART-sizes", "The blocks are made with other sizes than the model: TransformerBlock(k, heads).",
            "k is the size of a word vector, heads the number of heads."),
    Mistake("GIVEN-positions", "The positions do not fit the model: as many numbers as a word vector has, and a row "
            "for each of seq_length places.", "PositionalEncoding(k, max_len=seq_length) is a given line."),
]  # fmt: skip


def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    judgement = compare_case(exercise, case, answers)
    if judgement.earned == 1:
        wrong = _wrong_sizes(case, answers)
        return named(exercise, wrong) if wrong else judgement
    if any(check.mistake for check in judgement.checks):
        return judgement
    return Judgement([_in_words(check, answers.arrays.get(check.name)) for check in judgement.checks])


def _wrong_sizes(case: Case, answers: Answers) -> str:
    """The id of a mistake in what was handed over of the parts' sizes; empty where there is none."""
    bias, room, sizes = (answers.arrays.get(name) for name in ("head_bias", "room", "block_sizes"))
    config = case.config
    if bias is not None and not bias.all():
        return "PART-bias"
    if sizes is not None and not (sizes == [config["k"], config["heads"]]).all():
        return "PART-sizes"
    if room is not None and (room.shape != (1, 2) or room[0, 0] != config["k"] or room[0, 1] < config["seq_length"]):
        return "GIVEN-positions"
    return ""


def _in_words(check: Check, got: Array | None) -> Check:
    """A wrong size, in words."""
    if check.passed or got is None:
        return check
    if check.name == "token_embedding" and got.shape == (2,):
        message = f"The embedding has {got[0]} rows of {got[1]} numbers. It needs a row for each of num_tokens, of k."
    elif check.name == "classification_head" and got.shape == (2,):
        message = f"The head takes {got[1]} numbers and gives {got[0]}. It must take k, and give num_classes."
    elif check.name == "blocks" and got.shape == ():
        message = f"There are {got} blocks, not as many as depth says."
    else:
        return check
    return Check(check.name, False, message, check.hint)


EXERCISE = Exercise(make, judge, MISTAKES, framework="torch")
