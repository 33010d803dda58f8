"""The embeddings as a whole: two parts, and the given lines that put them together."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, DTYPE, Case, Exercise, Mistake, dropout_at_work

from ._rules import L_BIAS, L_MISSING, L_SIZE, L_WEIGHT, embedded
from ._sizes import config, hf_config


def _case(
    generator: np.random.Generator, batch: int, tokens: int, n_heads: int, head_size: int, size: float = 1.0
) -> Case:
    # more positions than words, so that looking up ids in the table of positions is no crash but a wrong answer
    sizes = config(n_heads, head_size, 17, max_position_embeddings=29)
    dim, vocabulary, positions = sizes["dim"], sizes["vocab_size"], sizes["max_position_embeddings"]
    weights = {
        "word_embeddings.weight": (size * generator.normal(0, 1, (vocabulary, dim))).astype(np.float32),
        "position_embeddings.weight": (size * generator.normal(0, 1, (positions, dim))).astype(np.float32),
        "LayerNorm.weight": generator.normal(1, 0.2, dim).astype(np.float32),
        "LayerNorm.bias": generator.normal(0, 0.2, dim).astype(np.float32),
    }
    weights["word_embeddings.weight"][0] = 0.0  # the row of padding_idx
    input_ids = generator.integers(1, vocabulary, (batch, tokens))
    input_ids[1:2] = input_ids[0, ::-1]  # the same tokens elsewhere: positions must tell them apart
    input_ids[-1, -1] = 0
    import torch
    from transformers.models.distilbert.modeling_distilbert import Embeddings

    module = Embeddings(hf_config(sizes)).double().eval()
    module.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in weights.items()})
    with torch.no_grad():
        output = module(torch.from_numpy(input_ids)).numpy()
    return Case(sizes, {"input_ids": input_ids}, weights, {}, {"embeddings": output})


def cases(generator: np.random.Generator) -> list[Case]:
    """The last one shows an eps that is not the config's."""
    return [_case(generator, 2, 5, 3, 4), _case(generator, 4, 7, 3, 2), _case(generator, 3, 6, 4, 2, size=1e-3),
            _case(generator, 1, 5, 3, 2)]  # fmt: skip


# Lines of the solution that mistakes change.
WORDS = "words = self.word_embeddings(input_ids)"
POSITIONS = "self.position_embeddings(self.position_ids(input_ids))"
MERGED = "self.LayerNorm(self.merge(words, positions))"
LAYER = "self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)"
SIZES = "config.vocab_size, config.dim,"

MISTAKES = [
    Mistake("M13", "The LayerNorm's eps is not the config's.", "nn.LayerNorm takes eps=config.eps.",
            (LAYER, LAYER.replace(", eps=config.eps", ""))),
    Mistake("M8-none", "The LayerNorm is missing.", "What words and positions make together is normalised.",
            (MERGED, "self.merge(words, positions)")),
    Mistake("M8", "The LayerNorm comes before the positions are added.", "Merge first, then normalise.",
            (MERGED, "self.merge(self.LayerNorm(words), positions)")),
    Mistake("M11-table", "The words were looked up in the table of positions.",
            "word_embeddings is asked with input_ids, position_embeddings with the positions.",
            (WORDS, WORDS.replace("word_", "position_"))),
    Mistake("M11-ids", "The table of positions is asked with the token ids.", "Was that line changed?",
            (POSITIONS, "self.position_embeddings(input_ids)")),
    dropout_at_work("The embeddings").by((MERGED, f"nn.functional.dropout({MERGED}, 0.1)")),
    L_MISSING.by((LAYER, "pass")),
    L_BIAS.by((LAYER, LAYER.replace("eps)", "eps, bias=False)"))),
    L_WEIGHT.by((LAYER, LAYER.replace("eps)", "eps, elementwise_affine=False)"))),
    L_SIZE.by((SIZES, "config.dim, config.vocab_size,")),
    CHANGED.by((MERGED, f"{MERGED} + 0 * input_ids.zero_().sum()")),
    DTYPE.by((MERGED, f"{MERGED}.double()")),
    Mistake("WHOLE", "Each part is right by itself; your class as it stands gives something else.",
            "Are the given lines as they were?", (MERGED, f"{MERGED}.flip(1)")),
    Mistake("", "a line of forward lost: it stops", "", (WORDS, "pass")),
]  # fmt: skip

# What right answers write in place of given lines.
RIGHT = {
    "rows of the table of positions": [(POSITIONS, "self.position_embeddings.weight[: input_ids.shape[1]]")],
    "dropout that knows eval mode": [
        (LAYER, f"{LAYER}\n        self.dropout = nn.Dropout(0.1)"), (MERGED, f"self.dropout({MERGED})")
    ],
    "functions in place of layers": [
        (WORDS, "words = nn.functional.embedding(input_ids, self.word_embeddings.weight)"),
        (MERGED, "nn.functional.layer_norm(self.merge(words, positions), words.shape[-1:], self.LayerNorm.weight,\n"
                 "            self.LayerNorm.bias, self.LayerNorm.eps)"),
    ],
    "__call__ overridden, the norm in a Sequential": [
        (LAYER, f"{LAYER}\n        self.after = nn.Sequential(self.LayerNorm, nn.Identity())"),
        ("def forward(", "def __call__("), (MERGED, "self.after(self.merge(words, positions))"),
    ],
    "layers in another order, sizes named": [
        ("nn.Embedding(config.max_position_embeddings, config.dim)",
         "nn.Embedding(embedding_dim=config.dim, num_embeddings=config.max_position_embeddings)"),
        (LAYER, "self.add_module('LayerNorm', nn.LayerNorm(normalized_shape=config.dim, eps=config.eps))"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, embedded, MISTAKES, right=RIGHT, framework="torch", cell="embeddings_answer",
    parts=("position_ids", "merge"),
    accepted={
        "detach": "Nothing is trained in this assignment: the trained weights are loaded.",
        "embeddings-562c7c77": "padding_idx keeps the row of the padding from being trained; here the weights are "
        "loaded.",
    },
    shows=("the parts work together", "added, then normalised"),
    axes={"embeddings": "batch, tokens, dim"},
)  # fmt: skip
