"""Students' tests that are good, too lax, and too strict."""

from textwrap import indent

from autograder.exercise import SampleAnswer


def written(body: str) -> str:
    return "def test_attention(attention, inputs):\n" + indent(body.strip("\n"), "    ")


ONE_KEY = 'assert np.allclose(attention(*inputs["one_key"]), inputs["one_key"][2], atol=1e-4)'
EQUAL_KEYS = 'assert np.allclose(attention(*inputs["equal_keys"]), inputs["equal_keys"][2].mean(0), atol=1e-4)'
EQUAL_VALUES = 'assert np.allclose(attention(*inputs["equal_values"]), inputs["equal_values"][2][0], atol=1e-4)'
THREE = (
    'v = inputs["three_to_one"][2]\n'
    'assert np.allclose(attention(*inputs["three_to_one"]), 0.75 * v[0] + 0.25 * v[1], atol=1e-4)'
)
FINITE = 'assert np.isfinite(attention(*inputs["huge"])).all()'
SHUFFLED = 'assert np.allclose(attention(*inputs["plain"]), attention(*inputs["shuffled_keys"]), atol=1e-4)'
FACTS = [ONE_KEY, EQUAL_KEYS, EQUAL_VALUES, THREE, FINITE, SHUFFLED]
DIFFERENCES = [
    fact if "isfinite" in fact else fact.replace("np.allclose(", "largest(").replace(", atol=1e-4)", ") < 1e-4")
    for fact in ("largest = lambda a, b: np.abs(a - b).max()", *FACTS)
]
BY_COMPARISON = """
for query, key, value in inputs.values():
    q, k, v = (a.astype(np.float64) for a in (query, key, value))
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(1, keepdims=True))
    np.testing.assert_allclose(attention(query, key, value), e / e.sum(1, keepdims=True) @ v, atol=1e-4, rtol=1e-3)
"""


def without(left_out: str) -> str:
    return written("\n".join(fact for fact in FACTS if fact != left_out))


RIGHT = [
    SampleAnswer("facts", written("\n".join(FACTS))),
    SampleAnswer("comparison", written(BY_COMPARISON)),
    SampleAnswer("another order", written("\n".join(reversed(FACTS)))),
    SampleAnswer("largest difference", written("\n".join(DIFFERENCES))),
    SampleAnswer(
        "spoils its inputs", written("\n".join(FACTS) + "\nfor given in inputs.values():\n    given[0][:] = 0")
    ),
]

#: The share of the wrong implementations that are rejected where one is not.
ONE_MISSED = 16 / 17

WRONG = [
    SampleAnswer("blind for the scale", without(THREE), share=14 / 17, mistake="M2", passes_check=True),
    SampleAnswer("blind for overflow", without(FINITE), share=ONE_MISSED, mistake="M1-overflow", passes_check=True),
    SampleAnswer("nothing", written("pass"), points=0, mistake="M2"),
    SampleAnswer("returns False", written("return False"), points=0, mistake="M2"),
    SampleAnswer("always fails", written("assert False"), points=0),
    SampleAnswer("always stops", written("1 / 0"), points=0),
    SampleAnswer("asks for float64", written('assert attention(*inputs["plain"]).dtype == np.float64'), points=0),
    SampleAnswer(
        "no tolerance, one key",
        written('assert (attention(*inputs["one_key"]) == inputs["one_key"][2].astype(np.float64)).all()'),
        points=0,
        passes_check=True,
    ),
    SampleAnswer(
        "no tolerance, equal values",
        written('assert (attention(*inputs["equal_values"]) == inputs["equal_values"][2][0]).all()'),
        points=0,
    ),
    SampleAnswer("asks for tiny numbers", written('assert np.abs(attention(*inputs["plain"])).max() < 1e-3'), points=0),
    SampleAnswer("inputs of its own", written("attention(np.eye(2), np.eye(2), np.eye(2))"), points=0),
]
