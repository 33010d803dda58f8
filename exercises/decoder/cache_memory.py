"""The bytes of a cache, counted: NumPy makes the arrays, one for keys and one for values of each layer."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, variant

from ._rules import growing

TYPES = {2: np.float16, 4: np.float32, 8: np.float64}
SIZES = ((3, 60, 10, 5, 4), (5, 48, 6, 2, 4), (7, 36, 12, 3, 2), (6, 64, 4, 4, 4), (2, 40, 8, 4, 2), (4, 72, 9, 3, 4))


def cases(generator: np.random.Generator) -> list[Case]:
    """In each case one size more is asked about: with ``twice`` as much of it, how large is the cache then?"""
    made = []
    for sizes, twice in zip(SIZES, ("layers", "tokens", "batch", "dim", "kv_heads", "bytes_per_number"), strict=True):
        config = dict(zip(("layers", "dim", "heads", "kv_heads", "bytes_per_number"), sizes, strict=True))
        config |= {"tokens": int(generator.integers(14, 60)), "batch": int(generator.integers(12, 40))}
        larger = config | {twice: 2 * config[twice]}
        expected = {"memory": np.array(kept(config)), "property/times": np.array(kept(larger) / kept(config))}
        made.append(Case(config | {"twice": twice}, {}, expected=expected))
    return made


def kept(config: dict[str, int]) -> float:
    """Bytes of all arrays of keys and values."""
    shape = (config["batch"], config["kv_heads"], config["tokens"], config["dim"] // config["heads"])
    arrays = [np.empty(shape, TYPES[config["bytes_per_number"]]) for _ in range(config["layers"]) for _ in "kv"]
    return float(sum(array.nbytes for array in arrays))


HEAD = "def cache_memory(config, tokens, batch, bytes_per_number):"
# Lines of the solution that mistakes change.
NUMBERS = "2 * config.kv_heads * head_size"
RESULT = "token_numbers * tokens * batch * config.layers * bytes_per_number"

MISTAKES = [
    Mistake("K3-one", "Half of the cache is missing.", "Keys and values are kept.", (NUMBERS, NUMBERS[4:])),
    Mistake("K3-three", "This counts the queries as well.", "Only keys and values are kept.",
            (NUMBERS, "3" + NUMBERS[1:])),
    Mistake("K3-heads", "This counts the query heads.", "What is kept has kv_heads heads.", ("kv_heads", "heads")),
    Mistake("K3-dim", "Each head is counted with dim numbers.", "A head has dim / heads of them.",
            (" // config.heads", "")),
    Mistake("K3-layers", "One layer is counted.", "Each layer has a cache of its own.", (" * config.layers", "")),
    Mistake("K3-batch", "One text is counted.", "Each text of the batch has a cache.", (" * batch", "")),
    Mistake("K3-tokens", "One token is counted.", "All tokens are kept.", (" * tokens", "")),
    Mistake("K3-square", "The memory grows with the square of the tokens.", "Weights between tokens are not kept.",
            ("* tokens", "* tokens**2")),
    Mistake("K3-numbers", "These are numbers, not bytes.", "A number takes bytes_per_number.",
            (" * bytes_per_number", "")),
    Mistake("K3-bits", "These are bits.", "Eight of them are a byte.", (RESULT, "8 * " + RESULT)),
    Mistake("K3-kib", "These are KiB.", "Bytes are asked for.", (RESULT, RESULT + " / 1024")),
    Mistake("K3-mib", "These are MiB.", "Bytes are asked for.", (RESULT, RESULT + " / 1024**2")),
    Mistake("K3-sum", "The sizes were added.", "With twice as many layers the cache is twice as large.",
            (RESULT, RESULT.replace("*", "+"))),
]  # fmt: skip

SIZE = "config.dim // config.heads"
REST = "tokens * batch * bytes_per_number"
RIGHT = {
    "one product": variant(HEAD, f"return 2 * config.layers * config.kv_heads * ({SIZE}) * {REST}"),
    "keys and values": variant(HEAD, f"""
        keys = batch * config.kv_heads * tokens * ({SIZE})
        return (keys + keys) * bytes_per_number * config.layers
    """),
    "tensors that are made": variant(HEAD, f"""
        shape = (config.layers, 2, batch, config.kv_heads, tokens, {SIZE})
        return math.prod(shape) * bytes_per_number
    """),
    "the share of dim":
        variant(HEAD, f"return 2 * config.layers * config.dim * config.kv_heads / config.heads * {REST}"),
    "layer by layer":
        variant(HEAD, f"return sum(2 * {REST} * config.kv_heads * ({SIZE}) for _ in range(config.layers))"),
    "measured": variant(HEAD, f"""
        one = torch.empty(batch, config.kv_heads, tokens, {SIZE}, dtype=torch.int8)
        return 2 * config.layers * one.nbytes * bytes_per_number
    """),
}  # fmt: skip

EXERCISE = Exercise(
    cases, growing, MISTAKES, right=RIGHT, rtol=1e-9, atol=1e-6, shows=("keys and values", "every size counts once"),
)  # fmt: skip
