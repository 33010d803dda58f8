"""Wholes and their parts, classes with methods and functions that call earlier ones: a mistake costs who owns it."""

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from autograder.authoring.trial import texts_of
from autograder.exercise import TEXT, Answers, Case, Exercise, SampleAnswer, compare_case, text_array, whole
from autograder.model.cells import grade_id
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.references import loader
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES, ROOT, assignment, cell_of, grade_cells, solution

WHOLES = {
    slug: made.slugs_of_parts
    for name in Course(ROOT).assignments()
    for slug, made in REFERENCES.exercises(name).items()
    if made.parts
}


def wrong_answers(slug: str) -> list[SampleAnswer]:
    return list(loader.sample_answers(REFERENCES.folder, slug)[1])


#: It judges the function of self_attention once more, by another thing.
ONCE_MORE = {"numpy_attention/no_loops"}


@pytest.mark.parametrize("slug", sorted({*WHOLES, *(part for parts in WHOLES.values() for part in parts)} - ONCE_MORE))
def test_no_mistake_in_a_part_or_a_whole_costs_another_exercise(slug: str) -> None:
    """What every answer here costs is tried by the contract: nothing that its author does not say."""
    assert [answer.name for answer in wrong_answers(slug) if answer.also_costs] == []


def pairs() -> Iterator[ParameterSet]:
    """For each two parts of a whole that has more of them, filled in in one cell: a mistake in both."""
    classes = {
        slug: parts for slug, parts in WHOLES.items() if not isinstance(REFERENCES.exercise(slug).parts, Mapping)
    }
    for slug, parts in classes.items():
        patched = {part: [answer for answer in wrong_answers(part) if answer.changes] for part in parts}
        for first, second in combinations(parts, 2) if len(parts) > 2 else ():
            ours, theirs = patched[first], patched[second]
            if ours and theirs and ours[0].cell == theirs[-1].cell:
                group = one_worker(slug.partition("/")[0])
                yield pytest.param((first, second), ours[0], theirs[-1], id=f"{first} and {second}", marks=group)


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "first", "second"), pairs())
def test_mistakes_in_two_parts_cost_these_two(
    parts: tuple[str, str], first: SampleAnswer, second: SampleAnswer
) -> None:
    tried = trials(parts[0].partition("/")[0])
    text = tried.solutions[first.cell]
    for old, new in (*first.changes, *second.changes):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    names = {part.partition("/")[2] for part in parts}
    verdicts = tried.run({first.cell: text}).verdicts
    assert {name for name, one in verdicts.items() if one.points != one.max_points} == names


BLOCK = solution("distilbert", "2_attention_block", "attention_block_answer")
#: Cell of a class, its assignment and notebook -> the statements of its forward in which methods are not called.
IN_ONE_FORWARD = {
    ("distilbert", "2_attention_block", "attention_block_answer"): {
        "self.attention_scores(q, k)": "q @ k.mT",
        "self.attention_weights(scores)": "scores.softmax(-1)",
        "self.attention_context(weights, v)": "weights @ v",
    },
    ("transformer_tutorial", "1_queries_keys_values", "dot_product_attention_answer"): {
        "self.fold(queries), self.fold(keys), self.fold(values)":
            "(x.transpose(1, 2).flatten(0, 1) for x in (queries, keys, values))",
        "self.calculate_score(queries, keys)": "queries @ keys.mT / k**0.5",
        "self.hide(score, mask, h)": "score.masked_fill(~mask.repeat_interleave(h, dim=0)[:, None], -torch.inf)",
        "self.mix(score, values)": "self.dropout(score.softmax(-1)) @ values",
        "self.unfold(out, h)": "out.unflatten(0, (b, h)).transpose(1, 2).flatten(2)",
    },
    ("transformer_tutorial", "3_training", "transformer_answer"): {
        "self.embed(x)": "self.pos_enc(self.token_embedding(x) * self.k**0.5)",
        "sequence_avg = self.encode(x, mask)":
            "for block in self.transformer_blocks:\n            x = block(x, mask)\n"
            "        sequence_avg = mean_pooling(x, mask)",
        "self.classify(sequence_avg)": "self.classification_head(sequence_avg).log_softmax(-1)",
    },
}  # fmt: skip
#: Cell of a class -> a mistake in one statement of its forward, and what its parts still have.
MISTAKEN = {
    "attention_block_answer": ({"self.attention_weights(scores)": "scores.softmax(-2)"}, {"attention_init": 4}),
    "dot_product_attention_answer": ({"self.calculate_score(queries, keys)": "queries @ keys.mT"}, {}),
    "transformer_answer": ({"self.embed(x)": "self.pos_enc(self.token_embedding(x))"}, {"classifier_parts": 1}),
}  # fmt: skip
CLASSES = [pytest.param(*place, marks=one_worker(place[0]), id=place[2]) for place in IN_ONE_FORWARD]
#: Cell of a class -> the exercises on it.
ON = {
    cell: {
        slug.partition("/")[2]
        for slug, made in REFERENCES.exercises(sheet).items()
        if (made.cell or f"{slug.partition('/')[2]}_answer") == cell
    }
    for sheet, _, cell in IN_ONE_FORWARD
}


def in_one_forward(place: tuple[str, str, str], methods: str, **changes: str) -> str:
    """The class, its forward without calls of its methods. methods: "stubs", or "none"."""
    tree = ast.parse(solution(*place))
    owner = tree.body[-1]
    assert isinstance(owner, ast.ClassDef)
    kept: list[ast.stmt] = []
    for method in owner.body:
        if isinstance(method, ast.FunctionDef) and method.name not in ("__init__", "forward"):
            method.body = ast.parse("raise NotImplementedError()").body
            if methods == "none":
                continue
        kept.append(method)
    owner.body = kept
    text = ast.unparse(tree)
    for call, step in {**IN_ONE_FORWARD[place], **changes}.items():
        assert text.count(call) == 1, call
        text = text.replace(call, step)
    return text


@pytest.mark.slow
@pytest.mark.parametrize("methods", ["stubs", "none"])
@pytest.mark.parametrize(("sheet", "notebook", "cell"), CLASSES)
def test_parts_within_a_right_whole_have_their_points_and_within_a_wrong_one_none(
    sheet: str, notebook: str, cell: str, methods: str
) -> None:
    place = sheet, notebook, cell
    right = grade_cells(sheet, notebook, {cell: in_one_forward(place, methods)})
    assert [one.cell for one in right.cells if one.points != one.max_points and one.judged != "manual"] == []
    changes, left = MISTAKEN[cell]
    wrong = grade_cells(sheet, notebook, {cell: in_one_forward(place, methods, **changes)})
    assert {name: cell_of(wrong, name).points for name in ON[cell]} == {**dict.fromkeys(ON[cell], 0), **left}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "seam"),
    [
        ("weights = self.attention_weights(scores)", "weights = self.attention_weights(scores.mT)"),
        ("weights = self.attention_weights(scores)", "weights = self.attention_weights(scores).sigmoid()"),
        ("context = self.attention_context(weights, v)", "context = self.attention_context(weights, v) + q"),
        ("context = self.attention_context(weights, v)", "context = self.attention_context(weights, v).double()"),
        ("return ffn_output, weights", "return ffn_output + hidden_states, weights"),
        ("return ffn_output, weights", "return ffn_output.squeeze(), weights"),
        ("return ffn_output, weights", "return ffn_output.tolist(), weights"),
    ],
)
def test_a_seam_costs_the_whole_once(given: str, seam: str) -> None:
    assert BLOCK.count(given) == 1
    verdict = grade_cells("distilbert", "2_attention_block", {"attention_block_answer": BLOCK.replace(given, seam)})
    assert {cell.cell for cell in verdict.cells if cell.points != cell.max_points} == {"attention_block"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "slug",
    [
        pytest.param(slug, id=slug, marks=one_worker(slug.partition("/")[0]))
        for slug in WHOLES
        if not isinstance(REFERENCES.exercise(slug).parts, Mapping)
        and not REFERENCES.exercise(slug).cell.endswith(".py")
    ],
)
def test_a_class_that_was_left_as_it_was_earns_nothing(slug: str) -> None:
    exercise, (sheet, _, whole) = REFERENCES.exercise(slug), slug.partition("/")
    cell = exercise.cell or f"{whole}_answer"
    (name, left), *_ = (
        (name, one.source)
        for name, notebook in assignment(sheet).release.items()
        for one in notebook.cells
        if grade_id(one) == cell
    )
    verdict = grade_cells(sheet, name, {cell: left})
    assert {cell_of(verdict, one).points for one in (whole, *exercise.parts)} == {0}


# --- the rule ---------------------------------------------------------------------------------------------------------

RIGHT, WRONG = np.ones(3), np.zeros(3)
STOPPED = text_array("ValueError: no")
ONE_OF_TWO, NONE_OF_TWO, BOTH = {"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 0.0}, {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize(
    ("given", "parts", "earned", "says"),
    [
        ({"y": RIGHT}, BOTH, 1, ""),
        ({"y": RIGHT, "ready_y": WRONG}, NONE_OF_TWO, 1, ""),
        ({"y": WRONG, "ready_y": RIGHT}, ONE_OF_TWO, 1, ""),
        ({"y": WRONG, "ready_y": WRONG}, ONE_OF_TWO, 0, "values"),
        ({"y": WRONG, "ready_y": RIGHT}, BOTH, 0, "values"),
        ({"y": WRONG, "ready_y": RIGHT}, {}, 0, "values"),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, ONE_OF_TWO, 1, ""),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, BOTH, 0, "they stop with ValueError: no"),
        ({TEXT + "problem": STOPPED, "ready_y": RIGHT}, NONE_OF_TWO, 0, "nothing to put together"),
    ],
)
def test_a_whole_loses_only_what_no_part_has_lost(
    given: dict[str, np.ndarray], parts: dict[str, float], earned: float, says: str
) -> None:
    earlier = {f"sheet/{name}": CellVerdict(name, "failed", points, 1.0) for name, points in parts.items()}
    exercise = Exercise(lambda _: [], whole(compare_case), slug="sheet/whole", parts=("a", "b"))
    judgement = exercise.rule(exercise, Case(expected={"y": RIGHT}), Answers(given, earlier=earlier))
    assert judgement.earned == earned
    assert says in judgement.checks[0].message


def test_a_function_that_calls_another_one_is_there_to_be_judged_without_it() -> None:
    earlier = {"sheet/a": CellVerdict("a", "failed", 0.0, 1.0)}
    exercise = Exercise(lambda _: [], whole(compare_case), slug="sheet/whole", parts={"a": "a"})
    answers = Answers({"y": WRONG, "ready_y": RIGHT}, earlier=earlier)
    assert exercise.rule(exercise, Case(expected={"y": RIGHT}), answers).earned == 1


# --- in the notebooks -------------------------------------------------------------------------------------------------

#: Attention in one function, with a mask and without, by the earlier steps.
BY_STEPS = {
    "scaled_dot_product_attention_answer": """def scaled_dot_product_attention(query, key, value):
    return attention_weights(attention_scores(query, key)) @ value""",
    "masked_attention_answer": """def scaled_dot_product_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -math.inf)
    return attention_weights(scores) @ value""",
}
BY_SINGLE_HEADS = {
    "multihead_attention_answer": """def apply_multihead_attention(x, W_q, W_k, W_v, W_o):
    eye = np.eye(W_o.shape[0] // len(W_q))
    return np.concatenate([apply_self_attention(x, *W, eye) for W in zip(W_q, W_k, W_v)], axis=1) @ W_o"""
}
#: Part -> the wholes that call it, and their cells where the solution does not.
PARTS: Mapping[str, tuple[tuple[str, ...], Mapping[str, str]]] = {
    "numpy_attention/softmax": (("self_attention", "multihead_attention"), {}),
    "numpy_attention/self_attention": (("multihead_attention",), BY_SINGLE_HEADS),
    "encoder_lab/attention_scores": (("scaled_dot_product_attention", "masked_attention"), BY_STEPS),
    "encoder_lab/attention_weights": (("scaled_dot_product_attention", "masked_attention"), BY_STEPS),
    "decoder/causal_attention": (("pre_norm_block",), {}),
}
#: Part -> more wrong answers, by their names.
MORE = {
    "encoder_lab/attention_scores": {
        "not transposed": "def attention_scores(query, key):\n    return query @ key / math.sqrt(key.size(-1))",
        "empty": "def attention_scores(query, key):\n    raise NotImplementedError()",
    },
    "numpy_attention/softmax": {
        "printed, not returned": "def softmax(x):\n    print(np.exp(x) / np.exp(x).sum(-1, keepdims=True))",
        "the axis not kept": "def softmax(x):\n    return np.exp(x) / np.exp(x).sum(-1)",
        "not valid Python": "def softmax(x):\n    return np.exp(x",
    },
    "numpy_attention/self_attention": {
        "it stops": "def apply_self_attention(x, W_q, W_k, W_v, W_o):\n    return softmax(x @ W_q @ W_k) @ x",
    },
}


def lost_of(sheet: str, texts: Mapping[str, str], exercises: Collection[str]) -> set[str]:
    """Which of these exercises lose points where these cells are filled so; no check refuses one that loses none."""
    tried = trials(sheet).run(dict(texts), only=exercises)
    assert tried.verdicts.keys() == set(exercises)
    found = {name for name, one in tried.verdicts.items() if one.points is not None and one.points < one.max_points}
    assert {name for name, said in tried.visible.items() if said} <= found
    return found


def wrong_parts() -> Iterator[ParameterSet]:
    for slug in PARTS:
        known = loader.sample_answers(REFERENCES.folder, slug)[1]
        more = [SampleAnswer(name, text, cell=known[0].cell) for name, text in MORE.get(slug, {}).items()]
        for answer in [*known, *more]:
            group = one_worker(slug.partition("/")[0])
            yield pytest.param(slug, answer, id=f"{slug}: {answer.name}", marks=group)


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "answer"), wrong_parts())
def test_a_mistake_in_a_part_costs_that_part_alone(slug: str, answer: SampleAnswer) -> None:
    sheet, _, exercise = slug.partition("/")
    wholes, cells = PARTS[slug]
    texts = {**cells, **texts_of(answer, trials(sheet).solutions)}
    assert lost_of(sheet, texts, (exercise, *wholes)) == {exercise}


#: Whole -> cells of which each part is right by itself, and the whole is not.
SEAMS = {
    "numpy_attention/multihead_attention": {
        "softmax_answer": """def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)"""
    },
    "encoder_lab/scaled_dot_product_attention": {
        "attention_scores_answer": """def attention_scores(query, key):
    return query @ key.mT / math.sqrt(key.size(-1)), "the scores" """,
        "scaled_dot_product_attention_answer": BY_STEPS["scaled_dot_product_attention_answer"],
    },
    "decoder/pre_norm_block": {
        "causal_attention_answer": """def causal_attention(query, key, value):
    if query.shape[2] == 6:
        return value
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)"""
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("slug", [pytest.param(one, id=one, marks=one_worker(one.partition("/")[0])) for one in SEAMS])
def test_a_mistake_that_no_part_owns_costs_the_whole_alone(slug: str) -> None:
    sheet, _, exercise = slug.partition("/")
    parts = [cell.removesuffix("_answer") for cell in SEAMS[slug]]
    assert lost_of(sheet, SEAMS[slug], {*parts, exercise}) == {exercise}
