"""Make the small review set that comes with the course: ``course/data/reviews/{train,test}.tsv``.

    python -m tools.make_reviews               # a second; the same bytes every time

Reads ``sentence-polarity/`` (Pang and Lee 2005, CC BY 4.0) from the folder named by ``COURSE_DATA``, draws
as many positive as negative sentences with a seeded generator, and writes one sentence a line: label (0 negative,
1 positive), tab, text.

The source is latin-1 and its sentences end with ``\\n`` alone; a few hold bytes 0x80 to 0x9f, which are dashes and
dots of Windows' code page 1252, and which ``str.splitlines`` would take for line ends.
"""

import argparse
import os
import random
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
LABELS = {"neg": 0, "pos": 1}
SEED = 2021
N_TRAIN, N_TEST = 3250, 500  # of each label

Row = tuple[int, str]


def read(path: Path) -> list[str]:
    """The sentences of one file of the source, in order, as they should have been encoded."""
    text = path.read_bytes().decode("latin-1")
    return [_repaired(line) for line in text.split("\n") if line.strip()]


def _repaired(line: str) -> str:
    windows = re.sub("[\x80-\x9f]", lambda found: found[0].encode("latin-1").decode("cp1252", "replace"), line)
    return " ".join(windows.split())


def key(sentence: str) -> str:
    """What two sentences share when they say the same: their letters and digits."""
    return re.sub(r"\W+", "", sentence.lower())


def split(sentences: dict[int, list[str]], seed: int = SEED) -> tuple[list[Row], list[Row]]:
    """label -> sentences  ->  (train, test), each balanced and shuffled; nothing stands twice, or in both."""
    generator = random.Random(seed)
    seen: set[str] = set()
    train: list[Row] = []
    test: list[Row] = []
    for label, texts in sorted(sentences.items()):
        fresh = []
        for text in texts:
            if key(text) not in seen:
                seen.add(key(text))
                fresh.append((label, text))
        generator.shuffle(fresh)
        test += fresh[:N_TEST]
        train += fresh[N_TEST : N_TEST + N_TRAIN]
    generator.shuffle(train)
    generator.shuffle(test)
    return train, test


def write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8", newline="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "course" / "data" / "reviews")
    arguments = parser.parse_args()
    data = Path(os.environ.get("COURSE_DATA", HERE.parent / "shared" / "data")) / "sentence-polarity"
    train, test = split({label: read(data / f"rt-polarity.{name}") for name, label in LABELS.items()})
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in (("train", train), ("test", test)):
        write(arguments.out / f"{name}.tsv", rows)
        print(f"{name}.tsv: {len(rows)} sentences, {sum(label for label, _ in rows)} of them positive")


if __name__ == "__main__":
    main()
