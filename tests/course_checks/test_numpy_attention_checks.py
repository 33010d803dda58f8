"""The visible checks of numpy_attention: they name what is wrong, let pass what is right, and never ask for torch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autograder.references import loader
from course.check import numpy_attention as check
from course.check.base import CheckFailed
from tests.exercises.answers import text_of
from tests.grading import REFERENCES, ROOT, solution

SELF = "numpy_attention/self_attention"
DATA = ROOT / "course" / "data" / "numpy_attention"
NAMES = {
    "softmax": "softmax",
    "self_attention": "apply_self_attention",
    "multihead_attention": "apply_multihead_attention",
}
CHECKS = {name: getattr(check, name) for name in NAMES}


def function(exercise: str, code: str) -> Callable[..., Any]:
    """The function that the code defines, in a notebook whose other exercises are solved."""
    scope: dict[str, Any] = {"np": np, "d_qkv": 32, "d_model": 256, "input_len": 32, "n_heads": 8, "data": DATA}
    for name in NAMES:
        exec(solution("numpy_attention", "1_attention", f"{name}_answer"), scope)
    exec(code, scope)
    return scope[NAMES[exercise]]


#: What the message must say, where it can be more than that something is off.
SAYS = {
    ("softmax", "over the columns"): "over axis 0, the rows",
    ("softmax", "over everything"): "each row must sum to 1",
    ("softmax", "not at all"): "each row must sum to 1",
    ("softmax", "overflow"): "near 1000",
    ("softmax", "one maximum for all rows"): "its own maximum",
    ("softmax", "changes its argument"): "must stay as it is",
    ("softmax", "axis not kept"): "keepdims",
    ("softmax", "log-softmax"): "each row must sum to 1",
    ("self_attention", "softmax over the queries"): "sum to 1 over axis 0, the queries",
    ("self_attention", "no softmax"): "Scores become weights by a softmax",
    ("self_attention", "not scaled"): "5.66 times that: they were not divided",
    ("self_attention", "divided by d"): "by d_qkv itself, or by its root twice",
    ("self_attention", "both divided by the root"): "by d_qkv itself, or by its root twice",
    ("self_attention", "root of d_model"): "they were divided by √d_model",
    ("self_attention", "root of the length"): "the number of tokens",
    ("self_attention", "multiplied by the root"): "they were multiplied by √d_qkv",
    ("self_attention", "keys not transposed"): "a transpose missing",
    ("self_attention", "query and key exchanged"): "query j with key i",
    ("self_attention", "weights transposed"): "transposed before they met the values",
    ("self_attention", "einsum summed over axis 1"): "a multiple of its own value",
    ("self_attention", "softmax after the sum"): "before the weighted sum",
    ("self_attention", "causal mask"): "masked",
    ("self_attention", "residual"): "also holds x",
    ("self_attention", "no final projection"): "expected shape|must have shape",
    ("self_attention", "length as a literal"): "a 32 that should be len(x)",
    ("self_attention", "a scalar"): "must be an array",
    ("multihead_attention", "softmax over the heads"): "not over the heads",
    ("multihead_attention", "softmax over axis 1 of three"): "sum to 1 over axis 0, the queries",
    ("self_attention", "keys as values"): "Do the weights meet V",
    ("self_attention", "queries as values"): "Do the weights meet V",
    ("self_attention", "the mean of the values"): "the same for every key",
    ("multihead_attention", "no softmax"): "Is the softmax there",
    ("multihead_attention", "keys as values"): "Do the weights meet V|laid end to end",
    ("multihead_attention", "not scaled"): "they were not divided",
    ("multihead_attention", "divided by d"): "by d_qkv itself",
    ("multihead_attention", "root of all heads' widths"): "all heads' widths together",
    ("multihead_attention", "root of d_model"): "they were divided by √d_model",
    ("multihead_attention", "keys not transposed"): "a transpose missing",
    ("multihead_attention", "query and key exchanged"): "query j with key i",
    ("multihead_attention", "weights transposed"): "transposed before they met the values",
    ("multihead_attention", "stack reshaped, not transposed"): "A reshape never moves an axis",
    ("multihead_attention", "merged without moving the axis"): "differ from token to token",
    ("multihead_attention", "interleaved"): "interleaved",
    ("multihead_attention", "reversed"): "reverse order",
    ("multihead_attention", "the first head again and again"): "head 0's",
    ("multihead_attention", "residual"): "also holds x",
    ("multihead_attention", "length as a literal (the course's own)"): "a 32 that should be len(x)",
}
RIGHT, WRONG = (
    [
        (exercise, answer.name, answer.text)
        for exercise in NAMES
        for answer in loader.sample_answers(REFERENCES.folder, f"numpy_attention/{exercise}")[side]
    ]
    for side in (0, 1)
)


@pytest.mark.parametrize(("exercise", "name", "code"), WRONG, ids=[f"{w[0]}: {w[1]}" for w in WRONG])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_check_stops_a_wrong_implementation_and_says_what_is_wrong(exercise: str, name: str, code: str) -> None:
    with pytest.raises(CheckFailed) as failure:
        CHECKS[exercise](function(exercise, code))
    said = str(failure.value)
    assert NAMES[exercise] in said
    assert any(word in said for word in SAYS.get((exercise, name), "").split("|")), said


@pytest.mark.parametrize(("exercise", "name", "code"), RIGHT, ids=[f"{r[0]}: {r[1]}" for r in RIGHT])
def test_the_check_lets_pass_a_right_implementation(
    exercise: str, name: str, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    CHECKS[exercise](function(exercise, code))
    assert "✓" in capsys.readouterr().out


def test_the_constant_width_is_a_thought_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    check.self_attention(function("self_attention", text_of(SELF, "the course's own einsum")))
    assert "A thought" in capsys.readouterr().out
    check.self_attention(function("self_attention", text_of(SELF, "einsum throughout")))
    assert "A thought" not in capsys.readouterr().out


def with_softmax(code: str) -> Callable[..., Any]:
    """The solution of multi-head attention, all heads in one stack, in a notebook whose softmax is another one."""
    attention = function(
        "multihead_attention", solution("numpy_attention", "1_attention", "multihead_attention_answer")
    )
    exec(code, attention.__globals__)
    return attention


def test_a_softmax_that_serves_no_stack_of_heads_is_a_thought_and_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    attention = with_softmax(text_of("numpy_attention/softmax", "axis 1, while the heads are a stack"))
    own = attention.__globals__["softmax"]
    check.multihead_attention(attention)
    said = capsys.readouterr().out
    assert "✓" in said and "with a ready-made softmax" in said and "the last axis" in said
    assert attention.__globals__["softmax"] is own
    check.multihead_attention(with_softmax(solution("numpy_attention", "1_attention", "softmax_answer")))
    assert "A thought" not in capsys.readouterr().out


@pytest.mark.parametrize("exercise", CHECKS)
def test_an_empty_cell_is_called_empty(exercise: str) -> None:
    arguments = "x" if exercise == "softmax" else "x, W_q, W_k, W_v, W_o"
    stub = f"def {NAMES[exercise]}({arguments}):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    with pytest.raises(CheckFailed, match="not filled in yet"):
        CHECKS[exercise](function(exercise, stub))


@pytest.mark.parametrize("allowed", ["abcde"])
@pytest.mark.parametrize("value", [None, 3, "", "f", "ab", ["a"]])
def test_a_choice_that_cannot_be_read_is_sent_back(value: Any, allowed: str) -> None:
    with pytest.raises(CheckFailed, match="one letter from a to e"):
        check.choice("on_top", value, allowed)


@pytest.mark.parametrize("value", [None, "a", [], ["a", "a"], ["x"], [1]])
def test_letters_that_cannot_be_read_are_sent_back(value: Any) -> None:
    with pytest.raises(CheckFailed):
        check.letters("true_statements", value, "abcde")


def test_the_check_says_nothing_about_whether_a_choice_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    check.choice("on_top", "a", "abcde")
    check.choice("on_top", "c", "abcde")
    first, second = capsys.readouterr().out.splitlines()
    assert first.replace("choice is a", "choice is c") == second != first


def test_written_tests_are_tried_on_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    def one_fact(attention: Callable[..., np.ndarray], inputs: dict[str, Any]) -> None:
        assert np.allclose(attention(*inputs["equal_values"]), inputs["equal_values"][2][0], atol=1e-4)

    check.written_tests(one_fact)
    said = capsys.readouterr().out
    assert "1 of 4 wrong ones are caught" in said
    assert "does not divide" in said


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("assert False", "both right"),
        ("pass", "lets all of them pass"),
        ("raise NotImplementedError()", "not filled in"),
        ("attention(np.eye(3), np.eye(3), np.eye(3))", "only know the inputs"),
    ],
)
def test_written_tests_that_cannot_work_are_sent_back(body: str, word: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def test(attention, inputs):\n    {body}", scope)
    with pytest.raises(CheckFailed, match=word):
        check.written_tests(scope["test"])


WITHOUT_TORCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} was asked for")

sys.meta_path.insert(0, Blocked())
import matplotlib
matplotlib.use("agg")
import linecache, nbformat
sys.path.insert(0, sys.argv[1])
for number, cell in enumerate(nbformat.read(sys.argv[2], as_version=4).cells):
    if cell.id == "fine-tune":
        break  # what is trained there, without points, needs PyTorch, and the text says so
    if cell.cell_type == "code":
        name = f"cell-{number}"
        linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(keepends=True), name)
        exec(compile(cell.source, name, "exec"), globals())
loaded = [name for name in ("torch", "transformers") if name in sys.modules]
assert not loaded, loaded
"""


@pytest.mark.parametrize("notebook", ["1_attention", "2_finetuning", "3_write_tests"])
def test_the_notebooks_run_from_top_to_bottom_where_there_is_no_torch(notebook: str) -> None:
    path = ROOT / "source" / "numpy_attention" / f"{notebook}.ipynb"
    command = [sys.executable, "-c", WITHOUT_TORCH, str(ROOT), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    assert done.returncode == 0, done.stderr


def test_the_arrays_have_the_sheets_shapes_and_are_not_saturated() -> None:
    arrays = {path.stem: np.load(path) for path in DATA.glob("*.npy")}
    shapes = {name: array.shape for name, array in arrays.items()}
    single = {"x": (32, 256), "W_q": (256, 32), "W_k": (256, 32), "W_v": (256, 32), "W_o": (32, 256), "y": (32, 256)}
    stacks = dict.fromkeys(("W_q_mh", "W_k_mh", "W_v_mh"), (8, 256, 32))
    assert shapes == {**single, **stacks, "W_o_mh": (256, 256), "y_mh": (32, 256)}
    scores = (arrays["x"] @ arrays["W_q"]) @ (arrays["x"] @ arrays["W_k"]).T / 32**0.5
    assert 0.7 < scores.std() < 1.4


def test_the_script_makes_the_arrays_that_ship_with_the_course(tmp_path: Any) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_numpy_arrays.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"})
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in DATA.iterdir()}
    for path in tmp_path.glob("*.npy"):
        assert np.allclose(np.load(path), np.load(DATA / path.name), atol=1e-12, rtol=0)
    with np.load(tmp_path / "recorded.npz") as fresh, np.load(DATA / "recorded.npz") as stored:
        assert set(fresh) == set(stored)
        assert all(np.allclose(fresh[name], stored[name], atol=1e-6, equal_nan=True) for name in stored)
