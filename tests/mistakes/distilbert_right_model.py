"""Notebooks 1 and 3: embeddings and classifiers that are right, each in another style than the course's own."""

from __future__ import annotations

from textwrap import indent

from tests.mistakes.distilbert_answer import EMBEDDING, MODEL, StudentAnswer

EMBEDDINGS = """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)
        {more}

    def forward(self, input_ids):
        tokens = input_ids.size(1)
        {merge}
        return {returned}
"""


def _embeddings(
    name: str, merge: str, returned: str = "self.LayerNorm(x)", more: str = "", fast: bool = False
) -> StudentAnswer:
    text = EMBEDDINGS.format(merge=indent(merge, " " * 8).strip(), returned=returned, more=more)
    return StudentAnswer(name, EMBEDDING, "embeddings_answer", text, fast=fast)


EMBEDDINGS_RIGHT = [
    _embeddings(
        "positions broadcast over the batch",
        "x = self.word_embeddings(input_ids) + self.position_embeddings(torch.arange(tokens))",
        fast=True,
    ),
    _embeddings(
        "rows of the table of positions",
        "x = torch.add(self.position_embeddings.weight[:tokens], self.word_embeddings(input_ids))",
    ),
    _embeddings(
        "added in place",
        "x = self.word_embeddings(input_ids)\nx += self.position_embeddings(torch.arange(tokens)[None])",
    ),
    _embeddings(
        "stacked and summed",
        "words = self.word_embeddings(input_ids)\n"
        "places = self.position_embeddings(torch.arange(tokens).repeat(len(input_ids), 1))\n"
        "x = torch.stack([words, places]).sum(dim=0)",
    ),
    _embeddings(
        "one-hot vectors times the tables",
        "one_hot = nn.functional.one_hot(input_ids, len(self.word_embeddings.weight)).float()\n"
        "x = one_hot @ self.word_embeddings.weight + torch.eye(tokens, len(self.position_embeddings.weight)) @ self.position_embeddings.weight",
    ),
    _embeddings(
        "positions in a buffer, dropout that knows eval mode",
        "x = self.word_embeddings(input_ids) + self.position_embeddings(self.position_ids[:, :tokens])",
        "self.dropout(self.LayerNorm(x))",
        'self.register_buffer("position_ids", torch.arange(config.max_position_embeddings)[None])\n        self.dropout = nn.Dropout(0.1)',
    ),
    _embeddings(
        "token by token",
        "words = self.word_embeddings(input_ids)\n"
        "x = torch.stack([words[:, t] + self.position_embeddings.weight[t] for t in range(tokens)], dim=1)",
    ),
    _embeddings(
        "functions in place of layers",
        "x = nn.functional.embedding(input_ids, self.word_embeddings.weight)\n"
        "x = x + nn.functional.embedding(torch.arange(tokens), self.position_embeddings.weight)",
        "nn.functional.layer_norm(x, x.shape[-1:], self.LayerNorm.weight, self.LayerNorm.bias, self.LayerNorm.eps)",
    ),
    _embeddings(
        "float64 inside, then back",
        "x = self.word_embeddings(input_ids).double() + self.position_embeddings(torch.arange(tokens)).double()",
        "self.LayerNorm(x.float())",
    ),
]

CLASSIFIER = """
class {name}(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        {layers}
        self.attention_probs = {kept}
        self.classifier = nn.Linear(config.dim, config.n_classes)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        {more}

    def forward(self, input_ids):
        {loop}
        pooled_output = {pooled}
        {logits}
        return logits
"""
LAYERS = "self.attention_layers = nn.ModuleList([AttentionBlock(config) for _ in range(config.n_layers)])"
APPENDED = """self.attention_layers = nn.ModuleList()
for _ in range(config.n_layers):
    self.attention_layers.append(AttentionBlock(config))"""
SEQUENTIAL = "self.attention_layers = nn.Sequential(*[AttentionBlock(config) for _ in range(config.n_layers)])"
LOOP = """output = self.embeddings(input_ids)
for i, layer in enumerate(self.attention_layers):
    output, self.attention_probs[i] = layer(output)"""
INDEXED = """hidden_states = self.embeddings(input_ids=input_ids)
for i in range(self.config.n_layers):
    result = self.attention_layers[i](hidden_states)
    hidden_states = result[0]
    self.attention_probs[i] = result[1].detach()
output = hidden_states"""
FRESH_LIST = """output = self.embeddings(input_ids)
self.attention_probs = []
for layer in self.attention_layers:
    output, weights = layer(output)
    self.attention_probs.append(weights)"""
WHILE = """output, i = self.embeddings(input_ids), 0
while i < len(self.attention_layers):
    output, weights = self.attention_layers[i](output)
    self.attention_probs.update({i: weights})
    i += 1"""
STACKED = """states, kept = [self.embeddings(input_ids)], []
for layer in self.attention_layers:
    state, weights = layer(states[-1])
    states.append(state)
    kept.append(weights)
self.attention_probs = torch.stack(kept)
output = states[-1]"""
FRESH_DICT = """output = self.embeddings(input_ids)
self.attention_probs = {i: [] for i in range(self.config.n_layers)}
for i, layer in enumerate(self.attention_layers):
    output, weights = layer(output)
    self.attention_probs[i].append(weights)"""
LOGITS = "logits = self.classifier(torch.relu(self.pre_classifier(pooled_output)))"


def _model(
    name: str,
    layers: str = LAYERS,
    loop: str = LOOP,
    kept: str = "{}",
    pooled: str = "output[:, 0]",
    logits: str = LOGITS,
    more: str = "",
    called: str = "DistilBertClassifier",
    fast: bool = False,
) -> StudentAnswer:
    parts = {"layers": layers, "loop": loop, "logits": logits, "more": more}
    inner = {part: indent(code, " " * 8).strip() for part, code in parts.items()}
    text = CLASSIFIER.format(name=called, kept=kept, pooled=pooled, **inner)
    return StudentAnswer(name, MODEL, "classifier_model_answer", text, fast=fast)


MODELS_RIGHT = [
    _model("a list comprehension in a ModuleList", fast=True),
    _model("blocks appended one by one, called by number", APPENDED, INDEXED),
    _model(
        "Sequential as the list",
        SEQUENTIAL,
        logits="logits = self.classifier(self.pre_classifier(pooled_output).relu())",
    ),
    _model("a fresh list of weights at every call", loop=FRESH_LIST, kept="[]"),
    _model(
        "a while loop and clamp",
        loop=WHILE,
        logits="x = self.pre_classifier(pooled_output).clamp(min=0)\nlogits = self.classifier(x)",
    ),
    _model("all states kept, weights in one tensor", loop=STACKED, kept="None", pooled="output.select(1, 0)"),
    _model("a fresh list of one for each layer", loop=FRESH_DICT, pooled="output[:, :1].squeeze(1)"),
    _model(
        "the seed's own name and lists that are overwritten",
        kept="{i: [] for i in range(config.n_layers)}",
        called="DistillBertAttention",
        logits="logits = self.classifier(nn.ReLU()(self.pre_classifier(pooled_output)))",
    ),
    _model(
        "dropout that knows eval mode",
        more="self.dropout = nn.Dropout(0.2)",
        logits="x = nn.functional.relu(self.pre_classifier(pooled_output))\nlogits = self.classifier(self.dropout(x))",
    ),
    _model(
        "the head as Sequential",
        more="self.head = nn.Sequential(self.pre_classifier, nn.ReLU(), self.classifier)",
        logits="logits = self.head(pooled_output)",
    ),
    _model(
        "the classifier by matrix products",
        logits="x = pooled_output @ self.pre_classifier.weight.T + self.pre_classifier.bias\n"
        "logits = torch.maximum(x, torch.zeros(())) @ self.classifier.weight.T + self.classifier.bias",
    ),
]

RIGHT = [*EMBEDDINGS_RIGHT, *MODELS_RIGHT]
