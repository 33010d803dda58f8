"""Answers that are text: how a text, or a list of texts, travels as an array, and how it is read back with bounds."""

import json
from typing import Any

import numpy as np

#: Prefix of an array's name that holds text: UTF-8 JSON as bytes.
TEXT = "text:"
#: The array that names the ready-made parts that ran for the answers.
READY_MADE = f"{TEXT}ready-made"
#: The longest of our own exercises asks for a few hundred bytes.
MAX_TEXT_BYTES = 32 << 10
MAX_TEXT_DEPTH = 8


def text_array(value: Any) -> np.ndarray:
    """Text, or a list of texts, as the bytes under which it travels."""
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def read_text(array: np.ndarray | None) -> Any | None:
    """The text or list of texts that an array holds; None where it holds none that is short and flat enough."""
    if array is None or array.dtype != np.uint8 or array.ndim != 1 or array.nbytes > MAX_TEXT_BYTES:
        return None
    try:
        text = array.tobytes().decode()
        return json.loads(text) if depth(text) <= MAX_TEXT_DEPTH else None
    except ValueError:
        return None


def depth(text: str) -> int:
    """How deep brackets are nested in a JSON text, those in strings left out. Known before it is parsed."""
    deepest = level = 0
    inside = escaped = False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "[{":
            level += 1
            deepest = max(deepest, level)
        elif character in "]}":
            level -= 1
    return deepest
