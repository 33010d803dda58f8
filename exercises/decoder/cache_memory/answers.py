"""Right and wrong formulas for the memory of a cache."""

from __future__ import annotations

from .._answers import functions, wrong_functions

HEAD = "def cache_memory(config, tokens, batch, bytes_per_number):"
SIZE = "config.dim // config.heads"
REST = "tokens * batch * bytes_per_number"

RIGHT = functions(HEAD, {
    "one product": f"return 2 * config.layers * config.kv_heads * ({SIZE}) * {REST}",
    "keys and values": f"keys = batch * config.kv_heads * tokens * ({SIZE})\n"
                       "return (keys + keys) * bytes_per_number * config.layers",
    "tensors that are made": "shape = (config.layers, 2, batch, config.kv_heads, tokens, config.dim // config.heads)\n"
                             "return math.prod(shape) * bytes_per_number",
    "the share of dim": "return 2 * config.layers * config.dim * config.kv_heads / config.heads "
                        "* tokens * batch * bytes_per_number",
    "layer by layer": f"return sum(2 * {REST} * config.kv_heads * ({SIZE}) for _ in range(config.layers))",
    "measured": f"one = torch.empty(batch, config.kv_heads, tokens, {SIZE}, dtype=torch.int8)\n"
                "return 2 * config.layers * one.nbytes * bytes_per_number",
})  # fmt: skip

WRONG = wrong_functions(
    HEAD,
    ("keys only", f"config.layers * config.kv_heads * ({SIZE}) * {REST}", "K3-one"),
    ("queries, too", f"3 * config.layers * config.kv_heads * ({SIZE}) * {REST}", "K3-three"),
    ("all query heads", f"2 * config.layers * config.heads * ({SIZE}) * {REST}", "K3-heads"),
    ("dim for each head", f"2 * config.layers * config.kv_heads * config.dim * {REST}", "K3-dim"),
    ("one layer", f"2 * config.kv_heads * ({SIZE}) * {REST}", "K3-layers"),
    ("one text", f"2 * config.layers * config.kv_heads * ({SIZE}) * tokens * bytes_per_number", "K3-batch"),
    ("one token", f"2 * config.layers * config.kv_heads * ({SIZE}) * batch * bytes_per_number", "K3-tokens"),
    ("the square of the tokens", f"2 * config.layers * config.kv_heads * ({SIZE}) * tokens * {REST}", "K3-square"),
    ("numbers", f"2 * config.layers * config.kv_heads * ({SIZE}) * tokens * batch", "K3-numbers"),
    ("bits", f"16 * config.layers * config.kv_heads * ({SIZE}) * {REST}", "K3-bits"),
    ("KiB", f"2 * config.layers * config.kv_heads * ({SIZE}) * {REST} / 1024", "K3-kib"),
    ("sizes added", f"2 * (config.layers + config.kv_heads + {SIZE} + tokens + batch) * bytes_per_number", ""),
)  # fmt: skip
