"""Right ``models.py`` in other styles than the course's own: the first four classes."""

from tests.mistakes.encoder_lab_answer import Answer
from tests.mistakes.encoder_lab_classes import (
    EMBEDDINGS,
    EMBEDDINGS_INIT,
    HEAD,
    HEAD_INIT,
    HEADS,
    HEADS_INIT,
    METHOD,
    NETWORK,
    NETWORK_INIT,
)

LOOPS = """
output = torch.zeros(q.size(0), q.size(1), v.size(2))
weights = torch.zeros(q.size(0), q.size(1), k.size(1))
for b in range(q.size(0)):
    for i in range(q.size(1)):
        row = torch.stack([torch.dot(q[b, i], key) / k.size(2) ** 0.5 for key in k[b]])
        weights[b, i] = torch.softmax(row, 0)
        for j in range(k.size(1)):
            output[b, i] += weights[b, i, j] * v[b, j]
return output, weights
"""
EINSUM = """
weights = torch.softmax(torch.einsum("bnd,bmd->bnm", q, k) / sqrt(q.shape[-1]), -1)
return torch.einsum("bnm,bme->bne", weights, v), weights
"""
READY = """
output = nn.functional.scaled_dot_product_attention(q, k, v)
unit = torch.eye(k.size(1)).expand(k.size(0), -1, -1)
return output, nn.functional.scaled_dot_product_attention(q, k, unit)
"""
BY_HAND = """
scores = torch.bmm(q, k.permute(0, 2, 1)).mul(k.size(-1) ** -0.5).double()
shifted = (scores - scores.amax(-1, keepdim=True)).exp()
weights = (shifted / shifted.sum(-1, keepdim=True)).to(v.dtype)
return weights.bmm(v), weights
"""
PAIR = {HEAD: "x = hidden_states\nreturn self.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))"}
READY_HEAD = "x = hidden_states\nreturn nn.functional.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))"

HEAD_RIGHT = [
    *(
        Answer("head_attention", says, {METHOD: code})
        for says, code in (
            ("loops", LOOPS),
            ("einsum", EINSUM),
            ("ready-made", READY),
            ("by hand, in float64", BY_HAND),
        )
    ),
    Answer(
        "head_attention",
        "the root kept in __init__",
        {
            HEAD_INIT: """
                self.scale = sqrt(d_k)
                self.wq, self.wk, self.wv = (nn.Linear(d_model, d) for d in (d_q, d_k, d_v))
            """,
            METHOD: "weights = torch.softmax(q.matmul(k.mT) / self.scale, dim=2)\nreturn weights.matmul(v), weights",
        },
    ),
    Answer("attention_head", "returns a pair", PAIR),
    Answer("attention_head", "ready-made attention, not the method", {HEAD: READY_HEAD}),
    Answer(
        "attention_head",
        "with biases, in another order",
        {
            HEAD_INIT: """
        self.wv = nn.Linear(d_model, d_v)
        self.wk = nn.Linear(d_model, d_k)
        self.wq = nn.Linear(d_model, d_q)
    """
        },
    ),
    Answer(
        "attention_head",
        "weights multiplied by hand",
        {
            HEAD: """
        q, k, v = (hidden_states @ layer.weight.T for layer in (self.wq, self.wk, self.wv))
        out, _ = self.scaled_dot_product_attention(q, k, v)
        return out
    """
        },
    ),
    Answer(
        "attention_head",
        "named arguments",
        {
            HEAD_INIT: """
        for name, size in zip(("wq", "wk", "wv"), (d_q, d_k, d_v)):
            setattr(self, name, nn.Linear(in_features=d_model, out_features=size, bias=False))
    """
        },
    ),
    Answer(
        "attention_head", "its own method wrong: that is paid for elsewhere", {METHOD: "raise NotImplementedError()"}
    ),
]

FULL = "nn.ModuleList({made})\nself.output_linear = nn.Linear(d_model, d_model)"
HEADS_RIGHT = [
    Answer(
        "multi_head_init",
        "appended in a loop, no word about sizes",
        {
            HEADS_INIT: """
        self.d_head = d_model // num_attention_heads
        self.heads = nn.ModuleList()
        for _ in range(num_attention_heads):
            self.heads.append(AttentionHead(d_model, self.d_head, self.d_head, self.d_head))
        self.output_linear = nn.Linear(d_model, d_model, bias=False)
    """
        },
    ),
    Answer(
        "multi_head_init",
        "an assertion",
        {
            HEADS_INIT: """
        assert d_model % num_attention_heads == 0, "d_model must be a multiple of num_attention_heads"
        size = int(d_model / num_attention_heads)
        self.heads = nn.ModuleList([AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)])
        self.output_linear = nn.Linear(d_model, d_model)
    """
        },
    ),
    Answer(
        "multi_head_init",
        "named arguments, the linear layer first",
        {
            HEADS_INIT: """
        self.output_linear = nn.Linear(d_model, d_model)
        sizes = dict.fromkeys(("d_k", "d_q", "d_v"), d_model // num_attention_heads)
        self.heads = nn.ModuleList(AttentionHead(d_model=d_model, **sizes) for _ in range(num_attention_heads))
    """
        },
    ),
    Answer(
        "multi_head_init",
        "a Sequential as list",
        {
            HEADS_INIT: """
        size = d_model // num_attention_heads
        self.heads = nn.Sequential(*(AttentionHead(d_model, size, size, size) for _ in range(num_attention_heads)))
        self.output_linear = nn.Linear(d_model, d_model)
    """
        },
    ),
    Answer("multi_head_init", "heads that do not work yet", {HEAD_INIT: "raise NotImplementedError()"}),
    Answer(
        "multi_head_attention",
        "stacked and moved",
        {
            HEADS: """
        found = torch.stack([head(hidden_states) for head in self.heads])     # (heads, B, T, size)
        return self.output_linear(found.permute(1, 2, 0, 3).flatten(2))
    """
        },
    ),
    Answer(
        "multi_head_attention",
        "written into a tensor",
        {
            HEADS: """
        merged, at = torch.empty_like(hidden_states), 0
        for head in self.heads:
            out = head(hidden_states)
            merged[..., at:at + out.size(-1)] = out
            at += out.size(-1)
        return self.output_linear(merged)
    """
        },
    ),
    Answer(
        "multi_head_attention",
        "parts of the layer, head by head",
        {
            HEADS: """
        total = 0
        parts = self.output_linear.weight.chunk(len(self.heads), dim=1)
        for out, part in zip((head(hidden_states) for head in self.heads), parts):
            total = total + torch.einsum("btd,ed->bte", out, part)
        return total + self.output_linear.bias
    """
        },
    ),
    Answer(
        "multi_head_attention",
        "heads that return pairs",
        {**PAIR, HEADS: "return self.output_linear(torch.cat([head(hidden_states)[0] for head in self.heads], dim=2))"},
    ),
    Answer(
        "multi_head_attention",
        "returns a pair too",
        {HEADS: "return self.output_linear(torch.cat([head(hidden_states) for head in self.heads], dim=-1)), None"},
    ),
    Answer(
        "multi_head_attention",
        "the heads' layers and method, one by one",
        {
            HEADS: """
        found = []
        for h in self.heads:
            out, _ = h.scaled_dot_product_attention(h.wq(hidden_states), h.wk(hidden_states), h.wv(hidden_states))
            found.append(out)
        return self.output_linear(torch.concat(found, 2))
    """
        },
    ),
    Answer(
        "multi_head_attention",
        "heads that do not scale: that is paid for elsewhere",
        {METHOD: "weights = (q @ k.mT).softmax(-1)\nreturn weights @ v, weights"},
    ),
    Answer("multi_head_attention", "heads that do not work yet", {HEAD_INIT: "raise NotImplementedError()"}),
]

NETWORK_RIGHT = [
    Answer(
        "feed_forward",
        "functional",
        {NETWORK: "return self.linear_2(nn.functional.gelu(self.linear_1(hidden_states)))"},
    ),
    Answer(
        "feed_forward",
        "a Sequential of its own layers",
        {
            NETWORK_INIT: """
            self.linear_1, self.linear_2 = nn.Linear(d_model, intermediate_size), nn.Linear(intermediate_size, d_model)
            self.net = nn.Sequential(self.linear_1, nn.GELU(), self.linear_2, nn.Dropout(0.1))
        """,
            NETWORK: "return self.net(hidden_states)",
        },
    ),
    Answer(
        "feed_forward",
        "the error function by hand",
        {
            NETWORK: """
        x = self.linear_1(hidden_states)
        return self.linear_2(0.5 * x * (1 + torch.erf(x / sqrt(2))))
    """
        },
    ),
    Answer(
        "feed_forward",
        "no biases",
        {
            NETWORK_INIT: """
        self.linear_1 = nn.Linear(d_model, intermediate_size, bias=False)
        self.gelu = nn.GELU()
        self.linear_2 = nn.Linear(intermediate_size, d_model, bias=False)
    """,
            NETWORK: "return self.linear_2(self.gelu(self.linear_1(hidden_states)))",
        },
    ),
    Answer(
        "feed_forward",
        "token by token",
        {
            NETWORK: """
        out = [self.linear_2(self.gelu(self.linear_1(token))) for sentence in hidden_states for token in sentence]
        return torch.stack(out).view_as(hidden_states)
    """
        },
    ),
]

EMBEDDINGS_RIGHT = [
    Answer(
        "embeddings",
        "positions expanded",
        {
            EMBEDDINGS: """
        batch, tokens = input_ids.shape
        places = torch.arange(tokens, device=input_ids.device).unsqueeze(0).expand(batch, tokens)
        return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places)))
    """
        },
    ),
    Answer(
        "embeddings",
        "counted by a running sum",
        {
            EMBEDDINGS: """
        places = torch.ones_like(input_ids).cumsum(1) - 1
        return self.dropout(self.layer_norm(self.position_embeddings(places) + self.token_embeddings(input_ids)))
    """
        },
    ),
    Answer(
        "embeddings",
        "lists of positions, and no dropout",
        {
            EMBEDDINGS_INIT: """
            self.token_embeddings = nn.Embedding(vocab_size, d_model, padding_idx=0)
            self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
            self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
        """,
            EMBEDDINGS: """
            places = torch.tensor([[i for i in range(input_ids.shape[1])] for _ in range(input_ids.shape[0])])
            return self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places))
        """,
        },
    ),
    Answer(
        "embeddings",
        "rows of the table, an error of its own",
        {
            EMBEDDINGS: """
        tokens = input_ids.size(1)
        if tokens > self.position_embeddings.num_embeddings:
            raise ValueError(f"a sentence of {tokens} tokens is too long")
        both = self.token_embeddings(input_ids) + self.position_embeddings.weight[:tokens]
        norm = self.layer_norm
        return self.dropout(nn.functional.layer_norm(both, both.shape[-1:], norm.weight, norm.bias, 1e-12))
    """
        },
    ),
    Answer(
        "embeddings",
        "half of everything dropped",
        {
            EMBEDDINGS_INIT: """
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout()
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
    """
        },
    ),
]

RIGHT = [*HEAD_RIGHT, *HEADS_RIGHT, *NETWORK_RIGHT, *EMBEDDINGS_RIGHT]
