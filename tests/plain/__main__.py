"""``python -m tests.plain [COURSE ...]``: how plain tests are judged here, beside stock nbgrader.

Solution, untouched, half-done, mutated and restyled notebooks of each course, graded by stock nbgrader (which runs
them unconfined) and by ours; prints every difference with its reason. Exit code 1 where ours gives more, or less
without a word to the instructor. Without a course: the corpus of plain test cells, as one.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import nbformat

from tests.plain import courses
from tests.plain.entries import entries, notebook


def corpus(root: Path) -> Path:
    (root / "source" / "corpus").mkdir(parents=True)
    made = notebook([entry for entry in entries() if entry.can_run])
    nbformat.write(made, root / "source" / "corpus" / "corpus.ipynb")
    return root


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.plain", description=__doc__)
    parser.add_argument("courses", nargs="*", type=Path, metavar="COURSE", help="a folder with source/")
    parser.add_argument("--only", nargs="+", default=(), metavar="ASSIGNMENT")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", type=int, default=3, help="notebooks with small mistakes in each answer")
    parser.add_argument("--styles", type=int, default=2, help="notebooks with answers of other types")
    parser.add_argument("--seconds", type=int, default=30, help="for one cell")
    parser.add_argument("--work", type=Path, help="keep the copies here; stock nbgrader's points are used again")
    return parser.parse_args()


if __name__ == "__main__":
    args = parsed()
    with tempfile.TemporaryDirectory() as folder:
        chosen = courses.Options(args.seed, args.mutants, args.styles, args.seconds, tuple(args.only))
        of = args.courses or [corpus(Path(folder, "corpus"))]
        sys.exit(courses.main(of, args.work or Path(folder, "work"), chosen))
