"""Wrong and right student code in the real notebooks of the NumPy sheet, through the real stations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from autograder.exercise.compare import matches
from autograder.exercise.model import Case
from autograder.model.verdict import CellVerdict
from autograder.oracles.numpy_attention_finetuning import ON_TOP
from autograder.oracles.numpy_attention_heads import D_QKV
from autograder.oracles.numpy_attention_layers import Knobs, multi_head, single_head
from autograder.oracles.numpy_attention_slips import HEAD_SLIPS, SLIPS
from tests.grading import REFERENCES, cell_of, grade_cells, mistakes_of
from tests.mistakes import numpy_attention_snippets as snippets

SHEET, ATTENTION = "numpy_attention", "1_attention"


def graded(exercise: str, code: str, notebook: str = ATTENTION) -> CellVerdict:
    return cell_of(grade_cells(SHEET, notebook, {f"{exercise}_answer": code}), exercise)


def named(cell: CellVerdict) -> set[str]:
    return {check.mistake for check in cell.checks if check.mistake}


WRONG = [
    *(("softmax", name, *row) for name, row in snippets.SOFTMAX_WRONG.items()),
    *(("self_attention", name, *row) for name, row in snippets.SELF_WRONG.items()),
    *(("multihead_attention", name, *row) for name, row in snippets.MULTI_WRONG.items()),
]
RIGHT = [
    *(("softmax", name, code) for name, code in snippets.SOFTMAX_RIGHT.items()),
    *(("self_attention", name, code) for name, code in snippets.SELF_RIGHT.items()),
    *(("multihead_attention", name, code) for name, code in snippets.MULTI_RIGHT.items()),
]


@pytest.mark.parametrize(
    ("exercise", "name", "code", "mistake", "points"), WRONG, ids=[f"{w[0]}: {w[1]}" for w in WRONG]
)
def test_a_wrong_implementation_is_rejected_and_named(
    exercise: str, name: str, code: str, mistake: str | None, points: float
) -> None:
    cell = graded(exercise, code)
    assert (named(cell), cell.points) == ({mistake} if mistake else set(), points)


@pytest.mark.parametrize(("exercise", "name", "code"), RIGHT, ids=[f"{r[0]}: {r[1]}" for r in RIGHT])
def test_a_right_implementation_in_another_style_has_full_points(exercise: str, name: str, code: str) -> None:
    cell = graded(exercise, code)
    assert cell.points == cell.max_points, cell.checks


# --- one mistake costs its own points only ----------------------------------------------------------------------------

FAULTY_SOFTMAX = ["over the columns", "not at all", "not divided", "sigmoid", "log-softmax", "overflow"]


@pytest.mark.parametrize("name", FAULTY_SOFTMAX)
def test_a_faulty_softmax_costs_only_its_own_points(name: str) -> None:
    code, mistake, points = snippets.SOFTMAX_WRONG[name]
    self_attention = snippets.SELF_RIGHT["the sheet's own einsum"]
    verdict = grade_cells(
        SHEET,
        ATTENTION,
        {
            "softmax_answer": code,
            "self_attention_answer": self_attention,
            "multihead_attention_answer": snippets.MULTI_RIGHT["the sheet's own, with a list"],
        },
    )
    assert cell_of(verdict, "softmax").points == points
    assert cell_of(verdict, "self_attention").points == 5
    assert cell_of(verdict, "multihead_attention").points == 5
    assert mistakes_of(verdict) - {"LOOP"} == {mistake}


@pytest.mark.parametrize("name", ["not scaled", "weights transposed", "einsum summed over axis 1", "root of d_model"])
def test_a_faulty_single_head_that_the_heads_are_made_of_is_not_charged_twice(name: str) -> None:
    code, mistake, points = snippets.SELF_WRONG[name]
    heads = """def apply_multihead_attention(x, W_q, W_k, W_v, W_o):
    eye = np.eye(W_o.shape[0] // len(W_q))
    outs = [apply_self_attention(x, W_q[h], W_k[h], W_v[h], eye) for h in range(len(W_q))]
    return np.concatenate(outs, axis=1) @ W_o"""
    verdict = grade_cells(SHEET, ATTENTION, {"self_attention_answer": code, "multihead_attention_answer": heads})
    assert cell_of(verdict, "self_attention").points == points
    assert cell_of(verdict, "multihead_attention").points == 5
    assert mistakes_of(verdict) - {"LOOP"} == {mistake}


def test_a_missing_softmax_costs_nothing_where_the_layers_have_their_own() -> None:
    verdict = grade_cells(
        SHEET,
        ATTENTION,
        {
            "softmax_answer": "def softmax(x):\n    raise NotImplementedError()",
            "self_attention_answer": snippets.SELF_RIGHT["own softmax inside"],
            "multihead_attention_answer": snippets.MULTI_RIGHT["pure einsum"],
        },
    )
    assert [cell_of(verdict, name).points for name in ("softmax", "self_attention", "multihead_attention")] == [0, 5, 5]


def test_nothing_computed_consistently_is_nothing() -> None:
    zeros = "(x, W_q, W_k, W_v, W_o):\n    return np.zeros_like(x)"
    verdict = grade_cells(
        SHEET,
        ATTENTION,
        {
            "softmax_answer": "def softmax(x):\n    return np.zeros_like(x)",
            "self_attention_answer": f"def apply_self_attention{zeros}",
            "multihead_attention_answer": f"def apply_multihead_attention{zeros}",
        },
    )
    assert verdict.points == 0


# --- the bonus --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", snippets.WITH_LOOPS)
def test_a_loop_costs_the_bonus_and_no_point(name: str) -> None:
    verdict = grade_cells(SHEET, ATTENTION, {"multihead_attention_answer": snippets.WITH_LOOPS[name]})
    assert cell_of(verdict, "no_loops").status == "failed"
    assert named(cell_of(verdict, "no_loops")) == {"LOOP"}
    assert cell_of(verdict, "multihead_attention").points == 5


@pytest.mark.parametrize("name", snippets.WITHOUT_LOOPS)
def test_no_loop_earns_the_bonus(name: str) -> None:
    verdict = grade_cells(SHEET, ATTENTION, {"multihead_attention_answer": snippets.WITHOUT_LOOPS[name]})
    assert cell_of(verdict, "no_loops").status == "passed"


def test_a_wrong_answer_without_a_loop_has_no_bonus() -> None:
    code, _, _ = snippets.MULTI_WRONG["not scaled"]
    assert graded("multihead_attention", code).points == 3
    assert cell_of(grade_cells(SHEET, ATTENTION, {"multihead_attention_answer": code}), "no_loops").status == "failed"


# --- the page on fine-tuning ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("letter", "word"),
    [("a", "Transformer"), ("b", "average"), ("d", "one after the other"), ("e", "softmax"), ("z", "one letter")],
)
def test_each_wrong_classifier_is_told_why(letter: str, word: str) -> None:
    cell = graded("classifier_on_top", f'on_top = "{letter}"', "2_finetuning")
    assert cell.points == 0
    assert word in cell.checks[0].message


@pytest.mark.parametrize("said", ["c", "C", " c) ", "(c)."])
def test_the_right_classifier_counts_however_the_letter_is_written(said: str) -> None:
    assert graded("classifier_on_top", f'on_top = "{said}"', "2_finetuning").points == 1


@pytest.mark.parametrize(
    "said",
    [
        "tokenizer",
        "the tokenizer",
        "DistilBertTokenizer",
        "DistilBertTokenizer.from_pretrained",
        "tokenzier (DistilBertTokenizer.from_pretrained)",
        "tokenizer.encode_plus(...)",
        "AutoTokenizer",
        "tokenize",
    ],
)
def test_every_usual_name_of_the_tokenizer_counts(said: str) -> None:
    assert graded("text_preparation", f"prepares_text = {said!r}", "2_finetuning").points == 1


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("DataLoader", "batches"),
        ("Dataset", "headlines"),
        ("Triage", "headlines"),
        ("embedding", "first layer"),
        ("DistilBertModel", "model itself"),
        ("split()", "blanks"),
        ("BERT", "model itself"),
        ("numpy", "not what turns text"),
    ],
)
def test_what_does_not_prepare_the_text_is_told_why(said: str, word: str) -> None:
    cell = graded("text_preparation", f"prepares_text = {said!r}", "2_finetuning")
    assert cell.points == 0
    assert word in cell.checks[0].message


@pytest.mark.parametrize(
    ("cls", "sep", "points", "words"),
    [
        ("a", "b", 1, []),
        ("A", "(b)", 1, []),
        ("b", "a", 0, ["[CLS]", "[SEP]"]),
        ("a", "f", 0.5, ["full stop"]),
        ("d", "b", 0.5, ["[MASK]"]),
        ("e", "b", 0.5, ["[UNK]"]),
        ("a", "c", 0.5, ["[PAD]"]),
        ("?", "a", 0, ["one letter"]),
    ],
)
def test_each_special_token_has_its_own_half(cls: str, sep: str, points: float, words: list[str]) -> None:
    cell = graded("special_tokens", f"cls_token, sep_token = {cls!r}, {sep!r}", "2_finetuning")
    assert cell.points == points
    said = " ".join(check.message for check in cell.checks if not check.passed)
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("said", "points"),
    [
        ('["a", "c", "e"]', 1),
        ('["e", "A", "c."]', 1),
        ('("a", "c", "e")', 1),
        ('"a, c, e"', 1),
        ('["a", "c"]', 0.5),
        ('["a", "c", "d", "e"]', 0.5),
        ('["a", "b", "c", "d", "e"]', 0),
        ('["b", "d"]', 0),
        ("[]", 0),
        ('["x"]', 0),
        ("None", 0),
        ("3", 0),
    ],
)
def test_true_statements_are_judged_one_by_one(said: str, points: float) -> None:
    assert graded("pretraining", f"true_statements = {said}", "2_finetuning").points == points


def test_written_answers_wait_for_a_person() -> None:
    verdict = grade_cells(SHEET, "2_finetuning", {})
    assert [(cell.cell, cell.max_points) for cell in verdict.cells if cell.status == "manual"] == [
        ("roles", 2),
        ("intuition", 2),
    ]
    assert verdict.points == 4


# --- tests that students write ----------------------------------------------------------------------------------------

WRONG_IMPLEMENTATIONS = 17


def written(body: str) -> CellVerdict:
    code = "def test_attention(attention, inputs):\n" + "\n".join(f"    {line}" for line in body.strip().split("\n"))
    return graded("written_tests", code, "3_write_tests")


def caught(cell: CellVerdict) -> int:
    return sum(check.passed for check in cell.checks if check.name != "right")


ONE_KEY = 'assert np.allclose(attention(*inputs["one_key"]), inputs["one_key"][2], atol=1e-4)'
EQUAL_KEYS = 'assert np.allclose(attention(*inputs["equal_keys"]), inputs["equal_keys"][2].mean(0), atol=1e-4)'
EQUAL_VALUES = 'assert np.allclose(attention(*inputs["equal_values"]), inputs["equal_values"][2][0], atol=1e-4)'
THREE = (
    'v = inputs["three_to_one"][2]\n'
    'assert np.allclose(attention(*inputs["three_to_one"]), 0.75 * v[0] + 0.25 * v[1], atol=1e-4)'
)
FINITE = 'assert np.isfinite(attention(*inputs["huge"])).all()'
SHUFFLED = 'assert np.allclose(attention(*inputs["plain"]), attention(*inputs["shuffled_keys"]), atol=1e-4)'
ALL_FACTS = [ONE_KEY, EQUAL_KEYS, EQUAL_VALUES, THREE, FINITE, SHUFFLED]
DIFFERENCES = [
    fact if "isfinite" in fact else fact.replace("np.allclose(", "largest(").replace(", atol=1e-4)", ") < 1e-4")
    for fact in ("largest = lambda a, b: np.abs(a - b).max()", *ALL_FACTS)
]
BY_COMPARISON = """for query, key, value in inputs.values():
    q, k, v = (a.astype(np.float64) for a in (query, key, value))
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(attention(query, key, value), e / e.sum(1, keepdims=True) @ v, atol=1e-4, rtol=1e-3)"""


@pytest.mark.parametrize(
    "body",
    ["\n".join(ALL_FACTS), BY_COMPARISON, "\n".join(reversed(ALL_FACTS)), "\n".join(DIFFERENCES)],
    ids=["facts", "comparison", "another order", "largest difference"],
)
def test_good_tests_catch_every_wrong_implementation(body: str) -> None:
    cell = written(body)
    assert (cell.status, caught(cell)) == ("passed", WRONG_IMPLEMENTATIONS)


@pytest.mark.parametrize("left_out", [THREE, FINITE], ids=["scale", "overflow"])
def test_what_a_test_does_not_look_at_survives_and_is_named(left_out: str) -> None:
    cell = written("\n".join(fact for fact in ALL_FACTS if fact != left_out))
    survivors = {check.mistake for check in cell.checks if not check.passed}
    assert cell.status == "partial"
    assert survivors == ({"M2", "M3", "uniform", "rounded"} & survivors if left_out == THREE else {"M1-overflow"})
    assert "M2" in survivors or left_out == FINITE


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("pass", "let pass"),
        ("return False", "let pass"),
        ("assert False", "reject 4 of 4"),
        ("1 / 0", "reject 4 of 4"),
        ('assert attention(*inputs["plain"]).dtype == np.float64', "right implementations"),
        (
            'assert (attention(*inputs["one_key"]) == inputs["one_key"][2].astype(np.float64)).all()',
            "right implementations",
        ),
        ('assert (attention(*inputs["equal_values"]) == inputs["equal_values"][2][0]).all()', "right implementations"),
        ('assert np.abs(attention(*inputs["plain"])).max() < 1e-3', "right implementations"),
    ],
)
def test_a_test_that_is_too_kind_or_too_strict_earns_nothing(body: str, word: str) -> None:
    cell = written(body)
    assert cell.status == "failed"
    assert word in " ".join(check.message for check in cell.checks)


def test_inputs_of_ones_own_are_answered_by_a_sentence() -> None:
    cell = written("attention(np.eye(2), np.eye(2), np.eye(2))")
    assert cell.status == "failed"
    assert "only know the inputs" in cell.checks[0].message


def test_a_test_that_spoils_its_inputs_harms_nobody() -> None:
    assert written("\n".join(ALL_FACTS) + "\nfor given in inputs.values():\n    given[0][:] = 0").status == "passed"


# --- the catalogue itself ---------------------------------------------------------------------------------------------


def slips(slug: str, case: Case) -> dict[str, np.ndarray]:
    """What each slip of the catalogue makes of a stored case."""
    layer, known = (single_head, SLIPS) if slug == "self_attention" else (multi_head, [*HEAD_SLIPS, *SLIPS])
    square = len(case.inputs["x"]) == D_QKV
    return {slip.id: layer(case.inputs, slip.knobs) for slip in known if square or not slip.knobs.untransposed}


@pytest.mark.parametrize("slug", ["self_attention", "multihead_attention"])
def test_with_every_knob_at_rest_the_catalogue_gives_torchs_own_attention(slug: str) -> None:
    layer = single_head if slug == "self_attention" else multi_head
    for case in REFERENCES.cases(f"{SHEET}/{slug}"):
        assert np.allclose(layer(case.inputs, Knobs()), case.expected["y"], atol=1e-9)


@pytest.mark.parametrize("slug", ["self_attention", "multihead_attention"])
def test_every_slip_is_far_from_the_right_answer_and_from_every_other_slip(slug: str) -> None:
    exercise = REFERENCES.exercise(f"{SHEET}/{slug}")
    square, *others, _ = REFERENCES.cases(f"{SHEET}/{slug}")  # the last one is saturated: scales cannot show there
    for case in (square, *others):
        answers = {"right": case.expected["y"], **slips(slug, case)}
        if case is square:
            del answers["M3-tokens"]  # n = d_qkv: the reason why there are other cases
        for (one, first), (other, second) in combinations(answers.items(), 2):
            assert not matches({"y": first}, {"y": second}, exercise), (one, other)


def test_lengths_and_widths_of_the_hidden_cases_differ() -> None:
    for slug in ("self_attention", "multihead_attention"):
        shapes = [case.inputs["x"].shape for case in REFERENCES.cases(f"{SHEET}/{slug}")]
        assert sum(n != D_QKV and n != d_model and d_model != D_QKV for n, d_model in shapes) == len(shapes) - 1


def test_the_hidden_scores_are_moderate_but_for_the_huge_case() -> None:
    for slug in ("self_attention", "multihead_attention"):
        *moderate, huge = REFERENCES.cases(f"{SHEET}/{slug}")
        spreads = []
        for case in (*moderate, huge):
            q, k = (case.inputs["x"] @ case.inputs[name] for name in ("W_q", "W_k"))
            spreads.append((q @ k.swapaxes(-1, -2)).std() / D_QKV**0.5)
        assert all(0.5 < spread < 3 for spread in spreads[:-1])
        assert spreads[-1] > 700


def test_no_message_names_the_right_letter_or_repairs_the_code() -> None:
    for slip in (*SLIPS, *HEAD_SLIPS):
        assert "softmax(q" not in slip.hint and "keepdims=True" not in slip.hint
        assert len(slip.message) > 20 and slip.hint
    assert "c" not in ON_TOP
