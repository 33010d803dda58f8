"""How alike texts are: by their words, or by vectors that the course's library makes of them.

An encoder is one function, ``encode(texts)``, which returns an array (texts, dim); ``course.toml`` names its module. It
runs in a process of its own, so that the grader needs nothing that it imports.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from autograder.errors import EncoderFailed

Similarities = NDArray[np.float64]

#: An encoder that has not answered by then is given up.
PATIENCE = 300  # seconds
#: Signs that change what code or a formula says count as words.
_WORD = re.compile(r"\w+|[+/=<>^%]|(?<=\s)-(?=\s)")


@dataclass(frozen=True)
class Likeness:
    """``similarities``: texts to an array (texts, texts), at most 1. From ``threshold`` on two texts are alike."""

    name: str
    similarities: Callable[[Sequence[str]], Similarities]
    threshold: float


def plain_words(text: str) -> str:
    """Two texts that differ in case, spaces and punctuation alone have the same."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()


def _by_words(texts: Sequence[str]) -> Similarities:
    plain = [plain_words(text) for text in texts]
    return process.cdist(plain, plain, scorer=fuzz.token_ratio).astype(np.float64) / 100


BY_WORDS = Likeness("words", _by_words, 0.7)


class TextEncoder:
    """A module of the course's library that makes vectors. Each text is encoded once."""

    def __init__(self, root: Path, module: str) -> None:
        self._root, self._module = root, module
        self._vectors: dict[str, NDArray[np.float64]] = {}

    @property
    def likeness(self) -> Likeness:
        return Likeness("encoder", self.similarities, 0.3)

    def similarities(self, texts: Sequence[str]) -> Similarities:
        """Cosines, after what all texts have in common is taken off. Raises EncoderFailed where the encoder fails."""
        missing = sorted(set(texts) - self._vectors.keys())
        if missing:
            self._vectors |= zip(missing, self._encode(missing), strict=True)
        vectors = np.array([self._vectors[text] for text in texts])
        vectors -= vectors.mean(axis=0)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        found: Similarities = vectors @ vectors.T
        return found

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        command = [sys.executable, "-m", "autograder.marking.encode", self._module]
        try:
            done = subprocess.run(
                command, cwd=self._root, input=json.dumps(texts).encode(), capture_output=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired as error:
            raise EncoderFailed(f"the encoder {self._module} has not answered within {PATIENCE} s") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1][:300]
            raise EncoderFailed(f"the encoder {self._module} failed: {said or f'exit code {done.returncode}'}")
        try:
            vectors = np.load(io.BytesIO(done.stdout), allow_pickle=False).astype(np.float64)
        except ValueError as error:
            raise EncoderFailed(f"the encoder {self._module} returned no array: {error}") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise EncoderFailed(
                f"the encoder {self._module}: expected {len(texts)} finite vectors, got an array {vectors.shape}"
            )
        return vectors
