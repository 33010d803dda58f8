"""No numbers earn a point that were not computed: every exercise's rule, on its stored cases, without a kernel."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest

from autograder.exercise import TEXT, Answers, Case, text_array
from autograder.model.verdict import CellVerdict, Check
from autograder.pipeline.judge import _compared
from tests.grading import REFERENCES, ROOT

Arrays = dict[str, np.ndarray]
ASSIGNMENTS = sorted(folder.name for folder in (ROOT / "source").iterdir() if any(folder.glob("*.ipynb")))
SLUGS = [slug for assignment in ASSIGNMENTS for slug in REFERENCES.exercises(assignment)]

#: Names under which hidden cells hand something over beside what is expected.
BESIDE = ("weights", "again", "larger_1", "larger_2", "larger_3", "pe", "with_table", "between", "masks", "own", "y",
          "ready_y", "own_share", "plain_weights", "masked_weights", "unmasked", "in_training", "drops", "trained",
          "evaluated", "evaluated_again", "rejected", "heads", "own_softmax", "own_head", "absent", "panels",
          "log_probabilities", "probabilities", "score", "ready_output", "ready_trained", "ready_evaluated",
          "ready_evaluated_again")  # fmt: skip

#: What may earn something without any knowledge, and why.
KNOWN = {("numpy_attention/special_tokens", "texts"): "one of two choices among six letters, guessed"}


def names_of(case: Case) -> list[str]:
    """Every name that a rule may look for, in the forms of all attempts."""
    own = [name for name in case.expected if not name.startswith(TEXT)]
    forms = [name.replace("stand_in/", "stand_in_0/") for name in own]
    return list(dict.fromkeys([*own, *forms, *BESIDE]))


def shape_of(case: Case, name: str) -> tuple[int, ...]:
    """What a name's answer looks like; a name beside the expected ones is as large as the first of those."""
    plain = name.replace("stand_in_0/", "stand_in/")
    arrays = {key: array for key, array in case.expected.items() if not key.startswith(TEXT)}
    if plain in arrays:
        return arrays[plain].shape
    return max((array.shape for array in arrays.values()), key=len, default=())


def filled(value: Callable[[tuple[int, ...]], np.ndarray]) -> Callable[[Case], Arrays]:
    return lambda case: {name: value(shape_of(case, name)) for name in names_of(case)}


def rows_of(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Random positive numbers whose last axis sums to 1: weights that nobody computed."""
    numbers = np.random.default_rng(seed).random(shape or (1,)) + 0.1
    return (numbers / numbers.sum(-1, keepdims=True)).reshape(shape).astype(np.float32)


def one_key(shape: tuple[int, ...]) -> np.ndarray:
    numbers = np.zeros(shape or (1,), np.float32)
    numbers[..., 0] = 2.0
    return numbers.reshape(shape)


def identity(shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) < 2:
        return np.ones(shape, np.float32)
    return np.broadcast_to(np.eye(shape[-2], shape[-1], dtype=np.float32), shape).copy()


def random(seed: int, dtype: type = np.float32) -> Callable[[tuple[int, ...]], np.ndarray]:
    return lambda shape: np.random.default_rng(seed).normal(0, 1, shape).astype(dtype)


def copies(case: Case) -> Iterator[Arrays]:
    """Every input and weight under every name; cut or repeated to the expected shape as well."""
    for array in (*case.inputs.values(), *case.weights.values()):
        yield dict.fromkeys(names_of(case), array)
        yield {name: np.resize(array, shape_of(case, name)) for name in names_of(case)}


GARBAGE: dict[str, Callable[[Case], Arrays]] = {
    "nothing": lambda case: {},
    **{f"all {number}": filled(lambda shape, number=number: np.full(shape, number, np.float32))
       for number in (0.0, 1.0, 0.3, -1.0, 1e30, np.nan, np.inf)},
    **{f"all {number} of integers": filled(lambda shape, number=number: np.full(shape, number))
       for number in (0, 1, 99)},
    "all true": filled(lambda shape: np.ones(shape, bool)),
    "all false": filled(lambda shape: np.zeros(shape, bool)),
    "random": filled(random(0)),
    "random in half": filled(random(1, np.float16)),
    "random in double": filled(random(2, np.float64)),
    "random integers": filled(lambda shape: np.random.default_rng(3).integers(-3, 9, shape)),
    "random rows that sum to 1": filled(lambda shape: rows_of(shape, 4)),
    "one row for all": filled(lambda shape: np.broadcast_to(rows_of(shape[-1:], 5), shape).copy()),
    "uniform rows": filled(lambda shape: np.full(shape, 1 / max(shape[-1] if shape else 1, 1), np.float32)),
    "2 for the first key": filled(one_key),
    "identity": filled(identity),
    "counted": filled(lambda shape: np.arange(np.prod(shape), dtype=np.float32).reshape(shape)),
    "two numbers": lambda case: dict.fromkeys(names_of(case), np.array([[0.3, 0.7]], np.float32)),
    "one number": lambda case: dict.fromkeys(names_of(case), np.array(0.5, np.float32)),
    "five numbers": lambda case: dict.fromkeys(names_of(case), np.full(5, 0.2, np.float32)),
    "broadcastable": filled(lambda shape: np.full((1,) * len(shape), 0.2, np.float32)),
    "an axis too many": filled(lambda shape: np.full((1, *shape), 0.2, np.float32)),
    "empty": lambda case: dict.fromkeys(names_of(case), np.zeros((0,), np.float32)),
    "empty with axes": lambda case: dict.fromkeys(names_of(case), np.zeros((0, 3, 0, 2), np.float32)),
    "other names": lambda case: {f"stand_in_{n}/x{n}": np.zeros(3, np.float32) for n in range(9)} | {
        "own/x": np.zeros(3, np.float32), "zzz/x": np.zeros(1)},
    "texts": lambda case: {name: text_array("a") for name in case.expected},
    "lists of texts": lambda case: {name: text_array([""] * 7) for name in case.expected},
    "numbers for texts": lambda case: {name: np.zeros(9, np.uint8) for name in case.expected},
    "brackets for texts": lambda case: {name: np.frombuffer(b"[" * 30000, np.uint8) for name in case.expected},
}  # fmt: skip


class Everything(Mapping[str, CellVerdict]):
    """A submission that lost its points in every exercise before, for every mistake: the most that can be forgiven."""

    def __getitem__(self, slug: str) -> CellVerdict:
        exercise = REFERENCES.exercise(slug)
        checks = tuple(Check(mistake.id, False, mistake=mistake.id) for mistake in exercise.mistakes)
        return CellVerdict(slug, "failed", 0.0, 5.0, checks)

    def __contains__(self, slug: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(SLUGS)

    def __len__(self) -> int:
        return len(SLUGS)


#: Numbers of the right shape: what one case makes of them another does as well, so the first that gives 0 is enough.
#: What has another form is given to the rule with every case, because it may stop in one of them.
RIGHT_SHAPE = {
    name for name in GARBAGE if name.startswith(("all ", "random", "uniform", "counted", "2 for", "identity"))
}


def earned(slug: str, name: str, stopped: list[str]) -> float:
    """The share of the points, as the judge counts it: what the worst case earns. ``stopped``: rules that failed."""
    exercise, least = REFERENCES.exercise(slug), 1.0
    for case in REFERENCES.cases(slug):
        answers = Answers(GARBAGE[name](case), "", Everything())
        least = min(least, _compared(stopped, exercise, case, answers).earned)
        if not least and name in RIGHT_SHAPE:
            break
    return least


@pytest.mark.parametrize("slug", SLUGS)
def test_no_garbage_earns_a_point_or_stops_a_rule(slug: str) -> None:
    stopped: list[str] = []
    found = {name: earned(slug, name, stopped) for name in GARBAGE}
    assert stopped == []
    assert {name: share for name, share in found.items() if share and (slug, name) not in KNOWN} == {}


@pytest.mark.parametrize("slug", SLUGS)
def test_no_copy_of_an_input_earns_a_point(slug: str) -> None:
    exercise = REFERENCES.exercise(slug)
    by_case = (
        [_compared([], exercise, case, Answers(arrays, "", Everything())).earned for arrays in copies(case)]
        for case in REFERENCES.cases(slug)
    )
    assert any(max(shares, default=0.0) == 0 for shares in by_case)
