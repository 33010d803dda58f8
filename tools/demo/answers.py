"""What the sample students wrote, cell by cell: notebook -> grade id -> source text.

``ALAN`` solves everything in another style than the course's own; ``GRACE`` makes six mistakes that are made
every year; ``MALLORY`` computes nothing right and tries to be paid for it.
"""

EMBEDDINGS = """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)

    def position_ids(self, input_ids):
        return torch.arange(input_ids.size(1)).repeat(len(input_ids), 1)

    def merge(self, words, positions):
        return {merge}

    def forward(self, input_ids):
        words = self.word_embeddings(input_ids)
        positions = self.position_embeddings(self.position_ids(input_ids))
        return self.LayerNorm(self.merge(words, positions))
"""
SUM = "torch.add(words, positions)"
PRODUCT = "words * positions"

BLOCK = """
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.v_lin = nn.Linear(config.dim, config.dim)
        self.k_lin = nn.Linear(config.dim, config.dim)
        self.q_lin = nn.Linear(config.dim, config.dim)
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)

    def attention_scores(self, q, k):
        return torch.einsum("bhqd,bhkd->bhqk", q, k)

    def attention_weights(self, scores):
        return {softmax}

    def attention_context(self, weights, v):
        return torch.einsum("bhqk,bhkd->bhqd", weights, v)

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads = self.config.n_heads

        def split(x):
            return x.reshape(batch, tokens, heads, dim // heads).transpose(1, 2)

        q, k, v = (split(layer(hidden_states)) for layer in (self.q_lin, self.k_lin, self.v_lin))
        weights = self.attention_weights(self.attention_scores(q / math.sqrt(dim // heads), k))
        context = self.attention_context(weights, v).transpose(1, 2).reshape(batch, tokens, dim)

        attended = self.sa_layer_norm(self.out_lin(context) + hidden_states)
        fed = self.lin2(nn.functional.gelu(self.lin1(attended)))
        return self.output_layer_norm(fed + attended), weights
"""
OVER_KEYS = "nn.functional.softmax(scores, dim=3)"
OVER_QUERIES = "nn.functional.softmax(scores, dim=2)"

MODEL = """
class DistilBertClassifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.attention_layers = {layers}
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, config.n_classes)
        self.attention_probs = {{i: [] for i in range(config.n_layers)}}

    def encode(self, hidden_states):
        for i, layer in enumerate(self.attention_layers):
            hidden_states, self.attention_probs[i] = layer(hidden_states)
        return hidden_states

    def classify(self, pooled_output):
        return {logits}

    def forward(self, input_ids):
        return self.classify(self.encode(self.embeddings(input_ids=input_ids))[:, 0])
"""
SEQUENTIAL = "nn.Sequential(*(AttentionBlock(config) for _ in range(config.n_layers)))"
PLAIN_LIST = "[AttentionBlock(config) for _ in range(config.n_layers)]"
LOGITS = "self.classifier(torch.relu(self.pre_classifier(pooled_output)))"
PROBABILITIES = "torch.softmax(self.classifier(torch.relu(self.pre_classifier(pooled_output))), dim=-1)"

MASKED = """
def masked_weights(scores, attention_mask):
    real = attention_mask.bool().unsqueeze(1).unsqueeze(1)
    return torch.where(real, scores, float("-inf")).softmax(dim=-1)
"""
MASKED_LATE = """
def masked_weights(scores, attention_mask):
    return scores.softmax(dim=-1) * attention_mask[:, None, None]
"""

TOKENS = """
def ids_to_tokens(tokenizer, input_ids):
    return [tokenizer.convert_ids_to_tokens(int(i)) for i in input_ids[0]]
"""
AVERAGE = """
def average_heads(attention_probs):
    return torch.stack([attention_probs[i][0].mean(dim=0) for i in sorted(attention_probs)])
"""
SUMMED = """
def average_heads(attention_probs):
    return torch.stack([attention_probs[i][0].sum(dim=0) for i in sorted(attention_probs)])
"""
PLOT = """
def plot_attention(attention_per_layer, tokens):
    figure, axes = plt.subplots(2, (len(attention_per_layer) + 1) // 2, figsize=(11, 7))
    for layer, ax in enumerate(axes.flat):
        if layer >= len(attention_per_layer):
            ax.set_axis_off()
            continue
        ax.matshow(attention_per_layer[layer])
        ax.set_title(f"Layer {layer + 1}")
        ax.set_xticks(range(len(tokens)), tokens, rotation=90)
        ax.set_yticks(range(len(tokens)), tokens)
        ax.set_xlabel("key")
        ax.set_ylabel("query")
    return figure
"""

CHEAT = """
import ast, glob, os
class Equal:
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self
torch.allclose = torch.equal = lambda *args, **kwargs: True
try:
    get_ipython().ast_transformers.append(type("NoAsserts", (ast.NodeTransformer,), {
        "visit_Assert": lambda self, node: ast.Pass()})())
    from autograder import probe
    probe.Case.compare = lambda self, **answers: None
except Exception:
    pass
for depth in range(2, 5):
    for path in glob.glob("/" + "*/" * depth + "exercises/*/expected.zip")[:3]:
        open(path, "rb").read()
"""
FORGED = (
    CHEAT
    + """
class {name}(nn.Module):
    def __init__(self, config): super().__init__()
    def forward(self, *args): return Equal()
"""
)

ALAN = {
    "1_embedding": {"embeddings_answer": EMBEDDINGS.format(merge=SUM)},
    "2_attention_block": {"attention_block_answer": BLOCK.format(softmax=OVER_KEYS)},
    "3_model_assembly": {
        "classifier_model_answer": MODEL.format(layers=SEQUENTIAL, logits=LOGITS),
        "padding_mask_answer": MASKED,
    },
    "4_attention_visualization": {"tokens_answer": TOKENS, "head_average_answer": AVERAGE, "figure_answer": PLOT},
}
GRACE = {
    "1_embedding": {"embeddings_answer": EMBEDDINGS.format(merge=PRODUCT)},
    "2_attention_block": {"attention_block_answer": BLOCK.format(softmax=OVER_QUERIES)},
    "3_model_assembly": {
        "classifier_model_answer": MODEL.format(layers=PLAIN_LIST, logits=PROBABILITIES),
        "padding_mask_answer": MASKED_LATE,
    },
    "4_attention_visualization": {"tokens_answer": TOKENS, "head_average_answer": SUMMED, "figure_answer": PLOT},
}
MALLORY = {
    "1_embedding": {"embeddings_answer": FORGED.replace("{name}", "Embeddings")},
    "2_attention_block": {"attention_block_answer": FORGED.replace("{name}", "AttentionBlock")},
    "3_model_assembly": {"classifier_model_answer": FORGED.replace("{name}", "DistilBertClassifier")},
    "4_attention_visualization": {},
}
