"""``python -m tests.questions``: questions on every right answer of the main line, as a table.

Exit code 1 where a key is wrong, or where a form of choices says which is right.
"""

from __future__ import annotations

import argparse
import sys

from tests.questions.table import table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=20, help="for each right answer")
    return table(parser.parse_args(arguments).tokens)


if __name__ == "__main__":
    sys.exit(main())
