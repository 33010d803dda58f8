"""What sample answers of several exercises are made of: a block and a model with places to fill, and changed lines."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from autograder.exercise import SampleAnswer


def wrong(name: str, mistake: str, *changes: tuple[str, str], **others: Any) -> SampleAnswer:
    """The instructor's solution with some lines changed, which costs all points; ``mistake`` may be empty."""
    return SampleAnswer(name, changes=changes, mistake=mistake, points=0, **others)


# --- the attention block ----------------------------------------------------------------------------------------------

BLOCK = """
class AttentionBlock(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
{init}
        self.out_lin = nn.Linear(config.dim, config.dim)
        self.sa_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
        self.lin1 = nn.Linear(config.dim, config.hidden_dim)
        self.lin2 = nn.Linear(config.hidden_dim, config.dim)
        self.output_layer_norm = nn.LayerNorm(config.dim, eps=config.eps)
{more}

    def forward(self, hidden_states):
        batch, tokens, dim = hidden_states.shape
        heads, size = self.config.n_heads, self.config.attention_head_size
{attention}
{rest}
"""
IN_ORDER = """
self.q_lin = nn.Linear(config.dim, config.dim)
self.k_lin = nn.Linear(config.dim, config.dim)
self.v_lin = nn.Linear(config.dim, config.dim)
"""
PROJECT = """
def split(x):
    return x.view(batch, tokens, heads, size).transpose(1, 2)

q = split(self.q_lin(hidden_states)) / math.sqrt(size)
k, v = split(self.k_lin(hidden_states)), split(self.v_lin(hidden_states))
"""
MERGE = """
context = context.transpose(1, 2).reshape(batch, tokens, dim)
"""
PLAIN = PROJECT + "weights = torch.softmax(q @ k.mT, dim=-1)\ncontext = weights @ v\n" + MERGE
REST = """
attended = self.sa_layer_norm(self.out_lin(context) + hidden_states)
fed = self.lin2(nn.functional.gelu(self.lin1(attended)))
return self.output_layer_norm(fed + attended), weights
"""


def block(attention: str = PLAIN, init: str = IN_ORDER, more: str = "", rest: str = REST) -> str:
    """A right attention block; each part may be written in another way."""
    parts = {"init": init, "more": more, "attention": attention, "rest": rest}
    return BLOCK.format(**{part: indent(code.strip("\n"), " " * 8) for part, code in parts.items()})


# --- the model --------------------------------------------------------------------------------------------------------

MODEL = """
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
LOOP = """output = self.embeddings(input_ids)
for i, layer in enumerate(self.attention_layers):
    output, self.attention_probs[i] = layer(output)"""
LOGITS = "logits = self.classifier(torch.relu(self.pre_classifier(pooled_output)))"


def model(
    layers: str = LAYERS,
    loop: str = LOOP,
    kept: str = "{}",
    pooled: str = "output[:, 0]",
    logits: str = LOGITS,
    more: str = "",
    called: str = "DistilBertClassifier",
) -> str:
    """A right model; each part may be written in another way."""
    parts = {"layers": layers, "loop": loop, "logits": logits, "more": more}
    inner = {part: indent(code, " " * 8).strip() for part, code in parts.items()}
    return MODEL.format(name=called, kept=kept, pooled=pooled, **inner)
