"""The parts that ``Transformer.__init__`` makes: an embedding, as many blocks as depth says, and a head."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake


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
]  # fmt: skip

EXERCISE = Exercise(make, mistakes=MISTAKES, framework="torch")
