"""The visible checks of numpy_attention: they name what is wrong, let pass what is right, and never ask for torch."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course.check import numpy_attention as check
from course.check.base import CheckFailed
from tests.grading import ROOT, solution

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


def with_softmax(code: str) -> Callable[..., Any]:
    """The solution of multi-head attention, all heads in one stack, in a notebook whose softmax is another one."""
    attention = function(
        "multihead_attention", solution("numpy_attention", "1_attention", "multihead_attention_answer")
    )
    exec(code, attention.__globals__)
    return attention


SOFTMAX = solution("numpy_attention", "1_attention", "softmax_answer")


def test_a_softmax_that_does_not_pass_its_own_check_is_a_thought_and_no_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    attention = with_softmax(SOFTMAX.replace("np.exp(", "np.exp2("))
    own = attention.__globals__["softmax"]
    check.multihead_attention(attention)
    said = capsys.readouterr().out
    assert "✓" in said and "A thought: it is right with ready-made earlier parts. With yours: " in said
    assert attention.__globals__["softmax"] is own
    check.multihead_attention(with_softmax(SOFTMAX))
    assert "A thought" not in capsys.readouterr().out


def test_a_softmax_that_is_right_for_one_table_but_serves_no_stack_of_heads_is_a_failure() -> None:
    with pytest.raises(CheckFailed, match="sum to 1 over the queries"):
        check.multihead_attention(with_softmax(SOFTMAX.replace("axis=-1", "axis=1")))


FIXED_LENGTH = """out = np.zeros((32, 32))
    out[:] = softmax(x @ W_q @ (x @ W_k).T / 32**0.5) @ x @ W_v
    return out @ W_o"""


@pytest.mark.parametrize(
    ("exercise", "body", "words"),
    [
        ("softmax", "return np.exp(x / 2)", r"row \[0, 1.1\] must become \[0.25, 0.75\].*Yours becomes \[1, 1.73\]"),
        ("self_attention", "return x @ W_v @ W_o + x.sum()", "where all values are 0, the result is 0"),
        ("self_attention", "return np.tanh(x @ W_q @ (x @ W_k).T) @ x @ W_v @ W_o", "must sum to 1 over the keys"),
        ("self_attention", "return np.ones((len(x), len(x))) / len(x) @ x @ W_v @ W_o", "the same for every key"),
        ("self_attention", FIXED_LENGTH, "should work.*it runs: what is different here"),
        ("multihead_attention", "return np.tile((x @ W_v).mean(0), 8) @ W_o", "all of head 0, then all of head 1"),
    ],
)
def test_an_answer_that_is_wrong_in_no_known_way_hears_what_it_lacks(exercise: str, body: str, words: str) -> None:
    arguments = "x" if exercise == "softmax" else "x, W_q, W_k, W_v, W_o"
    with pytest.raises(CheckFailed, match=f"(?s){words}"):
        CHECKS[exercise](function(exercise, f"def {NAMES[exercise]}({arguments}):\n    {body}"))


@pytest.mark.parametrize("exercise", ["self_attention", "multihead_attention"])
def test_a_function_that_changes_what_it_is_given_is_refused(exercise: str) -> None:
    text = solution("numpy_attention", "1_attention", f"{exercise}_answer")
    text = text.replace("    scores = ", "    W_q /= 2\n    scores = ", 1)
    with pytest.raises(CheckFailed, match="changes the array that it is given"):
        CHECKS[exercise](function(exercise, text))


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
    command = [sys.executable, "-m", "tools.make_numpy_arrays", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, env={"OMP_NUM_THREADS": "1"})
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in DATA.iterdir()}
    for path in tmp_path.glob("*.npy"):
        assert np.allclose(np.load(path), np.load(DATA / path.name), atol=1e-12, rtol=0)
    with np.load(tmp_path / "recorded.npz") as fresh, np.load(DATA / "recorded.npz") as stored:
        assert set(fresh) == set(stored)
        assert all(np.allclose(fresh[name], stored[name], atol=1e-6, equal_nan=True) for name in stored)
