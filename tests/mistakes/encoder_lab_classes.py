"""Wrong and right ``models.py``: the first four classes."""

from tests.mistakes.encoder_lab_answer import Answer

METHOD = ("AttentionHead", "scaled_dot_product_attention")
HEAD_INIT, HEAD = ("AttentionHead", "__init__"), ("AttentionHead", "forward")
HEADS_INIT, HEADS = ("MultiHeadAttention", "__init__"), ("MultiHeadAttention", "forward")
NETWORK_INIT, NETWORK = ("FeedForward", "__init__"), ("FeedForward", "forward")
EMBEDDINGS_INIT, EMBEDDINGS = ("Embeddings", "__init__"), ("Embeddings", "forward")

QKV = "q, k, v = self.wq(hidden_states), self.wk(hidden_states), self.wv(hidden_states)\n"


def method(says: str, scores: str, weights: str, result: str, mistake: str) -> Answer:
    code = f"scores = {scores}\nweights = {weights}\nreturn {result}"
    return Answer("head_attention", says, {METHOD: code}, mistake)


DOT, SOFTMAX, BOTH = "q @ k.transpose(-2, -1) / sqrt(k.size(-1))", "scores.softmax(dim=-1)", "weights @ v, weights"

HEAD_WRONG = [
    method("no scaling", "q @ k.transpose(-2, -1)", SOFTMAX, BOTH, "M2"),
    method("divided by d_k", "q @ k.transpose(-2, -1) / k.size(-1)", SOFTMAX, BOTH, "M3"),
    method("multiplied by the root", "q @ k.transpose(-2, -1) * sqrt(k.size(-1))", SOFTMAX, BOTH, "M3-inverse"),
    method("softmax over the queries", DOT, "scores.softmax(dim=-2)", BOTH, "M1"),
    method("softmax over the batch", DOT, "scores.softmax(dim=0)", BOTH, "M1-batch"),
    method("no softmax", DOT, "scores", BOTH, "weights-scores"),
    method("weights first", DOT, SOFTMAX, "weights, weights @ v", "weights-order"),
    method("returns the scores", DOT, SOFTMAX, "weights @ v, scores", "weights-scores"),
    method("weights scaled late", "q @ k.transpose(-2, -1)", "scores.softmax(-1) / sqrt(k.size(-1))", BOTH, "M3-late"),
    method("returns the output alone", DOT, SOFTMAX, "weights @ v", ""),
    method("keys not transposed", "q @ k / sqrt(k.size(-1))", SOFTMAX, BOTH, ""),
    Answer(
        "attention_head",
        "query and key swapped",
        {HEAD: QKV + "return self.scaled_dot_product_attention(k, q, v)[0]"},
        "head-qk",
    ),
    Answer(
        "attention_head",
        "keys made by wq",
        {HEAD: QKV + "return self.scaled_dot_product_attention(q, self.wq(hidden_states), v)[0]"},
        "head-same",
    ),
    Answer(
        "attention_head",
        "queries made by wk",
        {HEAD: QKV + "return self.scaled_dot_product_attention(self.wk(hidden_states), k, v)[0]"},
        "head-same-k",
    ),
    Answer(
        "attention_head",
        "values not projected",
        {HEAD: QKV + "return self.scaled_dot_product_attention(q, k, hidden_states)[0]"},
        "head-raw-v",
    ),
    Answer(
        "attention_head",
        "queries not projected",
        {HEAD: QKV + "return self.scaled_dot_product_attention(hidden_states, k, v)[0]"},
        "head-raw-q",
    ),
    Answer(
        "attention_head",
        "keys not projected",
        {HEAD: QKV + "return self.scaled_dot_product_attention(q, hidden_states, v)[0]"},
        "head-raw-k",
    ),
    Answer(
        "attention_head",
        "returns the weights",
        {HEAD: QKV + "return self.scaled_dot_product_attention(q, k, v)[1]"},
        "head-weights",
    ),
    Answer(
        "attention_head",
        "wq and wv of each other's size",
        {
            HEAD_INIT: """
        self.wq = nn.Linear(d_model, d_v, bias=False)
        self.wk = nn.Linear(d_model, d_k, bias=False)
        self.wv = nn.Linear(d_model, d_q, bias=False)
    """
        },
        "head-sizes",
    ),
    Answer(
        "attention_head",
        "an activation behind the head",
        {HEAD: QKV + "return torch.relu(self.scaled_dot_product_attention(q, k, v)[0])"},
    ),
]

HEADS_OF = "self.heads = {heads}\nself.output_linear = nn.Linear(d_model, d_model)"
SIZE = "size = d_model // num_attention_heads\n"
NEW = "AttentionHead(d_model, size, size, size)"


def heads(says: str, made: str, mistake: str = "") -> Answer:
    return Answer("multi_head_init", says, {HEADS_INIT: SIZE + HEADS_OF.format(heads=made)}, mistake)


def merged(says: str, code: str, mistake: str = "") -> Answer:
    return Answer(
        "multi_head_attention", says, {HEADS: "found = [head(hidden_states) for head in self.heads]\n" + code}, mistake
    )


HEADS_WRONG = [
    heads("a plain list", f"[{NEW} for _ in range(num_attention_heads)]", "M14-list"),
    heads("one head many times", f"nn.ModuleList([{NEW}] * num_attention_heads)", "M14-same"),
    heads("one head only", f"nn.ModuleList([{NEW}])", "M14-one"),
    heads("one head missing", f"nn.ModuleList({NEW} for _ in range(num_attention_heads - 1))", "M14-off"),
    heads("as many heads as a head has numbers", f"nn.ModuleList({NEW} for _ in range(size))", "M14-size"),
    heads(
        "every head as wide as the model",
        "nn.ModuleList(AttentionHead(d_model, d_model, d_model, d_model) for _ in range(num_attention_heads))",
        "heads-whole",
    ),
    heads(
        "every head reads its own part",
        "nn.ModuleList(AttentionHead(size, size, size, size) for _ in range(num_attention_heads))",
        "heads-narrow",
    ),
    heads(
        "number and size confused",
        "nn.ModuleList(AttentionHead(d_model, *3 * [num_attention_heads]) for _ in range(num_attention_heads))",
        "heads-count",
    ),
    Answer(
        "multi_head_init",
        "a size with a decimal point",
        {
            HEADS_INIT: SIZE.replace("//", "/")
            + HEADS_OF.format(heads=f"nn.ModuleList({NEW} for _ in range(num_attention_heads))")
        },
        "heads-float",
    ),
    Answer(
        "multi_head_init",
        "what does not fit is left out without a word",
        {
            HEADS_INIT: SIZE
            + f"""
self.heads = nn.ModuleList({NEW} for _ in range(num_attention_heads))
self.output_linear = nn.Linear(size * num_attention_heads, d_model)
    """
        },
        "heads-uneven",
    ),
    merged("in reverse order", "return self.output_linear(torch.cat(found[::-1], dim=-1))", "heads-reversed"),
    merged("interleaved", "return self.output_linear(torch.stack(found, dim=-1).flatten(2))", "M5-inter"),
    merged("along the tokens", "return self.output_linear(torch.cat(found, dim=1).reshape(hidden_states.shape))", "M6"),
    merged(
        "stacked and reshaped",
        "return self.output_linear(torch.stack(found, dim=1).reshape(hidden_states.shape))",
        "M6",
    ),
    merged(
        "stacked in front and reshaped",
        "return self.output_linear(torch.stack(found).reshape(hidden_states.shape))",
        "M6-batch",
    ),
    merged(
        "the first head for all", "return self.output_linear(torch.cat([found[0]] * len(found), dim=-1))", "heads-first"
    ),
    merged(
        "an average",
        "mean = sum(found) / len(found)\nreturn self.output_linear(torch.cat([mean] * len(found), dim=-1))",
        "heads-mean",
    ),
    merged("output_linear missing", "return torch.cat(found, dim=-1)", "heads-unmixed"),
    merged("a skip too early", "return hidden_states + self.output_linear(torch.cat(found, dim=-1))", "M7-early"),
    merged(
        "an activation at the end", "return torch.relu(self.output_linear(torch.cat(found, dim=-1)))", "heads-activated"
    ),
    merged("concatenated along the batch", "return self.output_linear(torch.cat(found, dim=0))"),
]

WIDE = "self.linear_1(hidden_states)"


def network(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("feed_forward", says, {NETWORK: f"return {code}"}, mistake)


NETWORK_WRONG = [
    network("ReLU", f"self.linear_2(torch.relu({WIDE}))", "M12"),
    network("tanh GELU", f"self.linear_2(nn.functional.gelu({WIDE}, approximate='tanh'))", "M12-tanh"),
    network("no activation", f"self.linear_2({WIDE})", "M12-none"),
    network("two GELUs", f"self.gelu(self.linear_2(self.gelu({WIDE})))", "M12-twice"),
    network("GELU at the end", f"self.gelu(self.linear_2({WIDE}))", "M12-late"),
    network("sigmoid", f"self.linear_2(torch.sigmoid({WIDE}))", "M12-sigmoid"),
    network("SiLU", f"self.linear_2(nn.functional.silu({WIDE}))", "M12-silu"),
    network("a skip too early", f"hidden_states + self.linear_2(self.gelu({WIDE}))", "M7-early"),
    network("dropout in eval mode", f"nn.functional.dropout(self.linear_2(self.gelu({WIDE})), 0.5)"),
    Answer(
        "feed_forward",
        "sizes exchanged",
        {
            NETWORK_INIT: """
        self.linear_1 = nn.Linear(intermediate_size, d_model)
        self.gelu = nn.GELU()
        self.linear_2 = nn.Linear(d_model, intermediate_size)
    """,
            NETWORK: f"return self.linear_2(self.gelu({WIDE}))",
        },
        "M12-sizes",
    ),
]

WORDS = "words = self.token_embeddings(input_ids)\n"
PLACES = "places = self.position_embeddings(torch.arange(input_ids.size(1)))\n"


def embedded(says: str, code: str, mistake: str = "", points: float = 0.0) -> Answer:
    return Answer("embeddings", says, {EMBEDDINGS: WORDS + code}, mistake, points)


def placed(says: str, numbers: str, mistake: str) -> Answer:
    return embedded(says, f"return self.layer_norm(words + self.position_embeddings({numbers}))", mistake)


EMBEDDINGS_WRONG = [
    embedded("no positions", "return self.layer_norm(words)", "M11-none"),
    embedded("no words", PLACES + "return self.layer_norm(places + 0 * words)", "M11-words"),
    embedded("multiplied", PLACES + "return self.layer_norm(words * places)", "M11-product"),
    embedded("subtracted", PLACES + "return self.layer_norm(words - places)", "M11-difference"),
    placed("counted along the batch", "torch.arange(len(input_ids))[:, None]", "M11-batch"),
    placed("from 1", "torch.arange(1, input_ids.size(1) + 1)", "M11-one"),
    placed("all zero", "torch.zeros_like(input_ids)", "M11-zero"),
    placed("from the end", "torch.arange(input_ids.size(1)).flip(0)", "M11-reversed"),
    placed(
        "too long is cut off",
        "torch.arange(input_ids.size(1)).clamp(max=self.position_embeddings.num_embeddings - 1)",
        "long",
    ),
    embedded("no norm", PLACES + "return words + places", "M8-none"),
    embedded("norm before the positions", PLACES + "return self.layer_norm(words) + places", "M8"),
    embedded(
        "dropout in eval mode", PLACES + "return nn.functional.dropout(self.layer_norm(words + places), 0.2)", "M16"
    ),
    embedded(
        "dropout before the norm", PLACES + "return self.layer_norm(self.dropout(words + places))", "M16-order", 3.0
    ),
    Answer(
        "embeddings",
        "eps left at its default",
        {
            EMBEDDINGS_INIT: """
        self.token_embeddings = nn.Embedding(vocab_size, d_model)
        self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.layer_norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(0.1)
    """
        },
        "M13",
        3.0,
    ),
    Answer(
        "embeddings",
        "the tables have each other's sizes",
        {
            EMBEDDINGS_INIT: """
        self.token_embeddings = nn.Embedding(max_position_embeddings, d_model)
        self.position_embeddings = nn.Embedding(vocab_size, d_model)
        self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
    """
        },
    ),
]

WRONG = [*HEAD_WRONG, *HEADS_WRONG, *NETWORK_WRONG, *EMBEDDINGS_WRONG]
