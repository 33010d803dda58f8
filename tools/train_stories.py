"""Train the small language model that comes with the course. About two minutes on one processor core.

    python -m tools.train_stories

Writes ``course/checkpoints/stories/``, and prints the perplexities of its model card.
"""

import torch

from course.decoder_parts import (
    DecoderConfig,
    ReadyModel,
    batches,
    log_probabilities,
    ready_loss,
    save_stories_model,
    train,
)
from course.stories import load_stories, windows

STEPS, SIZE, SEED = 3000, 32, 2024


def main() -> None:
    torch.set_num_threads(1)  # the same sums in the same order on every machine of a kind
    torch.manual_seed(SEED)
    config, stories = DecoderConfig(), load_stories()
    model = ReadyModel(config)
    losses = train(model, ready_loss, batches(stories.train, config.context, SIZE, STEPS, SEED), STEPS)
    save_stories_model(model, config)
    print(f"loss of the first step {losses[0]:.3f}, of the last one {losses[-1]:.3f}")
    length, size = config.context, config.vocabulary
    pieces, test = windows(stories.train, length), windows(stories.test, length)
    pairs = torch.ones(size, size)
    pairs.index_put_((pieces[:, :-1].flatten(), pieces[:, 1:].flatten()), torch.tensor(1.0), accumulate=True)
    singles = pairs.sum(0) / pairs.sum()
    bigram = (pairs / pairs.sum(1, keepdim=True))[test[:, :-1], test[:, 1:]]
    rows = {"unigram": singles[test[:, 1:]].log(), "bigram": bigram.log()}
    rows["model"] = log_probabilities(model, stories.test, length)
    for name, row in rows.items():
        print(f"perplexity of the {name:8}{float((-row.mean()).exp()):7.2f}")
    print(f"{sum(weight.numel() for weight in model.parameters()):,} parameters")


if __name__ == "__main__":
    main()
