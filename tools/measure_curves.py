"""Four runs of the linear layer of distilbert_lab/1_training, for its last question: curves.json."""

import json

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


def curve(x: Tensor, y: Tensor, optimiser: type[torch.optim.Optimizer], rate: float, zeroed: bool) -> list[float]:
    torch.manual_seed(0)
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
    return found


def main() -> None:
    torch.set_num_threads(1)
    body = finetuning.Classifier(finetuning.make_body(pretrained=True))
    reviews = finetuning.first(load_reviews().train, 1000)
    x, y = finetuning.sentence_vectors(body, finetuning.renamed(finetuning.encoded(reviews, 50)))
    curves = {name: curve(x, y, *run) for name, run in RUNS.items()}
    (STORED / "curves.json").write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
