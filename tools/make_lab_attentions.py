"""Make what ``3_attention_visualization.ipynb`` shows, with the ``mini`` checkpoint. A few seconds on two cores.

    python -m tools.make_lab_attentions

Writes ``course/data/encoder_lab/attentions.safetensors``, for "time flies like an arrow" / "fruit flies like a banana":
    attentions (layers, heads, tokens, tokens), queries and keys (layers, heads, tokens, dim per head), and
    attentions_without_positions, of the same model with one vector in place of all position vectors
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from course.parts import ReadyClassifier
from course.pretrained import load
from course.tokenizer import load_tokenizer

PAIR = ("time flies like an arrow", "fruit flies like a banana")
OUT = Path(__file__).resolve().parent.parent / "course" / "data" / "encoder_lab"


def load_model(positions: bool) -> ReadyClassifier:
    """The checkpoint; without positions every place gets one vector, the mean of those of the first 64 places."""
    model = load(ReadyClassifier, "mini").eval()
    if not positions:
        table = model.embeddings.position_embeddings.weight.data
        table[:] = table[:64].mean(0)
    return model


def queries_and_keys(model: ReadyClassifier, input_ids: Tensor) -> tuple[Tensor, Tensor]:
    """-> each (layers, heads, tokens, dim per head)"""
    hidden_states = model.embeddings(input_ids)
    queries, keys = [], []
    for block in model.attention_layers:
        heads = (len(input_ids[0]), model.config.n_heads, model.config.attention_head_size)
        queries.append(block.q_lin(hidden_states)[0].view(heads).transpose(0, 1))
        keys.append(block.k_lin(hidden_states)[0].view(heads).transpose(0, 1))
        hidden_states, _ = block(hidden_states)
    return torch.stack(queries), torch.stack(keys)


def attentions(model: ReadyClassifier, input_ids: Tensor) -> Tensor:
    """-> (layers, heads, tokens, tokens)"""
    model(input_ids)
    return torch.cat([model.attention_probs[layer] for layer in sorted(model.attention_probs)])


def main() -> None:
    torch.manual_seed(0)
    tokenizer = load_tokenizer()
    with_positions, without = load_model(True), load_model(False)
    input_ids = tokenizer(*PAIR, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        queries, keys = queries_and_keys(with_positions, input_ids)
        tensors = {
            "attentions": attentions(with_positions, input_ids),
            "attentions_without_positions": attentions(without, input_ids),
            "queries": queries,
            "keys": keys,
        }
        OUT.mkdir(parents=True, exist_ok=True)
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, OUT / "attentions.safetensors")


if __name__ == "__main__":
    main()
