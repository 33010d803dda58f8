"""Makes the arrays of numpy_attention, in the shapes of its constants: ``python -m tools.make_numpy_arrays``.

Eleven ``.npy`` files as the notebook names them, and ``recorded.npz`` with the outcomes to practise writing tests
on. Weights are drawn with variance 1 / d_model, so that scores are of order 1 and the attention is not saturated.
"""

import argparse
from pathlib import Path

import numpy as np

from autograder.references import loader

ROOT = Path(__file__).parents[1]
EXERCISES = ROOT / "exercises"
heads, implementations = (
    loader.module(EXERCISES, EXERCISES / "numpy_attention" / name) for name in ("_heads.py", "_implementations.py")
)

D_MODEL, INPUT_LEN = 256, 32
D_QKV, N_HEADS = heads.D_QKV, heads.N_HEADS
FOLDER = ROOT / "course" / "data" / "numpy_attention"
#: The order of ``course.check.numpy_attention._recorded.PRACTICE``: two right ones, then four wrong ones.
PRACTICE = ("float64", "float32", "M2", "M1", "M1-overflow", "uniform")


def draw(seed: int) -> dict[str, np.ndarray]:
    """name -> float64 array; y and y_mh by ``torch``'s own attention."""
    generator = np.random.default_rng(seed)
    x = generator.normal(0, 1, (INPUT_LEN, D_MODEL))
    arrays = {"x": x}
    for suffix, stack in (("", ()), ("_mh", (N_HEADS,))):
        rows = D_QKV * (N_HEADS if stack else 1)
        weights = {name: generator.normal(0, D_MODEL**-0.5, (*stack, D_MODEL, D_QKV)) for name in ("W_q", "W_k", "W_v")}
        weights["W_o"] = generator.normal(0, rows**-0.5, (rows, D_MODEL))
        arrays |= {name + suffix: array for name, array in weights.items()}
        arrays["y" + suffix] = heads.oracle({"x": x, **weights})
    return arrays


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, array in draw(options.seed).items():
        np.save(options.out / f"{name}.npy", array)
    known = {implementation.id: implementation for implementation in implementations.IMPLEMENTATIONS}
    inputs = implementations.draw_inputs(np.random.default_rng(options.seed))
    practice = implementations.record(inputs, [known[name] for name in PRACTICE])
    np.savez_compressed(options.out / "recorded.npz", **practice)


if __name__ == "__main__":
    main()
