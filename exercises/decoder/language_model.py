"""GPT-2 as a whole, with the embedding's own vectors in place of a last layer."""

from __future__ import annotations

import numpy as np

from autograder.exercise import CHANGED, CUT, UNSTEADY, Case, Exercise, Mistake, pure, variant

from ._decoder import draw_model
from ._gpt2 import model_logits


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for batch, tokens, config in (
        (2, 5, {"vocabulary": 11, "context": 9, "dim": 12, "heads": 3, "layers": 3}),
        (3, 7, {"vocabulary": 13, "context": 7, "dim": 10, "heads": 2, "layers": 2}),
        (1, 4, {"vocabulary": 9, "context": 6, "dim": 8, "heads": 2, "layers": 2}),
    ):
        weights = draw_model(generator, config)
        ids = generator.integers(0, config["vocabulary"], (batch, tokens))
        expected = {"logits": model_logits(weights, ids, config)}
        made.append(Case(config, {"input_ids": ids}, weights, expected=expected))
    return made


ORDER = "Words plus positions, every block, the last norm, then the embedding's own vectors."
FIRST_ROW = "The first word gets the first row."
LOGITS = "The model gives logits; the loss does the rest."
# Lines of the solution that mistakes change.
WORDS, POSITIONS = "self.token_embedding(ids)", "self.position_embedding(places)"
SUM = f"{WORDS} + {POSITIONS}"
LOOP, BLOCK = "for block in self.blocks:", "x = block(x)"
LAST = "self.final_norm(x) @ self.token_embedding.weight.T"

MISTAKES = [
    Mistake("D3-positions", "No positions are added.", ORDER, (SUM, WORDS)),
    Mistake("D3-first", "Every word gets the first position.", "The first tokens rows of the table, in order.",
            (POSITIONS, "self.position_embedding.weight[0]")),
    Mistake("D3-reversed", "The positions count from the end.", FIRST_ROW, (POSITIONS, f"{POSITIONS}.flip(0)")),
    Mistake("D3-next", "The positions begin with the second row.", FIRST_ROW, (POSITIONS, f"{POSITIONS}.roll(-1, 0)")),
    Mistake("D3-root", "The word vectors are multiplied by √dim.", "GPT-2 does not do that.",
            (WORDS, f"{WORDS} * self.config.dim**0.5")),
    Mistake("D3-norm", "The last norm is missing.", ORDER, ("self.final_norm(x)", "x")),
    Mistake("D3-no-block", "No block is used.", ORDER, (BLOCK, "pass")),
    Mistake("D3-one-block", "Only the first block is used.", "A for loop over self.blocks.",
            (LOOP, "for block in self.blocks[:1]:")),
    Mistake("D3-last-block", "Only the last block counts.", "What one block gives is what the next one takes.",
            (LOOP, "y = x\n        for block in self.blocks:"), (BLOCK, "x = block(y)")),
    Mistake("D3-backwards", "The blocks work in reverse order.", "The first one first.",
            (LOOP, "for block in reversed(self.blocks):")),
    Mistake("D3-softmax", "These are probabilities.", LOGITS, (LAST, f"({LAST}).softmax(-1)")),
    Mistake("D3-logs", "These are log-probabilities.", LOGITS, (LAST, f"({LAST}).log_softmax(-1)")),
    Mistake("", "the vectors, no logits", "", (LAST, "self.final_norm(x)")),
    CHANGED,
    CUT.by((LAST, "self.final_norm(x).detach() @ self.token_embedding.weight.T.detach()")),
    UNSTEADY.by((LAST, "nn.Linear(x.shape[-1], x.shape[-1])(self.final_norm(x)) @ self.token_embedding.weight.T")),
]  # fmt: skip

HEAD = "class LanguageModel(ModelLayers):\n    def forward(self, ids):"
RIGHT = {
    "a slice of the table": [(POSITIONS, "self.position_embedding.weight[: ids.size(1)]")],
    "F.linear": [(LAST, "F.linear(self.final_norm(x), self.token_embedding.weight)")],
    "one-hot vectors": variant(HEAD, """
        hot = F.one_hot(ids, self.token_embedding.num_embeddings).float()
        places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        x = hot @ self.token_embedding.weight + self.position_embedding(places)
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x) @ self.token_embedding.weight.T
    """),
    "nn.Sequential and einsum": variant(HEAD, """
        x = self.token_embedding(ids) + self.position_embedding(torch.arange(ids.shape[1]))
        x = nn.Sequential(*self.blocks)(x)
        return torch.einsum("btd,vd->btv", self.final_norm(x), self.token_embedding.weight)
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, pure, MISTAKES, right=RIGHT, framework="torch", rtol=3e-4, atol=3e-5,
    shows=("words and positions", "every block in its turn", "the embedding's own vectors"),
    axes={"logits": "batch, tokens, vocabulary"},
)  # fmt: skip
