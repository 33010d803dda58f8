"""Right and wrong scores; a ``forward`` that does not call ``calculate_score`` is judged by its output."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import attention, right, wrong

CELL = "dot_product_attention_answer"
SCORE = "return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])"
PRODUCTS = "torch.bmm(queries, keys.transpose(1, 2))"
ROOT = "math.sqrt(queries.shape[-1])"

RIGHT = [
    SampleAnswer("permute and matmul, mask added", attention("""
        q, v = queries.permute(0, 2, 1, 3), values.permute(0, 2, 1, 3)
        scores = torch.matmul(q / math.sqrt(k), keys.permute(0, 2, 3, 1))
        if mask is not None:
            scores = scores + torch.zeros(b, 1, 1, t).masked_fill(~mask.view(b, 1, 1, t), float("-inf"))
        scores = scores - scores.max(dim=-1, keepdim=True).values
        weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
        return torch.matmul(self.dropout(weights), v).permute(0, 2, 1, 3).reshape(b, t, h * k)
    """)),
    right("einsum", (SCORE, 'return torch.einsum("bqk,bmk->bqm", queries, keys) / keys.shape[-1] ** 0.5')),
    right("queries divided first", (SCORE, "return (queries / math.sqrt(queries.size(2))) @ keys.mT")),
    right("products summed by hand",
          (SCORE, "return (queries.unsqueeze(2) * keys.unsqueeze(1)).sum(-1) * keys.shape[2] ** -0.5")),
    right("a comprehension over the sentences",
          (SCORE, "return torch.stack([q @ k.mT for q, k in zip(queries, keys)]) / math.sqrt(queries.shape[-1])")),
    right("torch.vmap",
          (SCORE, "return torch.vmap(lambda q, k: q @ k.T)(queries, keys) / math.sqrt(keys.shape[-1])")),
    right("in float64, and back",
          (SCORE, "return (queries.double() @ keys.double().mT / queries.shape[-1] ** 0.5).to(queries.dtype)")),
    right("keyword arguments alone", (SCORE, "return torch.baddbmm(input=queries.new_zeros(1, 1, 1), batch1=queries, "
                                             "batch2=keys.mT, beta=0, alpha=queries.shape[-1] ** -0.5)")),
]  # fmt: skip

WRONG = [
    wrong("not divided", "M2", (f" / {ROOT}", "")),
    wrong("divided by k", "M3", (ROOT, "queries.shape[-1]")),
    wrong("divided by the root of k twice", "M3", (ROOT, f"{ROOT} / keys.shape[-1] ** 0.5")),
    wrong("divided by the root of t", "M3-tokens", ("queries.shape[-1]", "queries.shape[1]")),
    wrong("multiplied by the root of k", "M3-up", (" / math.sqrt", " * math.sqrt")),
    wrong("queries and keys exchanged", "M4-swap", (PRODUCTS, "torch.bmm(keys, queries.transpose(1, 2))")),
    wrong("keys not transposed", "", (PRODUCTS, "torch.bmm(queries, keys)")),
    wrong("nothing returned", "", (SCORE, SCORE.replace("return", "score ="))),
    wrong("distances in place of products", "", (PRODUCTS, "-torch.cdist(queries, keys)")),
    wrong("in double precision", "M2-double",
          ("return torch.bmm(queries, keys", "return torch.bmm(queries.double(), keys.double()")),
    wrong("in half precision", "M2-half", ("torch.bmm(queries, keys.transpose(1, 2))",
          "torch.bmm(queries, keys.transpose(1, 2)).half().float()")),
    wrong("cut from the graph", "CUT", ("torch.bmm(queries, keys.transpose(1, 2))",
          "torch.bmm(queries, keys.transpose(1, 2)).detach()")),
    wrong("a softmax in the scores, too", "M1-scores", (SCORE, f"return F.softmax({PRODUCTS} / {ROOT}, dim=-1)")),
    wrong("the queries divided in place", "CHANGED",
          (SCORE, f"queries /= {ROOT}\n        return {PRODUCTS}")),
]  # fmt: skip
