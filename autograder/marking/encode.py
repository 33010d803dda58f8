"""The process in which an encoder runs: ``python -m autograder.marking.encode MODULE``, texts in, vectors out."""

import contextlib
import importlib
import io
import json
import sys

import numpy as np


def main(module: str) -> None:
    """Read a JSON list of texts from stdin; write what ``MODULE.encode`` makes of it to stdout, as npy."""
    texts = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):  # whatever is printed on the way is no vector
        vectors = np.asarray(importlib.import_module(module).encode(texts), dtype=np.float32)
    made = io.BytesIO()  # NumPy asks a file for its place, and a pipe has none
    np.save(made, vectors, allow_pickle=False)
    sys.stdout.buffer.write(made.getvalue())


if __name__ == "__main__":
    main(sys.argv[1])
