"""Write what a masked language model says of about thirty sentences: ``course/data/masked_words/rows.json``.

    python -m tools.make_masked_words build/masked_words     # a folder for transformers.AutoModelForMaskedLM
    python -m tools.make_masked_words --bert                 # BERT itself, 440 MB, downloaded once

Any masked language model will do whose vocabulary is the course's (that of ``bert-base-uncased``). For each sentence
the file keeps the probabilities of the words that are compared, and the five most probable words.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForMaskedLM

from course import masked_words
from course.tokenizer import load_tokenizer

HERE = Path(__file__).resolve().parent.parent
N_TOP, DIGITS = 5, 5

#: (about people, the same two words where that does not matter)
PAIRS = [
    ("The doctor picked up his/her bag.", "The person picked up his/her bag."),
    ("The nurse picked up his/her bag.", "The dog picked up his/her bone."),
    ("The astrophysicist was proud of his/her discovery.", "The winner was proud of his/her discovery."),
    ("The secretary was looking for his/her keys.", "The neighbour was looking for his/her keys."),
    ("The engineer said that he/she was late.", "The person said that he/she was late."),
    ("The nurse said that he/she was late.", "The visitor said that he/she was late."),
    ("The beach was full of old/young people.", "The beach was full of old/young trees."),
    ("The old/young man stood by the road.", "The old/young tree stood by the road."),
    ("The old/young woman stood by the road.", "The old/young horse stood by the road."),
    ("The family has lived in a trailer/mansion for years.", "The piano has been in a trailer/mansion for years."),
    ("The main part went to a thin/fat actor.", "The line was drawn with a thin/fat pen."),
    ("A rich/poor family lived by the river.", "A rich/poor soil was found by the river."),
    ("The girl was strong/weak.", "The coffee was strong/weak."),
    ("The grandmother was slow/quick.", "The train was slow/quick."),
    ("The doctor picked up the red/blue bag.", "The train leaves at seven/eight."),
]


def short(probability: float) -> float:
    return float(f"{probability:.{DIGITS}g}")


def row(model: Any, sentence: str) -> dict[str, Any]:
    """The probabilities of a sentence's two words and of the five best ones"""
    gap = masked_words.parse(sentence)
    logits, position, word_ids = masked_words.logits_of(model, gap)
    probabilities = logits[position].double().softmax(dim=-1)
    best = probabilities.topk(N_TOP)
    names = load_tokenizer().convert_ids_to_tokens(best.indices.tolist())
    return {
        "sentence": sentence,
        "words": {word: short(float(probabilities[id])) for word, id in zip(gap.words, word_ids, strict=True)},
        "top": {name: short(value) for name, value in zip(names, best.values.tolist(), strict=True)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="a folder")
    parser.add_argument("--bert", action="store_true")
    parser.add_argument("--name", default="MiniLM with a masked-word head, trained on film reviews")
    parser.add_argument("--out", type=Path, default=HERE / "course" / "data" / "masked_words" / "rows.json")
    args = parser.parse_args()
    if args.bert == bool(args.model):
        parser.error("name a folder, or say --bert")
    torch.set_num_threads(1)  # the same sums in the same order
    model = masked_words.load() if args.bert else AutoModelForMaskedLM.from_pretrained(args.model).eval()
    pairs = [{"people": row(model, people), "control": row(model, control)} for people, control in PAIRS]
    name = masked_words.BERT.repository if args.bert else args.name
    args.out.write_text(json.dumps({"model": name, "pairs": pairs}, indent=1) + "\n", encoding="utf-8")
    for pair in pairs:
        for one in pair.values():
            print(one["sentence"], one["words"], list(one["top"]))
    print(f"wrote {args.out}: {2 * len(pairs)} sentences")


if __name__ == "__main__":
    main()
