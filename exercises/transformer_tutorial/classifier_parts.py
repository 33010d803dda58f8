"""The parts that ``Transformer.__init__`` makes: an embedding, as many blocks as depth says, and a head."""

from __future__ import annotations

from textwrap import dedent, indent

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._classifier_rules import PART_BIAS, PART_SIZES, PLACES, parts_in_words


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for heads, depth, num_classes in ((2, 4, 3), (4, 3, 5)):
        k, seq_length, num_tokens = (heads * int(generator.integers(2, 6)), *map(int, generator.integers(13, 40, 2)))
        config = {"k": k, "heads": heads, "depth": depth, "seq_length": seq_length,
                  "num_tokens": num_tokens + 30, "num_classes": num_classes}  # fmt: skip
        expected = {"token_embedding": [config["num_tokens"], k], "classification_head": [num_classes, k],
                    **dict.fromkeys(("blocks", "distinct", "registered"), depth)}  # fmt: skip
        made.append(Case(config, expected={name: np.array(value) for name, value in expected.items()}))
    return made


# The lines of the solution that mistakes change.
BLOCKS = "nn.ModuleList(TransformerBlock(k, heads) for _ in range(depth))"
EMBEDDING, HEAD = "nn.Embedding(num_tokens, k)", "nn.Linear(k, num_classes)"

MISTAKES = [
    Mistake("M14-list", "The blocks stand in a plain Python list: the model does not know that they belong to it.",
            "nn.ModuleList and nn.Sequential register what they hold; a list does not.",
            (BLOCKS, "[TransformerBlock(k, heads) for _ in range(depth)]")),
    Mistake("M14-one", "There is a single block, whatever depth says.", "As many as depth says.",
            ("range(depth)", "range(1)")),
    Mistake("M14-repeated", "One and the same block is used at every depth.", "Make a new one each time round.",
            (BLOCKS, "nn.ModuleList([TransformerBlock(k, heads)] * depth)")),
    Mistake("M14-heads", "There are as many blocks as heads.", "As many as depth says.",
            ("range(depth)", "range(heads)")),
    Mistake("PART-turned", "The embedding has one row for each of the k dimensions.",
            "One row per entry of the vocabulary, k numbers each.", (EMBEDDING, "nn.Embedding(k, num_tokens)")),
    Mistake("PART-length", "The embedding has one row for each position.",
            "One row per entry of the vocabulary, k numbers each.", (EMBEDDING, "nn.Embedding(seq_length, k)")),
    Mistake("PART-head", "The head's output has the size of a word vector, not one number per class.",
            "k numbers go in, one for each class comes out.", (HEAD, "nn.Linear(k, k)")),
    Mistake("PART-vocabulary", "The head gives one number for every token of the vocabulary.",
            "k numbers go in, one for each class comes out.", (HEAD, "nn.Linear(k, num_tokens)")),
    PART_BIAS.by((HEAD, "nn.Linear(k, num_classes, bias=False)")),
    PART_SIZES.by(("TransformerBlock(k, heads)", "TransformerBlock(k, depth)")),
    PLACES.by(("max_len=seq_length", "max_len=depth")),
    Mistake("", "no head", "", (f"self.classification_head = {HEAD}", "pass")),
]  # fmt: skip


def written(init: str) -> list[tuple[str, str]]:
    """A right answer: these lines in place of all three."""
    lines = indent(dedent(init).strip("\n"), " " * 8).lstrip()
    embed, head = f"self.token_embedding = {EMBEDDING}", f"self.classification_head = {HEAD}"
    return [(f"self.transformer_blocks = {BLOCKS}", "pass"), (head, "pass"), (embed, lines)]


RIGHT = {
    "blocks appended, the head first, a row for padding": written("""
        self.classification_head = nn.Linear(k, num_classes)
        self.transformer_blocks = nn.ModuleList()
        while len(self.transformer_blocks) < depth:
            self.transformer_blocks.append(TransformerBlock(k, heads))
        self.token_embedding = nn.Embedding(num_tokens, k, padding_idx=0)
    """),
    "a pair of layers in one line, a list of as many": written("""
        self.token_embedding, self.classification_head = nn.Embedding(num_tokens, k), nn.Linear(k, num_classes)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(k, heads=heads) for _ in [None] * depth])
    """),
    "a Sequential of a list": [(BLOCKS, "nn.Sequential(*[TransformerBlock(k, heads) for _ in range(depth)])")],
    "an OrderedDict of blocks": [
        (BLOCKS, "nn.Sequential(__import__('collections').OrderedDict((f'block_{i}', "
                 "TransformerBlock(k=k, heads=heads)) for i in range(depth)))"),
    ],
    "keyword arguments alone": [
        (HEAD, "nn.Linear(in_features=k, out_features=num_classes, bias=True)"),
        (EMBEDDING, "nn.Embedding(num_embeddings=num_tokens, embedding_dim=k)"),
    ],
}  # fmt: skip

#: Why mutants may pass.
LONGER = "A table of positions that is longer than seq_length adds the same vectors."
EXERCISE = Exercise(
    cases, parts_in_words, MISTAKES, right=RIGHT, framework="torch", cell="transformer_answer",
    accepted={"transformer-df67e7cf": LONGER, "transformer-1dafb334": LONGER},
    shows=("embedding", "as many blocks as depth says", "head", "sizes"),
)  # fmt: skip
