"""Right and wrong forward passes of a decoder with caches."""

from __future__ import annotations

from .._answers import methods, right, wrong, wrong_methods

KIND, HEAD = "class CachedModel(CachedModelLayers):", "def forward(self, ids, caches=None):"
LAST = "self.final_norm(x) @ self.token_embedding.weight.T"
PLACES = "torch.arange(start, start + ids.shape[1])"
COUNT = "caches[0][0].shape[2]"
GIVEN = "None if caches is None else caches[number]"

RIGHT = [
    *methods(KIND, HEAD, {
        "zip, and a slice of the table": """
            caches = caches or [None] * len(self.blocks)
            past = 0 if caches[0] is None else caches[0][0].size(-2)
            x = self.token_embedding(ids) + self.position_embedding.weight[past : past + ids.size(1)]
            new = []
            for block, cache in zip(self.blocks, caches):
                x, cache = block(x, cache)
                new.append(cache)
            return F.linear(self.final_norm(x), self.token_embedding.weight), new
        """,
        "the size of the values": """
            past = caches[-1][1].shape[2] if caches else 0
            x = self.token_embedding(ids) + self.position_embedding(past + torch.arange(ids.shape[1]))
            found = ()
            for i in range(len(self.blocks)):
                x, kept = self.blocks[i](x, caches[i] if caches else None)
                found += (kept,)
            return torch.einsum("btd,vd->btv", self.final_norm(x), self.token_embedding.weight), found
        """,
        "a dictionary of caches, made a list": """
            known = dict(enumerate(caches or []))
            past = known[0][0].shape[2] if known else 0
            places = torch.arange(past, past + ids.shape[1], device=ids.device).expand(ids.shape)
            x = self.token_embedding(ids) + self.position_embedding(places)
            for number, block in enumerate(self.blocks):
                x, known[number] = block(x, known.get(number))
            return self.final_norm(x).matmul(self.token_embedding.weight.t()), list(known.values())
        """,
        "positions from the end": """
            count = ids.shape[1] + (0 if caches is None else caches[0][0].shape[2])
            x = self.token_embedding(ids) + self.position_embedding.weight[:count][-ids.shape[1]:]
            kept = [None] * len(self.blocks) if caches is None else list(caches)
            for number, block in enumerate(self.blocks):
                x, kept[number] = block(x, kept[number])
            return self.final_norm(x) @ self.token_embedding.weight.T, kept
        """,
    }),
    right("the count of another block", (COUNT, "caches[-1][0].shape[2]")),
]  # fmt: skip

WRONG = [
    wrong("positions begin with 0", "K2-restart", (PLACES, "torch.arange(ids.shape[1])")),
    wrong("one too far", "K2-late", (COUNT, f"{COUNT} + 1")),
    wrong("one too early", "K2-early", (COUNT, f"{COUNT} - 1")),
    wrong("the number of blocks", "K2-layers", (COUNT, "len(caches)")),
    wrong("the number of heads", "K2-heads", (COUNT, "caches[0][0].shape[1]")),
    wrong("no cache for the blocks", "K2-alone", (GIVEN, "None")),
    wrong("nothing used", "K2-forgotten", (GIVEN, "None"), (PLACES, "torch.arange(ids.shape[1])")),
    wrong("no positions", "K2-positions", ("self.position_embedding(places)", "0")),
    wrong("its own caches, not those it is given", "", (GIVEN, "None if caches is None else self.own[number]"),
          ("return self", "self.own = kept\n        return self")),
    wrong("no last norm", "K2-norm", (LAST, "x @ self.token_embedding.weight.T")),
    wrong("probabilities", "K2-softmax", (LAST, f"({LAST}).softmax(-1)")),
    wrong("the first cache for all", "", (GIVEN, "None if caches is None else caches[0]")),
    wrong("caches backwards", "", ("kept.append(cache)", "kept.insert(0, cache)")),
    wrong("blocks on the words alone", "", ("x, cache = block(x,", "_, cache = block(x,")),
    wrong("the last logits only", "", (LAST, "self.final_norm(x[:, -1:]) @ self.token_embedding.weight.T")),
    *wrong_methods(KIND, HEAD, ("everything read again", """
        known = ids if caches is None else torch.cat([caches[0][2], ids], dim=1)
        x = self.token_embedding(known) + self.position_embedding.weight[: known.shape[1]]
        for block in self.blocks:
            x, _ = block(x, None)
        logits = self.final_norm(x) @ self.token_embedding.weight.T
        return logits[:, -ids.shape[1] :], [(x, x, known)] * len(self.blocks)
    """, "K2-keys")),
]  # fmt: skip
