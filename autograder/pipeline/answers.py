"""Answer files: written by a process that ran student code, read here in the trusted one.

Nothing in them is believed: size, header, number of arrays, shapes and the nesting of texts are bounded before
anything is parsed. The judge's memory for one file stays below a few megabytes, whatever the file holds.
"""

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from autograder.exercise.model import Case
from autograder.exercise.text import MAX_TEXT_BYTES, READY_MADE, TEXT, read_text
from autograder.pipeline.outcomes import AnswerFiles

#: Any answer file may be this large; one whose inputs and expected answers are larger may be in proportion.
MIN_FILE_BYTES = 256 << 10
TIMES_EXPECTED = 4
#: The header names every array with its shape. The largest of our own has 4 kB.
MAX_HEADER_BYTES = 32 << 10
MAX_ARRAYS = 200
MAX_AXES = 12
_NAME_OF_A_PART = re.compile(r"[A-Za-z0-9_.]{1,200}")


class UnreadableAnswers(ValueError):
    """There is a file, but its content is not read; the message says why, in words for the student."""


def most_bytes(case: Case) -> int:
    """How large an answer file to this case may be."""
    arrays = (*case.inputs.values(), *case.weights.values(), *case.expected.values())
    return max(MIN_FILE_BYTES, TIMES_EXPECTED * 8 * sum(array.size for array in arrays))


def read_answers(answers: AnswerFiles, name: str, case: Case) -> dict[str, np.ndarray] | None:
    """Those of one case, ``<cell>/<slug>/<case>.safetensors``, as :func:`read_file` gives them."""
    if isinstance(answers, Path):
        return read_file(answers / name, case)
    return _parsed(answers[name], len(answers[name]), case) if name in answers else None


def read_file(path: Path, case: Case) -> dict[str, np.ndarray] | None:
    """The arrays of one answer file; None where there is no plain file. Raises UnreadableAnswers."""
    most = most_bytes(case)
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(most + 1) if size <= most else b""
    return _parsed(data, size, case)


def ready_made_in(arrays: dict[str, np.ndarray]) -> list[str]:
    """Takes the names of ready-made parts that ran out of the answers; what is none is left out."""
    names = read_text(arrays.pop(READY_MADE, None))
    names = names if isinstance(names, list) else []
    return [name for name in names if isinstance(name, str) and _NAME_OF_A_PART.fullmatch(name)][:MAX_ARRAYS]


def _parsed(data: bytes, size: int, case: Case) -> dict[str, np.ndarray]:
    most = most_bytes(case)
    if size > most or len(data) > most:
        raise UnreadableAnswers(f"What your code handed over has {max(size, len(data)):,} bytes; at most {most:,} fit.")
    return parse(data)


def parse(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file of bounded size. Raises UnreadableAnswers, and nothing else."""
    _look_at_header(data)
    try:
        arrays = dict(load(data))
    except Exception as error:  # whatever the parser makes of hostile bytes, it is a wrong answer
        raise UnreadableAnswers("What your code handed over could not be read.") from error
    for name, array in arrays.items():
        if name.startswith(TEXT) and array.nbytes > MAX_TEXT_BYTES:
            raise UnreadableAnswers(f"A text of {array.nbytes:,} bytes came; at most {MAX_TEXT_BYTES:,} are read.")
    return arrays


def _look_at_header(data: bytes) -> None:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(MAX_HEADER_BYTES, len(data) - 8):
        raise UnreadableAnswers("What your code handed over could not be read, or holds too many answers.")
    header = _json(data[8 : 8 + length])
    if not isinstance(header, dict):
        raise UnreadableAnswers("What your code handed over could not be read.")
    if len(header) > MAX_ARRAYS:
        raise UnreadableAnswers(f"{len(header)} answers came for one case; at most {MAX_ARRAYS} are read.")
    for about in header.values():
        shape = about.get("shape", []) if isinstance(about, dict) else []
        if not isinstance(shape, list) or len(shape) > MAX_AXES:
            raise UnreadableAnswers(f"An answer came that has no shape, or more than {MAX_AXES} axes.")
        # an empty array of shape (0, 10**12) costs nothing until somebody sums over its first axis
        sizes = [max(size, 1) if isinstance(size, int) else len(data) + 1 for size in shape]
        if math.prod(sizes) > len(data):
            raise UnreadableAnswers("An answer came whose shape makes no sense.")


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
