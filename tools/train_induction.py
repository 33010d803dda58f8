"""Train the small model of the decoder's notebook 5 on repeated random tokens.

    python -m tools.train_induction                  # about 90 seconds of processor time
    python -m tools.train_induction --steps 200 --out /tmp/trial.safetensors

Each row of a batch is random tokens followed by the same tokens once more. Nothing can be known about the first half;
the second can be read off it, by looking for the last place where the token at hand stood and copying what came next.
Writes the weights (float32), and prints loss and accuracy in the second half, and the induction score of every head.
"""

import argparse
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from course.small_decoder import FILE, SIZES, SmallDecoder, repeated_tokens

PERIODS = range(8, 25)
BATCH = 64


def second_half(model: SmallDecoder, ids: Tensor) -> tuple[Tensor, Tensor]:
    """(logits, targets) of all predictions that the first half makes possible."""
    period = ids.shape[1] // 2
    return model(ids)[:, period:-1], ids[:, period + 1 :]


def train(model: SmallDecoder, steps: int, rate: float) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.1)
    for step in range(steps):
        ids = repeated_tokens(BATCH, PERIODS[step % len(PERIODS)], seed=step)
        logits, targets = second_half(model, ids)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step:5d}  loss {loss.item():.4f}", flush=True)


@torch.no_grad()
def report(model: SmallDecoder) -> None:
    period = 20
    ids = repeated_tokens(256, period, seed=10**6)
    logits, targets = second_half(model, ids)
    print(f"accuracy in the second half: {(logits.argmax(-1) == targets).float().mean():.4f}")
    weights = model.attentions(ids)  # (layers, batch, heads, queries, keys)
    for name, offset in (("previous token", -1), ("induction", 1 - period)):
        scores = weights.diagonal(offset, -2, -1)[..., 1:].mean((1, 3))  # (layers, heads)
        print(f"{name}: {[[round(score, 3) for score in row] for row in scores.tolist()]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    model = SmallDecoder(**SIZES)
    train(model, given.steps, given.rate)
    report(model.eval())
    given.out.parent.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), given.out)


if __name__ == "__main__":
    main()
