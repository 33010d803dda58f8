"""Notebook 2: wrong attention blocks, each with one mistake."""

from __future__ import annotations

from dataclasses import replace

from tests.mistakes.distilbert_answer import BLOCK, StudentAnswer

SCORES = "scores = q @ k.transpose(-2, -1)"
SOFTMAX = "weights = scores.softmax(dim=-1)"
CONTEXT = "context = weights @ v"
SCALE = "q = q / math.sqrt(q.shape[-1])"
SPLIT = "x.view(batch, tokens, heads, size).transpose(1, 2)"
MERGE = "x.transpose(1, 2).reshape(batch, tokens, heads * size)"
FIRST_NORM = "self.sa_layer_norm(sa_output + hidden_states)"
SECOND_NORM = "self.output_layer_norm(ffn_output + sa_output)"
QUERY, KEY, VALUE = (f"self.{name}_lin = nn.Linear(config.dim, config.dim)" for name in "qkv")


def _wrong(
    part: str | tuple[str, ...], name: str, mistake: str | None, *changes: tuple[str, str], fast: bool = False
) -> StudentAnswer:
    parts = (part,) if isinstance(part, str) else part
    loses = tuple(f"attention_{each}" for each in parts)
    return StudentAnswer(name, BLOCK, "attention_block_answer", "", changes, loses, mistake, fast=fast)


def _init(name: str, mistake: str | None, *changes: tuple[str, str]) -> StudentAnswer:
    return _wrong("init", name, mistake, *changes)


def _scores(name: str, mistake: str | None, line: str, old: str = SCORES, fast: bool = False) -> StudentAnswer:
    return _wrong("scores", name, mistake, (old, line), fast=fast)


def _weights(name: str, mistake: str | None, line: str, fast: bool = False) -> StudentAnswer:
    return _wrong("weights", name, mistake, (SOFTMAX, f"weights = {line}"), fast=fast)


def _context(name: str, mistake: str | None, *changes: tuple[str, str], fast: bool = False) -> StudentAnswer:
    return _wrong("context", name, mistake, *changes, fast=fast)


BY_HAND = """x = sa_output + hidden_states
        deviation = torch.sqrt(x.var(-1, keepdim=True) + self.config.eps)
        x = (x - x.mean(-1, keepdim=True)) / deviation
        sa_output = x * self.sa_layer_norm.weight + self.sa_layer_norm.bias"""

PROJECTIONS = [
    _init(
        "as wide as one head",
        "INIT-head",
        (QUERY, "self.q_lin = nn.Linear(config.dim, config.attention_head_size)"),
        (KEY, "self.k_lin = nn.Linear(config.dim, config.attention_head_size)"),
        (VALUE, "self.v_lin = nn.Linear(config.dim, config.attention_head_size)"),
    ),
    _init(
        "as wide as the feed-forward network",
        "INIT-hidden",
        (QUERY, "self.q_lin = nn.Linear(config.dim, config.hidden_dim)"),
    ),
    _init(
        "without bias",
        "INIT-bias",
        *((line, line.replace(".dim)", ".dim, bias=False)")) for line in (QUERY, KEY, VALUE)),
    ),
    _init(
        "one layer under three names",
        "INIT-shared",
        (KEY, "self.k_lin = self.q_lin"),
        (VALUE, "self.v_lin = self.q_lin"),
    ),
    _init("one layer for key and value", "INIT-pair", (VALUE, "self.v_lin = self.k_lin")),
    _init(
        "sizes written as numbers",
        "INIT-literal",
        *((line, line.replace("config.dim", "768")) for line in (QUERY, KEY, VALUE)),
    ),
]

SCORES_WRONG = [
    _scores("never divided", "M2", "pass", old=SCALE, fast=True),
    _scores("divided twice", "M3", f"{SCORES} / math.sqrt(size)"),
    _scores("divided by the size of a head", "M3", "q = q / size", old=SCALE),
    _scores("divided by the root of the model's width", "M3-dim", "q = q / math.sqrt(dim)", old=SCALE),
    _scores("divided by the root of the tokens too", "M3-factor", f"{SCORES} / math.sqrt(tokens)"),
    _scores("query and key exchanged", "M4-swap", "scores = k @ q.transpose(-2, -1)"),
    _scores("query and key exchanged in einsum", "M4-swap", 'scores = torch.einsum("bhqd,bhkd->bhkq", q, k)'),
    _scores("key not transposed", None, "scores = q @ k"),
    _scores("all axes of the key turned round", None, "scores = q @ k.T"),
    _scores("heads by view alone", "M5", "x.reshape(batch, heads, tokens, size)", old=SPLIT, fast=True),
    _scores("heads interleaved", "M5-inter", "x.view(batch, tokens, size, heads).permute(0, 3, 1, 2)", old=SPLIT),
    _scores(
        "a causal mask",
        "M10-causal",
        f"{SCORES}\n        scores = scores.masked_fill(torch.ones(tokens, tokens).triu(1) == 1, -math.inf)",
    ),
    _scores(
        "the diagonal masked",
        "M10-diagonal",
        f"{SCORES}\n        scores = scores.masked_fill(torch.eye(tokens) == 1, -math.inf)",
    ),
    _scores("distances in place of products", None, "scores = -torch.cdist(q, k)"),
    replace(_scores("a bias on the diagonal", None, f"{SCORES} + 2 * torch.eye(tokens)"), unseen=True),
]

WEIGHTS_WRONG = [
    _weights("over the queries", "M1", "scores.softmax(dim=-2)", fast=True),
    _weights("over the heads", "M1", "scores.softmax(dim=1)"),
    _weights("over the batch", "M1", "scores.softmax(dim=0)"),
    _weights("over queries and keys together", "M1", "scores.flatten(2).softmax(-1).view_as(scores)"),
    _weights("no softmax", "M1-none", "scores"),
    _weights("softmax twice", "M1-twice", "scores.softmax(-1).softmax(-1)"),
    _weights("a sigmoid", "M1-sigmoid", "torch.sigmoid(scores)"),
    _weights("divided by the sum, no exponential", None, "scores / scores.sum(-1, keepdim=True)"),
    _weights("exp that overflows", "M1-overflow", "scores.exp() / scores.exp().sum(-1, keepdim=True)"),
    _weights(
        "dropout that is never switched off", "M16", "nn.functional.dropout(scores.softmax(-1), 0.1, training=True)"
    ),
    _weights("dropout by mode train", "M16", "nn.Dropout(0.2)(scores.softmax(-1))"),
    # of such weights no score can be read
    _wrong(("scores", "weights"), "all alike", None, (SOFTMAX, "weights = torch.full_like(scores, 1 / tokens)")),
]

CONTEXT_WRONG = [
    _context("weights transposed", "M4-transposed", (CONTEXT, "context = weights.transpose(-2, -1) @ v"), fast=True),
    _context("keys in place of values", "M4-keys", (CONTEXT, "context = weights @ k")),
    _context("summed over the queries", "M9", (CONTEXT, 'context = torch.einsum("bhqk,bhkd->bhkd", weights, v)')),
    _context("softmax after the sum", "M9-late", (CONTEXT, "context = (scores @ v).softmax(-1)")),
    _context(
        "values cut by view alone",
        "M5-values",
        ("v = shape(self.v_lin(hidden_states))", "v = self.v_lin(hidden_states).view(batch, heads, tokens, size)"),
    ),
    _context("merged by reshape alone", "M6", (MERGE, "x.reshape(batch, tokens, heads * size)"), fast=True),
    _context("no skip around the attention", "M7", (FIRST_NORM, "self.sa_layer_norm(sa_output)")),
    _context("no skip around the feed-forward network", "M7-ffn", (SECOND_NORM, "self.output_layer_norm(ffn_output)")),
    _context(
        "second skip from the block's input",
        "M7-place",
        (SECOND_NORM, "self.output_layer_norm(ffn_output + hidden_states)"),
    ),
    _context(
        "both LayerNorms before the addition",
        "M8",
        (FIRST_NORM, "self.sa_layer_norm(sa_output) + hidden_states"),
        (SECOND_NORM, "self.output_layer_norm(ffn_output) + sa_output"),
    ),
    _context(
        "the second LayerNorm before the addition",
        "M8",
        (SECOND_NORM, "self.output_layer_norm(ffn_output) + sa_output"),
    ),
    _context("the first LayerNorm missing", "M8-none", (FIRST_NORM, "sa_output + hidden_states")),
    _context(
        "pre-LN",
        "M8-pre",
        (
            "batch, tokens, dim = hidden_states.shape",
            "batch, tokens, dim = hidden_states.shape\n        skip = hidden_states\n        hidden_states = self.sa_layer_norm(skip)",
        ),
        (FIRST_NORM, "sa_output + skip"),
        ("self.lin1(sa_output)", "self.lin1(self.output_layer_norm(sa_output))"),
        (SECOND_NORM, "ffn_output + sa_output"),
    ),
    _context("ReLU", "M12", ("nn.functional.gelu(", "nn.functional.relu(")),
    _context(
        "tanh approximation of GELU",
        "M12-tanh",
        ("gelu(self.lin1(sa_output))", 'gelu(self.lin1(sa_output), approximate="tanh")'),
    ),
    _context("no activation", "M12-none", ("nn.functional.gelu(", "(")),
    _context("LayerNorms with their default eps", "M13", ("config.dim, eps=config.eps", "config.dim")),
    _context("unbiased variance", "M13-unbiased", (f"sa_output = {FIRST_NORM}", BY_HAND)),
    _context(
        "dropout on the context, never switched off",
        "M16",
        (CONTEXT, "context = nn.functional.dropout(weights, 0.1) @ v"),
    ),
    _context("[CLS] for every token", None, (CONTEXT, "context = (weights @ v)[:, :, :1].expand_as(v)")),
]

WRONG = [*PROJECTIONS, *SCORES_WRONG, *WEIGHTS_WRONG, *CONTEXT_WRONG]
