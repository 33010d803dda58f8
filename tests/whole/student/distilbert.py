"""A student's answers to distilbert, cell id -> code. Written from the released notebooks alone.

Its author had seen the source of one class, the attention block.
"""

EMBEDDING = {
    "embeddings_answer": """
class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.dim, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.dim)
        self.LayerNorm = nn.LayerNorm(config.dim, eps=config.eps)

    def forward(self, input_ids):
        input_embeds = self.word_embeddings(input_ids)
        batch, tokens = input_ids.shape
        position_ids = torch.arange(tokens, device=input_ids.device).repeat(batch, 1)
        position_embeddings = self.position_embeddings(position_ids)
        embeddings = input_embeds + position_embeddings
        return self.LayerNorm(embeddings)
""",
    "word_pieces_answer": """
def word_pieces(word, vocabulary):
    pieces, rest, mark = [], word, ""
    while rest:
        for length in range(len(rest), 0, -1):
            if mark + rest[:length] in vocabulary:
                pieces.append(mark + rest[:length])
                rest, mark = rest[length:], "##"
                break
        else:
            return ["[UNK]"]
    return pieces
""",
}

BLOCK = {
    "own_code_answer": "own_code = {}",  # its choices are made of a run
    "attention_block_answer": """
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.q_lin = nn.Linear(config.dim, config.dim)
        self.k_lin = nn.Linear(config.dim, config.dim)
        self.v_lin = nn.Linear(config.dim, config.dim)
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads, size = self.config.n_heads, self.config.attention_head_size

        def shape(x):
            return x.view(batch, tokens, heads, size).transpose(1, 2)

        def unshape(x):
            return x.transpose(1, 2).reshape(batch, tokens, heads * size)

        q = shape(self.q_lin(hidden_states))
        k = shape(self.k_lin(hidden_states))
        v = shape(self.v_lin(hidden_states))
        q = q / math.sqrt(q.shape[-1])

        scores = torch.matmul(q, k.permute(0, 1, 3, 2))
        weights = torch.softmax(scores, dim=3)
        context = torch.matmul(weights, v)

        context = unshape(context)
        sa_output = self.out_lin(context)
        sa_output = self.sa_layer_norm(sa_output + hidden_states)

        x = nn.functional.gelu(self.lin1(sa_output))
        ffn_output = self.lin2(x)
        ffn_output = self.output_layer_norm(ffn_output + sa_output)

        return ffn_output, weights
""",
    "attention_gradient_answer": """
def attention_gradient(q, k, v, grad_context):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
    grad_v = weights.transpose(-2, -1) @ grad_context
    grad_weights = grad_context @ v.transpose(-2, -1)
    shared = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - shared)
    return grad_scores @ k, grad_scores.transpose(-2, -1) @ q, grad_v
""",
}

MODEL = {
    "classifier_model_answer": """
class DistilBertClassifier(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.pre_classifier = nn.Linear(config.dim, config.dim)
        self.classifier = nn.Linear(config.dim, config.n_classes)
        self.attention_probs = {}
        blocks = []
        for _ in range(config.n_layers):
            blocks.append(AttentionBlock(config))
        self.attention_layers = nn.ModuleList(blocks)

    def forward(self, input_ids):
        hidden_states = self.embeddings(input_ids)
        encoder_input = hidden_states
        for i in range(self.config.n_layers):
            encoder_input, self.attention_probs[i] = self.attention_layers[i](encoder_input)
        output = encoder_input
        pooled_output = output[:, 0]
        logits = self.classifier(torch.relu(self.pre_classifier(pooled_output)))
        return logits
""",
    "padding_mask_answer": """
def masked_weights(scores, attention_mask):
    padded = (attention_mask == 0).unsqueeze(1).unsqueeze(2)
    return torch.softmax(scores.masked_fill(padded, float("-inf")), dim=-1)
""",
    "padding_answer": """
class MaskedAttentionBlock(AttentionBlock):
    def forward(self, hidden_states, attention_mask=None):
        batch, tokens, dim = hidden_states.shape
        heads, size = self.config.n_heads, self.config.attention_head_size

        def shape(x):
            return x.view(batch, tokens, heads, size).transpose(1, 2)

        q, k, v = (shape(layer(hidden_states)) for layer in (self.q_lin, self.k_lin, self.v_lin))
        scores = (q / size**0.5) @ k.transpose(-2, -1)
        if attention_mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = masked_weights(scores, attention_mask)
        context = (weights @ v).transpose(1, 2).reshape(batch, tokens, dim)
        sa_output = self.sa_layer_norm(self.out_lin(context) + hidden_states)
        ffn_output = self.lin2(nn.functional.gelu(self.lin1(sa_output)))
        return self.output_layer_norm(ffn_output + sa_output), weights


class MaskedDistilBertClassifier(DistilBertClassifier):
    def __init__(self, config):
        super().__init__(config)
        self.attention_layers = nn.ModuleList(MaskedAttentionBlock(config) for _ in range(config.n_layers))

    def forward(self, input_ids, attention_mask=None):
        output = self.embeddings(input_ids)
        for i, block in enumerate(self.attention_layers):
            output, self.attention_probs[i] = block(output, attention_mask)
        return self.classifier(torch.relu(self.pre_classifier(output[:, 0])))
""",
}

LOOK = {
    "tokens_answer": """
def ids_to_tokens(tokenizer, input_ids):
    return tokenizer.convert_ids_to_tokens(input_ids[0].tolist())
""",
    "head_average_answer": """
def average_heads(attention_probs):
    layers = sorted(attention_probs)
    return torch.cat([attention_probs[layer].mean(dim=1) for layer in layers])
""",
    "figure_answer": """
def plot_attention(attention_per_layer, tokens):
    n_layers = len(attention_per_layer)
    figure, panels = plt.subplots(1, n_layers, figsize=(5 * n_layers, 5), squeeze=False)
    positions = list(range(len(tokens)))
    for i, panel in enumerate(panels.flat):
        panel.imshow(attention_per_layer[i])
        panel.set_title(f"layer {i}")
        panel.set_xlabel("key")
        panel.set_ylabel("query")
        panel.set_xticks(positions, tokens, rotation=90)
        panel.set_yticks(positions, tokens)
    return figure
""",
}

ANSWERS = {
    "1_embedding": EMBEDDING,
    "2_attention_block": BLOCK,
    "3_model_assembly": MODEL,
    "4_attention_visualization": LOOK,
}
