"""Where the second sentence begins."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, compare_case

from ._answers import returning


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for first, second in (generator.permutation(np.arange(3, 13))[:2] for _ in range(3)):
        types = np.array([[0] * first + [1] * second])
        made.append(Case({}, {"token_type_ids": types}, expected={"start": np.array(first)}))
    return made


HEAD = "def sentence_b_start(token_type_ids):"
returns = returning(HEAD)
FIRST = "Count the tokens of the first one."

MISTAKES = [
    Mistake("start-sep", "That is the position of the first [SEP]: it still belongs to the first sentence.",
            "The second sentence begins right after it.", returns("int((token_type_ids == 0).sum()) - 1")),
    Mistake("start-next", "That is one too far: positions count from 0.",
            "The position is the number of tokens before it.", returns("int((token_type_ids == 0).sum()) + 1")),
    Mistake("start-second", "That is the length of the second sentence.", FIRST, returns("int(token_type_ids.sum())")),
    Mistake("start-all", "That is the length of both sentences together.", FIRST, returns("token_type_ids.size(1)")),
    Mistake("start-words", "[CLS] and [SEP] were not counted.", "They are tokens like the others.",
            returns("int((token_type_ids == 0).sum()) - 2")),
    Mistake("start-zero", "That is where the first sentence begins.", "token_type_ids tells the two apart.",
            returns("0")),
    Mistake("start-one", "That is the first sentence's first word, or the number of 0s in one column.",
            "Which axis are the tokens?", returns("int((token_type_ids == 0).sum(0)[0])")),
    Mistake("", "wrong axis", "", returns("(token_type_ids == 0).sum(0)")),
]  # fmt: skip

RIGHT = {
    "tensor": returns("(token_type_ids == 0).sum(dim=1)"),
    "first one": returns("token_type_ids[0].tolist().index(1)"),
    "argmax": returns("token_type_ids.argmax(-1).item()"),
    "difference": returns("token_type_ids.numel() - int(token_type_ids.sum())"),
}  # fmt: skip

EXERCISE = Exercise(
    cases, compare_case, MISTAKES, right=RIGHT, framework="torch",
    shows=("the second sentence begins right after the first",),
)  # fmt: skip
