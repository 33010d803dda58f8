"""Four runs of the linear layer of distilbert_lab/1_training, for its last question: curves.json.

With the argument "rates": the accuracy of each learning rate that was tried for that notebook, on training reviews that
it does not use, mean of five seeds.
"""

import json
import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from course import finetuning
from course.distillation import STORED
from course.reviews import load_reviews

EPOCHS = 10
#: curve -> optimiser, learning rate, are gradients zeroed?
RUNS = {
    "A": (torch.optim.AdamW, 1e-2, True),
    "B": (torch.optim.SGD, 0.1, False),
    "C": (torch.optim.AdamW, 3e-5, True),
    "D": (torch.optim.AdamW, 1.0, True),
}
#: Each optimiser's learning rates that were tried.
TRIED = {
    torch.optim.SGD: (0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
    torch.optim.AdamW: (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1),
}


def curve(
    x: Tensor, y: Tensor, optimiser: type[torch.optim.Optimizer], rate: float, zeroed: bool = True, seed: int = 0
) -> tuple[list[float], nn.Module]:
    """The loss of each epoch, and the model."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(x.shape[1], 2))
    optimizer = optimiser(model.parameters(), lr=rate)  # type: ignore[call-arg]
    batches = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    found = []
    for _ in range(EPOCHS):
        total = 0.0
        for inputs, labels in batches:
            if zeroed:
                optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        found.append(round(total / len(x), 3))
    return found, model.eval()


def main() -> None:
    torch.set_num_threads(1)
    body = finetuning.Classifier(finetuning.make_body(pretrained=True))
    reviews = finetuning.first(load_reviews().train, 1500)
    x, y = finetuning.sentence_vectors(body, finetuning.renamed(finetuning.encoded(reviews, 50)))
    learn, others = (x[:1000], y[:1000]), (x[1000:], y[1000:])
    if sys.argv[1:] == ["rates"]:
        for optimiser, rates in TRIED.items():
            for rate in rates:
                models = [curve(*learn, optimiser, rate, seed=seed)[1] for seed in range(5)]
                hits = torch.stack([model(others[0]).argmax(-1) == others[1] for model in models])
                print(f"{optimiser.__name__:6} {rate:<8} {hits.float().mean():.3f}")
        return
    curves = {name: curve(*learn, kind, rate, zeroed)[0] for name, (kind, rate, zeroed) in RUNS.items()}
    (STORED / "curves.json").write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
