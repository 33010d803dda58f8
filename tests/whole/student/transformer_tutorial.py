"""A student's answers to transformer_tutorial, cell id -> code. Written from the released notebooks alone.

What a person reads has no answer here.
"""

QUERIES = {
    "bank_reading_answer": """
context = "shore water boat mud grass"
words = context.split()
weights, value = ask("bank", context)
heaviest = words[int(weights.argmax())]
ratio = float(weights.max() / weights.min())
cosines = F.cosine_similarity(vectors.of(words), value, dim=1)
nearest = words[int(cosines.argmax())]
""",
    "dot_product_attention_answer": """
class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def calculate_score(self, queries, keys):
        k = queries.shape[-1]
        return torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(k)

    def mix(self, score, values):
        weights = self.dropout(F.softmax(score, dim=2))
        return torch.bmm(weights, values)

    def fold(self, x):
        b, t, h, k = x.shape
        return x.transpose(1, 2).reshape(b * h, t, k)

    def unfold(self, out, h):
        b, t, k = len(out) // h, *out.shape[1:]
        return out.reshape(b, h, t, k).transpose(1, 2).reshape(b, t, h * k)

    def hide(self, score, mask, h):
        folded = mask.repeat_interleave(h, dim=0).unsqueeze(1)
        return score.masked_fill(~folded, float("-inf"))

    def forward(self, queries, keys, values, b, h, t, k, mask=None):
        queries, keys, values = self.fold(queries), self.fold(keys), self.fold(values)
        score = self.calculate_score(queries, keys)
        if mask is not None:
            score = self.hide(score, mask, h)
        out = self.mix(score, values)
        return self.unfold(out, h)
""",
    "self_attention_answer": """
class SelfAttention(nn.Module):
    def __init__(self, k, heads=8, dropout=0.1):
        super().__init__()
        self.k, self.heads = k, heads
        self.to_keys = nn.Linear(k, k * heads, bias=False)
        self.to_queries = nn.Linear(k, k * heads, bias=False)
        self.to_values = nn.Linear(k, k * heads, bias=False)
        self.unify_heads = nn.Linear(k * heads, k)
        self.attention = DotProductAttention(dropout)

    def forward(self, x, mask=None):
        b, t, k = x.shape
        h = self.heads
        queries = self.to_queries(x).view(b, t, h, k)
        keys = self.to_keys(x).view(b, t, h, k)
        values = self.to_values(x).view(b, t, h, k)
        out = self.attention(queries, keys, values, b, h, t, k, mask)
        return self.unify_heads(out)
""",
    "scores_gradient_answer": """
def scores_gradient(scores, values, upstream):
    weights = scores.softmax(dim=1)
    d = upstream @ values.T
    return weights * (d - (weights * d).sum(dim=1, keepdim=True))
""",
}

BLOCK = {
    "transformer_block_answer": """
class TransformerBlock(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.attention = SelfAttention(k, heads=heads)
        self.norm_1 = nn.LayerNorm(k)
        self.norm_2 = nn.LayerNorm(k)
        self.mlp = nn.Sequential(nn.Linear(k, 2 * k), nn.ReLU(), nn.Linear(2 * k, k))

    def forward(self, x, mask=None):
        attended = self.attention(x, mask)
        x = self.norm_1(attended + x)
        feedforward = self.mlp(x)
        return self.norm_2(feedforward + x)
""",
    "attention_cost_answer": """
def attention_cost(n, m, p):
    encoder = n * n * p
    decoder = m * m * p
    cross = n * m * p
    next_word = (n + m) * p
    return encoder, decoder, cross, next_word
""",
    "positional_encoding_answer": """
class PositionalEncoding(nn.Module):
    def __init__(self, emb_size, dropout=0.1, max_len=512):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len).unsqueeze(1)
        frequency = 10000 ** (-torch.arange(0, emb_size, 2) / emb_size)
        pe = torch.zeros(max_len, emb_size)
        pe[:, 0::2] = torch.sin(position * frequency)
        pe[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.shape[1]]
        return self.dropout(x)
""",
    "mean_pooling_answer": """
def mean_pooling(hidden_states, mask):
    mask = mask.unsqueeze(-1)
    return (hidden_states * mask).sum(dim=1) / mask.sum(dim=1)
""",
    "shift_rotation_answer": """
def shift_rotation(steps, emb_size):
    rotation = torch.zeros(emb_size, emb_size)
    for i in range(emb_size // 2):
        angle = steps * 10000 ** (-2 * i / emb_size)
        rotation[2 * i, 2 * i] = math.cos(angle)
        rotation[2 * i, 2 * i + 1] = math.sin(angle)
        rotation[2 * i + 1, 2 * i] = -math.sin(angle)
        rotation[2 * i + 1, 2 * i + 1] = math.cos(angle)
    return rotation
""",
}

TRAINING = {
    "transformer_answer": """
class Transformer(nn.Module):
    def __init__(self, k, heads, depth, seq_length, num_tokens, num_classes):
        super().__init__()
        self.k = k
        self.pos_enc = PositionalEncoding(k, max_len=seq_length)
        self.token_embedding = nn.Embedding(num_tokens, k)
        self.transformer_blocks = nn.ModuleList([TransformerBlock(k, heads) for _ in range(depth)])
        self.classification_head = nn.Linear(k, num_classes)

    def embed(self, x):
        return self.pos_enc(self.token_embedding(x) * math.sqrt(self.k))

    def encode(self, x, mask):
        for block in self.transformer_blocks:
            x = block(x, mask)
        return mean_pooling(x, mask)

    def classify(self, sequence_avg):
        return F.log_softmax(self.classification_head(sequence_avg), dim=1)

    def forward(self, x):
        mask = x != 0
        x = self.embed(x)
        sequence_avg = self.encode(x, mask)
        return self.classify(sequence_avg)
""",
    "bootstrap_error_answer": """
def bootstrap_error(hits, draws=1000):
    hits = hits.float()
    n = len(hits)
    sample = hits[torch.randint(n, (draws, n))]
    return sample.mean(dim=1).std()
""",
}

BIAS = {
    "masked_word_probability_answer": """
def P(logits, position, word_ids):
    return torch.softmax(logits[position], dim=0)[word_ids]
""",
}

ANSWERS = {
    "1_queries_keys_values": QUERIES,
    "2_transformer_block": BLOCK,
    "3_training": TRAINING,
    "4_bias": BIAS,
}
