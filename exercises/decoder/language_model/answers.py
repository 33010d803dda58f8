"""Right and wrong forward passes of the whole decoder."""

from __future__ import annotations

from .._answers import methods, wrong_methods

KIND, HEAD = "class LanguageModel(ModelLayers):", "def forward(self, ids):"
SUM = "x = self.token_embedding(ids) + self.position_embedding(torch.arange(ids.shape[1]))"
LOOP = "for block in self.blocks:\n    x = block(x)"
LAST = "return self.final_norm(x) @ self.token_embedding.weight.T"


def model(first: str = SUM, loop: str = LOOP, last: str = LAST) -> str:
    return "\n".join(part for part in (first, loop, last) if part)


RIGHT = methods(KIND, HEAD, {
    "an index of positions": model(),
    "a slice of the table": model("x = self.token_embedding(ids) + self.position_embedding.weight[: ids.size(1)]"),
    "F.linear": model(last="return F.linear(self.final_norm(x), self.token_embedding.weight)"),
    "one-hot vectors": model("""\
hot = F.one_hot(ids, self.token_embedding.num_embeddings).float()
places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
x = hot @ self.token_embedding.weight + self.position_embedding(places)"""),
    "nn.Sequential and einsum": model(
        loop="x = nn.Sequential(*self.blocks)(x)",
        last='return torch.einsum("btd,vd->btv", self.final_norm(x), self.token_embedding.weight)'),
})  # fmt: skip

POSITIONS = "self.position_embedding(torch.arange(ids.shape[1]))"
WRONG = wrong_methods(
    KIND, HEAD,
    ("no positions", model("x = self.token_embedding(ids)"), "D3-positions"),
    ("the first position for all", model("x = self.token_embedding(ids) + self.position_embedding.weight[0]"),
     "D3-first"),
    ("positions reversed", model(f"x = self.token_embedding(ids) + {POSITIONS}.flip(0)"), "D3-reversed"),
    ("positions rolled on", model(f"x = self.token_embedding(ids) + {POSITIONS}.roll(-1, 0)"), "D3-next"),
    ("times the root of dim", model(f"x = self.token_embedding(ids) * self.config.dim**0.5 + {POSITIONS}"), "D3-root"),
    ("no last norm", model(last="return x @ self.token_embedding.weight.T"), "D3-norm"),
    ("no block", model(loop=""), "D3-no-block"),
    ("one block", model(loop="x = self.blocks[0](x)"), "D3-one-block"),
    ("each block on the same input", model(loop="y = x\nfor block in self.blocks:\n    x = block(y)"),
     "D3-last-block"),
    ("blocks backwards", model(loop="for block in reversed(self.blocks):\n    x = block(x)"), "D3-backwards"),
    ("probabilities", model(last=f"{LAST}.softmax(-1)".replace("return self", "return (self").replace("T.s", "T).s")),
     "D3-softmax"),
    ("log-probabilities",
     model(last=f"{LAST}.log_softmax(-1)".replace("return self", "return (self").replace("T.l", "T).l")), "D3-logs"),
    ("the embedding is cut off", model(last=LAST.replace(".weight.T", ".weight.T.detach()").replace(
        "self.final_norm(x)", "self.final_norm(x).detach()")), "CUT"),
    ("the vectors, no logits", model(last="return self.final_norm(x)"), ""),
)  # fmt: skip
