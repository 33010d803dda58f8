"""Which rows of the table of positions a sentence's tokens get. Right: counted with NumPy, in every sentence alike."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case

from ._sizes import config


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for _ in range(3):
        batch, tokens = (int(size) for size in generator.choice(np.arange(2, 9), 2, replace=False))
        sizes = config(3, 2, 17, max_position_embeddings=64)  # more positions than words: ids are positions, too
        dim, vocabulary, positions = sizes["dim"], sizes["vocab_size"], sizes["max_position_embeddings"]
        weights = {
            "word_embeddings.weight": generator.normal(0, 1, (vocabulary, dim)).astype(np.float32),
            "position_embeddings.weight": generator.normal(0, 1, (positions, dim)).astype(np.float32),
            "LayerNorm.weight": np.ones(dim, dtype=np.float32),
            "LayerNorm.bias": np.zeros(dim, dtype=np.float32),
        }
        input_ids = generator.integers(1, vocabulary, (batch, tokens))
        expected = np.tile(np.arange(tokens), (batch, 1))
        made.append(Case(sizes, {"input_ids": input_ids}, weights, expected={"ids": expected}))
    return made


LINE = "torch.arange(input_ids.shape[1], device=input_ids.device).expand_as(input_ids)"
MISTAKES = [
    Mistake("POS-one", "The positions begin at 1.", "The first token has position 0.",
            (LINE, f"{LINE} + 1")),
    Mistake("POS-batch", "The positions are counted along the batch: all tokens of a sentence get the same one.",
            "The position is the place in the sentence: axis 1 of input_ids.",
            (LINE, "torch.arange(input_ids.shape[0])[:, None].expand_as(input_ids)")),
    Mistake("POS-ids", "The table is asked with the token ids.", "It is asked with 0, 1, 2, …, whatever the words are.",
            (LINE, "input_ids")),
    Mistake("POS-zero", "Every token gets position 0.", "Token t gets position t.",
            (LINE, "torch.zeros_like(input_ids)")),
    Mistake("POS-reversed", "The positions are counted from the end.", "The first token has position 0.",
            (LINE, f"{LINE}.flip(1)")),
    Mistake("POS-on", "The second sentence goes on counting where the first one ended.", "Every sentence begins at 0.",
            (LINE, "torch.arange(input_ids.numel()).view_as(input_ids)")),
]  # fmt: skip

RIGHT = {
    "one row for all sentences": [(LINE, "torch.arange(input_ids.size(1))")],
    "cumsum": [(LINE, "torch.ones_like(input_ids).cumsum(dim=1) - 1")],
    "repeat": [(LINE, "torch.arange(input_ids.shape[1]).repeat(input_ids.shape[0], 1)")],
    "a list": [(LINE, "torch.tensor([list(range(len(row))) for row in input_ids])")],
    "rows of the table, without a call": [
        ("position_embeddings = self.position_embeddings(position_ids)",
         "position_embeddings = self.position_embeddings.weight[: input_ids.shape[1]]"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch", cell="embeddings_answer",
    shows=("0, 1, 2, … in every sentence", "anew for each length"),
)  # fmt: skip
