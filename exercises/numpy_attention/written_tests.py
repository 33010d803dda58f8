"""Tests that students write: how many wrong implementations they reject, and whether they accept the right ones."""

from __future__ import annotations

import numpy as np

from autograder.exercise import Case, Exercise, Mistake, SampleAnswer, variant

from ._implementations import IMPLEMENTATIONS, draw_inputs, record
from ._judged_alone import written_tests


def cases(generator: np.random.Generator) -> list[Case]:
    made = []
    for _ in range(2):
        order = generator.permutation(len(IMPLEMENTATIONS))
        shuffled = [IMPLEMENTATIONS[number] for number in order]
        inputs = record(draw_inputs(generator), shuffled)
        made.append(Case({"implementations": len(shuffled)}, inputs, expected={"order": order}))
    return made


def written(*lines: str) -> str:
    return variant("def test_attention(attention, inputs):", "\n".join(lines) or "pass")


#: What is known of a result without computing it, input by input.
FACTS = {
    "one_key": 'assert np.allclose(attention(*inputs["one_key"]), inputs["one_key"][2], atol=1e-4)',
    "equal_keys": 'assert np.allclose(attention(*inputs["equal_keys"]), inputs["equal_keys"][2].mean(0), atol=1e-4)',
    "equal_values": 'assert np.allclose(attention(*inputs["equal_values"]), inputs["equal_values"][2][0], atol=1e-4)',
    "three_to_one": 'v = inputs["three_to_one"][2]\n'
                    'assert np.allclose(attention(*inputs["three_to_one"]), 0.75 * v[0] + 0.25 * v[1], atol=1e-4)',
    "huge": 'assert np.isfinite(attention(*inputs["huge"])).all()',
    "shuffled": 'assert np.allclose(attention(*inputs["plain"]), attention(*inputs["shuffled_keys"]), atol=1e-4)',
}  # fmt: skip
#: Wrong implementation -> how many of the 17 the tests reject that let it pass, and the facts that these assert.
LET_PASS: dict[str, tuple[int, set[str]]] = {
    **dict.fromkeys(("M2", "M3", "uniform"), (14, FACTS.keys() - {"three_to_one"})),
    "M1-overflow": (16, FACTS.keys() - {"huge"}),
    "M1-all": (16, {"three_to_one", "huge", "shuffled"}),
    **dict.fromkeys(("M1", "M1-none", "M9-late", "rounded"), (8, {"huge", "shuffled"})),
    "M1-undivided": (6, {"shuffled"}),
    "hard": (13, {"one_key", "equal_values", "huge", "shuffled"}),
    "masked": (12, {"one_key", "equal_values", "huge"}),
    **dict.fromkeys(("M9", "shortened"), (5, {"huge"})),
    **dict.fromkeys(("M4", "M4-swap", "M4-transposed"), (0, set[str]())),  # they fail wherever sizes differ
}
MISTAKES = [
    Mistake(
        one.id,
        f"Your tests let pass an implementation that {one.description}.",
        one.hint,
        written(*(line for name, line in FACTS.items() if name in LET_PASS[one.id][1])),
        share=LET_PASS[one.id][0] / 17,
        by_rule=True,
        passes_check=bool(LET_PASS[one.id][1] - {"shuffled"}),  # none of the wrong ones to practise on fails that
    )
    for one in IMPLEMENTATIONS
    if one.description is not None
]

BY_COMPARISON = """
for query, key, value in inputs.values():
    q, k, v = (a.astype(np.float64) for a in (query, key, value))
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(attention(query, key, value), e / e.sum(1, keepdims=True) @ v, atol=1e-4, rtol=1e-3)
"""
LARGEST = [
    fact if "isfinite" in fact else fact.replace("np.allclose(", "largest(").replace(", atol=1e-4)", ") < 1e-4")
    for fact in FACTS.values()
]
RIGHT = {
    "facts": written(*FACTS.values()),
    "comparison": written(BY_COMPARISON),
    "another order": written(*reversed(FACTS.values())),
    "largest difference": written("largest = lambda a, b: np.abs(a - b).max()", *LARGEST),
    "spoils its inputs": written(*FACTS.values(), "for given in inputs.values():\n    given[0][:] = 0"),
}
TOO_STRICT = {
    "returns False": "return False",
    "always fails": "assert False",
    "always stops": "1 / 0",
    "asks for float64": 'assert attention(*inputs["plain"]).dtype == np.float64',
    "no tolerance, one key": 'assert (attention(*inputs["one_key"]) == inputs["one_key"][2].astype(np.float64)).all()',
    "no tolerance, equal values": 'assert (attention(*inputs["equal_values"]) == inputs["equal_values"][2][0]).all()',
    "asks for tiny numbers": 'assert np.abs(attention(*inputs["plain"])).max() < 1e-3',
    "inputs of its own": "attention(np.eye(2), np.eye(2), np.eye(2))",
}
WRONG = [
    SampleAnswer(
        name,
        written(line),
        points=0,
        mistake="M2" if name == "returns False" else "",
        passes_check=name == "no tolerance, one key",
    )
    for name, line in TOO_STRICT.items()
]

#: Why mutants may pass.
ENOUGH = "Every wrong implementation that is stored is rejected by the other inputs as well; in some draws one is not."
EXERCISE = Exercise(
    cases, written_tests, MISTAKES, right=RIGHT, wrong=WRONG,
    accepted=dict.fromkeys(("written_tests-4780c7fc", "written_tests-183506f4"), ENOUGH),
)  # fmt: skip
