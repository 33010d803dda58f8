"""A student's answers to decoder, cell id -> code. Written from the released notebooks alone.

Its author had seen the source of one class, the attention of notebook 4.
"""

MODEL = {
    "causal_attention_answer": """
def causal_attention(query, key, value):
    tokens, size = query.shape[-2:]
    scores = query @ key.transpose(-2, -1) / math.sqrt(size)
    visible = torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).tril()
    weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return weights @ value
""",
    "pre_norm_block_answer": """
class DecoderBlock(BlockLayers):
    def forward(self, x):
        queries, keys, values = self.to_qkv(self.norm_1(x)).chunk(3, dim=-1)
        attended = causal_attention(self.split_heads(queries), self.split_heads(keys), self.split_heads(values))
        x = x + self.out(self.merge_heads(attended))
        return x + self.mlp(self.norm_2(x))
""",
    "language_model_answer": """
class LanguageModel(ModelLayers):
    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x) @ self.token_embedding.weight.T
""",
    "next_word_loss_answer": """
def next_word_loss(logits, ids):
    guesses, words = logits[:, :-1], ids[:, 1:]
    return F.cross_entropy(guesses.reshape(-1, logits.shape[-1]), words.reshape(-1))
""",
    "bigram_answer": """
def bigram(ids, vocabulary):
    counts = torch.ones(vocabulary, vocabulary)
    counts.index_put_((ids[:-1], ids[1:]), torch.tensor(1.0), accumulate=True)
    return (counts / counts.sum(dim=1, keepdim=True)).log()
""",
    "perplexity_answer": """
def perplexity(log_probabilities):
    return math.exp(-float(log_probabilities.mean()))
""",
    "last_words_answer": """
def last_words(ids, length):
    return torch.stack([ids[i : i + length] for i in range(len(ids) - length + 1)])
""",
}

GENERATION = {
    "temperature_answer": """
def temperature(logits, value):
    if value == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    return (logits / value).softmax(dim=-1)
""",
    "top_k_answer": """
def top_k(probabilities, k):
    k = min(k, probabilities.shape[-1])
    least = probabilities.topk(k, dim=-1).values[:, -1:]
    kept = probabilities.masked_fill(probabilities < least, 0)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
    "top_p_answer": """
def top_p(probabilities, p):
    ordered, order = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    ordered = ordered.masked_fill(before >= p, 0)
    kept = torch.zeros_like(probabilities).scatter(-1, order, ordered)
    return kept / kept.sum(dim=-1, keepdim=True)
""",
    "generate_answer": """
def generate(model, ids, words, choose, end, context):
    for _ in range(words):
        logits = model(ids[-context:].unsqueeze(0))[:, -1]
        word = choose(logits)
        ids = torch.cat([ids, word])
        if word.item() == end:
            break
    return ids
""",
    "beam_search_answer": """
def beam_search(model, ids, words, beams):
    texts, sums = ids[None], torch.zeros(1)
    with torch.no_grad():
        for _ in range(words):
            logs = model(texts)[:, -1].log_softmax(dim=-1)
            totals = (sums[:, None] + logs).flatten()
            sums, best = totals.topk(min(beams, len(totals)))
            which, word = best // logs.shape[-1], best % logs.shape[-1]
            texts = torch.cat([texts[which], word[:, None]], dim=1)
    return texts[0]
""",
}

CACHE = {
    "cached_attention_answer": """
def cached_attention(query, key, value, cache):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=2)
        value = torch.cat([cache[1], value], dim=2)
    new, every = query.shape[2], key.shape[2]
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    hidden = torch.ones(new, every, dtype=torch.bool, device=query.device).triu(every - new + 1)
    weights = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1)
    return weights @ value, (key, value)
""",
    "cached_model_answer": """
class CachedModel(CachedModelLayers):
    def forward(self, ids, caches=None):
        cached = 0 if caches is None else caches[0][0].shape[2]
        positions = torch.arange(cached, cached + ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        longer = []
        for i, block in enumerate(self.blocks):
            x, cache = block(x, None if caches is None else caches[i])
            longer.append(cache)
        return self.final_norm(x) @ self.token_embedding.weight.T, longer
""",
    "cache_memory_answer": """
def cache_memory(config, tokens, batch, bytes_per_number):
    head_size = config.dim // config.heads
    return 2 * config.kv_heads * head_size * tokens * batch * config.layers * bytes_per_number
""",
    "accept_guesses_answer": """
def accept_guesses(logits, guesses):
    own = logits.argmax(dim=-1)
    right = 0
    while right < len(guesses) and own[right] == guesses[right]:
        right += 1
    return own[: right + 1]
""",
}

MODERN = {
    "rms_norm_answer": """
class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        mean = (x * x).mean(dim=-1, keepdim=True)
        return x / torch.sqrt(mean + self.eps) * self.weight
""",
    "rotary_tables_answer": """
def rotary_tables(positions, head_size, base=10000.0):
    frequencies = base ** (-torch.arange(0, head_size, 2) / head_size)
    angles = positions[:, None] * frequencies
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()
""",
    "rotate_answer": """
def rotate(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin
""",
    "swiglu_answer": """
class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
""",
    "grouped_query_attention_answer": """
class GroupedQueryAttention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, self.head_size = heads, kv_heads, dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_size, bias=False)
        self.o_proj = nn.Linear(heads * self.head_size, dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_size, bias=False)

    def forward(self, x, cos, sin):
        batch, tokens, _ = x.shape

        def split(y, heads):
            return y.reshape(batch, tokens, heads, self.head_size).transpose(1, 2)

        queries = rotate(split(self.q_proj(x), self.heads), cos, sin)
        keys = rotate(split(self.k_proj(x), self.kv_heads), cos, sin)
        values = split(self.v_proj(x), self.kv_heads)
        keys = keys.repeat_interleave(self.heads // self.kv_heads, dim=1)
        values = values.repeat_interleave(self.heads // self.kv_heads, dim=1)
        scores = queries @ keys.transpose(2, 3) / self.head_size**0.5
        later = torch.ones(tokens, tokens, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(dim=-1)
        return self.o_proj((weights @ values).transpose(1, 2).reshape(batch, tokens, -1))
""",
    "modern_block_answer": """
class ModernBlock(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = GroupedQueryAttention(dim, heads, kv_heads)
        self.post_attention_layernorm = RMSNorm(dim)
        self.mlp = SwiGLU(dim, hidden)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))
""",
    "complex_rotation_answer": """
def rotate_complex(x, angles):
    first, second = x.chunk(2, dim=-1)
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)
""",
}

INSIDE = {
    "induction_score_answer": """
def induction_score(weights, period):
    tokens = weights.shape[-1]
    queries = torch.arange(period, tokens)
    return weights[:, :, queries, queries - period + 1].mean(dim=(0, 2))
""",
    "knock_out_answer": """
def knock_out(model, ids, layer, heads):
    def hook(module, inputs):
        written = inputs[0].unflatten(-1, (model.heads, -1)).clone()
        written[:, :, heads] = 0
        return (written.flatten(2),)

    handle = model.layers[layer].self_attn.o_proj.register_forward_pre_hook(hook)
    try:
        with torch.no_grad():
            return model(ids)
    finally:
        handle.remove()
""",
    "patch_answer": """
def patch(model, clean, corrupted, layer, token):
    kept = []
    handle = model.layers[layer].register_forward_hook(lambda module, inputs, output: kept.append(output.clone()))
    with torch.no_grad():
        try:
            model(clean)
        finally:
            handle.remove()

        def put(module, inputs, output):
            output = output.clone()
            output[:, token] = kept[0][:, token]
            return output

        handle = model.layers[layer].register_forward_hook(put)
        try:
            return model(corrupted)
        finally:
            handle.remove()
""",
    "mean_knock_out_answer": """
def mean_knock_out(model, ids, layer, heads):
    def hook(module, inputs):
        written = inputs[0].unflatten(-1, (model.heads, -1)).clone()
        written[:, :, heads] = written[:, :, heads].mean(dim=(0, 1), keepdim=True)
        return (written.flatten(2),)

    handle = model.layers[layer].self_attn.o_proj.register_forward_pre_hook(hook)
    try:
        with torch.no_grad():
            return model(ids)
    finally:
        handle.remove()
""",
}

PAIRS = {
    "pair_counts_answer": """
def pair_counts(words):
    counts = {}
    for symbols, often in words.items():
        for pair in zip(symbols, symbols[1:]):
            counts[pair] = counts.get(pair, 0) + often
    return counts
""",
    "merge_answer": """
def merge(symbols, pair):
    merged, i = [], 0
    while i < len(symbols):
        if symbols[i : i + 2] == pair:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return tuple(merged)
""",
    "train_answer": """
def train(words, number, pair_counts, merge):
    table = {tuple(word): often for word, often in words.items()}
    merges = []
    while len(merges) < number:
        counts = pair_counts(table)
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        table = {merge(symbols, best): often for symbols, often in table.items()}
    return merges
""",
    "encode_answer": """
def encode(word, merges, merge):
    symbols = tuple(word)
    for pair in merges:
        symbols = merge(symbols, tuple(pair))
    return list(symbols)
""",
}

ANSWERS = {
    "1_language_model": MODEL,
    "2_generation": GENERATION,
    "3_kv_cache": CACHE,
    "4_modern_block": MODERN,
    "5_looking_inside": INSIDE,
    "6_byte_pair_encoding": PAIRS,
}
