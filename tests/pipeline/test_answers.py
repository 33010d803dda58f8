"""Answer files are hostile: reading and judging them never raises, and never takes more memory than stated here."""

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from autograder.exercise.model import Answers, Case
from autograder.exercise.values import MAX_TEXT_BYTES, READY_MADE, read_text
from autograder.pipeline.judge import _compared
from autograder.pipeline.outcomes import MIN_FILE_BYTES, UnreadableAnswers, most_bytes, parse, read_file, ready_made_in
from tests.grading import REFERENCES

#: What reading and judging one answer file may take beyond what the process had before.
MAX_MEMORY = 32 << 20

#: Exercises with the most different rules; each takes an equal share of the files.
SLUGS = [
    "distilbert/attention_weights", "distilbert/attention_context", "distilbert/encoder_loop", "distilbert/figure",
    "encoder_lab/encoder", "encoder_lab/separator_heads", "encoder_lab/position_kinds", "numpy_attention/pretraining",
    "numpy_attention/softmax", "numpy_attention/written_tests", "transformer_tutorial/bank_reading",
    "transformer_tutorial/attention_scores", "transformer_tutorial/positional_values",
    "transformer_tutorial/attention_cost",
]  # fmt: skip
EXPECTED = sorted({name for slug in SLUGS for case in REFERENCES.cases(slug) for name in case.expected})
BESIDE = ["weights", "output", "text:choice", "text:name", "text:titles", "stand_in_0/output", "own/output", "x", "",
          "text:", "rejected", "panels", "attention_again", "larger_1", "score", "\u202e", "a/b/c"]  # fmt: skip
NAMES = [*EXPECTED, *BESIDE]
DTYPES = [np.float32, np.float64, np.float16, np.int64, np.int8, np.uint8, np.bool_]
TEXTS = [b'"c"', b"[" * 9000, b"[]" + b",[]" * 9000, b"[[[[[[[[[[[[[1]]]]]]]]]]]]]", b'{"a": {"b": 1}}', b"-" * 999,
         b'["\\ud800"]', b"\xff\xfe", b"1e999", b"NaN", b'"' + b"\\" * 999, b"9" * 5000, b"null", b"",
         b'["a", "b"]']  # fmt: skip


def pool() -> list[np.ndarray]:
    """Arrays of every kind and many shapes, right answers among them: rules go deeper where shapes are right."""
    generator = np.random.default_rng(0)
    shapes = [(), (0,), (1,), (5,), (2, 3), (3, 0, 2), (1, 1, 1), (2, 3, 5, 5), (3, 4, 7, 7), (2, 1, 1, 1, 2)]
    made = [generator.integers(-2, 3, shape).astype(dtype) for shape in shapes for dtype in DTYPES]
    made += [np.full(shape, value) for shape in shapes for value in (np.nan, np.inf, -np.inf, 1e308, 5e-324, -0.0)]
    made += [np.frombuffer(text, np.uint8) for text in TEXTS]
    right = [array for slug in SLUGS for case in REFERENCES.cases(slug) for array in case.expected.values()]
    return [*made, *right, *(array.astype(np.float32) for array in right)]


files = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(pool())), max_size=4).map(
    lambda pairs: save({name: np.ascontiguousarray(array) for name, array in pairs})
)


def with_header(header: object, body: bytes = b"\0" * 64) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def tensor(shape: object, begin: int = 0, end: int = 4, dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


#: Files that no library writes.
HOSTILE = {
    "empty": b"",
    "no header": b"\x01",
    "a header of 2**63 bytes": (2**63).to_bytes(8, "little"),
    "a header larger than the file": (10**6).to_bytes(8, "little") + b"{}",
    "a deep header": with_header(b"[" * 30_000),
    "a wide header": with_header({f"t{n}": tensor([0], 0, 0) for n in range(900)}, b""),
    "an empty array with a huge axis": with_header({"weights": tensor([0, 10**12], 0, 0)}, b""),
    "a negative axis": with_header({"weights": tensor([-1])}),
    "a shape of text": with_header({"weights": tensor("12")}),
    "a shape of lists": with_header({"weights": tensor([[1]])}),
    "a thousand axes": with_header({"weights": tensor([1] * 1000)}),
    "overlapping arrays": with_header({"a": tensor([1]), "b": tensor([1])}, b"\0" * 4),
    "an end before the begin": with_header({"a": tensor([1], 4, 0)}),
    "an unknown type": with_header({"a": tensor([1], dtype="F999")}),
    "a type that numpy lacks": with_header({"a": tensor([2], dtype="BF16")}, b"\0" * 4),
    "numbers that are too long": with_header(b'{"a": {"shape": [' + b"9" * 20_000 + b"]}}"),
    "a million brackets as text": save({"text:choices": np.frombuffer(b"[" * (200 << 10), np.uint8)}),
    "megabytes of empty lists": save({"text:choices": np.frombuffer(b"[" + b"[]," * (2 << 20) + b"[]]", np.uint8)}),
    "twelve thousand attempts": save({f"stand_in_{n}/output": np.zeros(1, np.float32) for n in range(12_000)}),
}


def judged(slug: str, case: Case, data: bytes) -> float:
    """The share that a file earns; 0 where it is not read."""
    try:
        found = parse(data)
    except UnreadableAnswers:
        return 0.0
    return _compared([], REFERENCES.exercise(slug), case, Answers(found)).earned


def peak(work: Callable[[], object]) -> int:
    """The most memory that Python objects and arrays took meanwhile, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@settings(max_examples=2_500, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(files, st.integers(0, 10**6))
def test_no_answer_file_stops_the_judge(data: bytes, number: int) -> None:
    slug = SLUGS[number % len(SLUGS)]
    cases = REFERENCES.cases(slug)
    assert 0 <= judged(slug, cases[number % len(cases)], data) <= 1


@pytest.mark.slow
@settings(max_examples=2_000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.binary(max_size=300), st.integers(0, 400), st.binary(max_size=4))
def test_no_broken_file_stops_the_reader(data: bytes, place: int, change: bytes) -> None:
    right = save({"weights": np.ones((2, 3), np.float32), "text:name": np.frombuffer(b'"a"', np.uint8)})
    for broken in (data, right[:place] + change + right[place + len(change) :], right[:place]):
        try:
            parse(broken)
        except UnreadableAnswers:
            continue


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_earns_nothing_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "0.safetensors"
    path.write_bytes(HOSTILE[name])
    case = REFERENCES.cases("encoder_lab/encoder")[0]

    def read() -> None:
        try:
            found = read_file(path, case)
        except UnreadableAnswers:
            return
        assert found is not None
        for slug in ("encoder_lab/encoder", "encoder_lab/position_kinds"):
            assert _compared([], REFERENCES.exercise(slug), REFERENCES.cases(slug)[0], Answers(found)).earned == 0

    for slug in ("encoder_lab/encoder", "encoder_lab/position_kinds"):
        REFERENCES.cases(slug)
    assert peak(read) < MAX_MEMORY


def test_a_text_as_large_as_is_read_takes_little_memory() -> None:
    lists = b"[" + b"[]," * (MAX_TEXT_BYTES // 3 - 2) + b"[]]"
    assert peak(lambda: read_text(np.frombuffer(lists, np.uint8))) < MAX_MEMORY


def test_of_ready_made_parts_that_ran_only_names_are_taken() -> None:
    for text in (*TEXTS, b'[["a"], 1, null, "<b>", "a b", "' + b"a" * 201 + b'"]'):
        names = ready_made_in({READY_MADE: np.frombuffer(text, np.uint8)})
        assert names == (["a", "b"] if text == TEXTS[-1] else [])
    assert [ready_made_in({READY_MADE: array}) for array in pool() if array.ndim != 1 or array.dtype != np.uint8]


def test_a_file_that_is_too_large_is_not_opened_further(tmp_path: Path) -> None:
    case = REFERENCES.cases("encoder_lab/position_kinds")[0]
    path = tmp_path / "0.safetensors"
    path.touch()
    os.truncate(path, 1 << 30)

    def read() -> None:
        with pytest.raises(UnreadableAnswers, match="bytes; at most"):
            read_file(path, case)

    assert peak(read) < MAX_MEMORY


def test_every_exercise_has_room_for_its_right_answers_ten_times() -> None:
    for slug in (
        slug for name in ("distilbert", "encoder_lab", "numpy_attention") for slug in REFERENCES.exercises(name)
    ):
        for case in REFERENCES.cases(slug):
            right = sum(array.size * 8 for array in case.expected.values())
            assert most_bytes(case) >= max(MIN_FILE_BYTES, 4 * right)
