"""A student's answers to numpy_attention, cell id -> code. Written from the released notebooks alone.

What a person reads has no answer here.

Its author had seen some of the source of notebook 2 before.
"""

ATTENTION = {
    "softmax_answer": """
def softmax(x):
    largest = np.max(x, axis=-1, keepdims=True)
    powers = np.exp(x - largest)
    return powers / np.sum(powers, axis=-1, keepdims=True)
""",
    "self_attention_answer": """
def apply_self_attention(x, W_q, W_k, W_v, W_o):
    queries = x @ W_q
    keys = x @ W_k
    values = x @ W_v
    scores = queries @ keys.T / np.sqrt(queries.shape[1])
    return softmax(scores) @ values @ W_o
""",
    "multihead_attention_answer": """
def apply_multihead_attention(x, W_q, W_k, W_v, W_o):
    queries, keys, values = (np.einsum("nd,hde->hne", x, W) for W in (W_q, W_k, W_v))
    scores = np.einsum("hie,hje->hij", queries, keys) / np.sqrt(queries.shape[2])
    out = np.einsum("hij,hje->ihe", softmax(scores), values)
    return out.reshape(len(x), -1) @ W_o
""",
    "attention_in_blocks_answer": """
def attention_in_blocks(queries, keys, values, block):
    n, d = queries.shape
    m = np.full((n, 1), -np.inf)
    s = np.zeros((n, 1))
    o = np.zeros((n, values.shape[1]))
    for start in range(0, len(keys), block):
        scores = queries @ keys[start : start + block].T / np.sqrt(d)
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        factor = np.exp(m - new)
        powers = np.exp(scores - new)
        s = factor * s + powers.sum(axis=1, keepdims=True)
        o = factor * o + powers @ values[start : start + block]
        m = new
    return o / s
""",
}

FINETUNING = {
    "classifier_on_top_answer": 'on_top = "c"',
    "text_preparation_answer": 'prepares_text = "DistilBertTokenizer"\nlets_padding_in = "d"',
    "special_tokens_answer": 'cls_token = "a"\nsep_token = "b"',
    "pretraining_answer": 'true_statements = ["a", "c", "e"]',
}

TESTS = {
    "written_tests_answer": """
def test_attention(attention, inputs):
    results = {}
    for name, (query, key, value) in inputs.items():
        results[name] = attention(query, key, value)
        assert results[name].shape == (len(query), value.shape[1]), name
        assert np.isfinite(results[name]).all(), name
        low, high = value.min(axis=0), value.max(axis=0)
        assert (results[name] >= low - 1e-3).all() and (results[name] <= high + 1e-3).all(), name

    def close(a, b):
        return np.allclose(a, b, atol=1e-3)

    assert close(results["plain"], results["shuffled_keys"])
    query, key, value = inputs["one_key"]
    assert close(results["one_key"], np.repeat(value, len(query), axis=0))
    query, key, value = inputs["equal_keys"]
    assert close(results["equal_keys"], np.repeat(value.mean(axis=0, keepdims=True), len(query), axis=0))
    query, key, value = inputs["equal_values"]
    assert close(results["equal_values"], np.repeat(value[:1], len(query), axis=0))
    query, key, value = inputs["three_to_one"]
    first, second = (query @ key.T)[0]
    weights = np.array([0.75, 0.25]) if first > second else np.array([0.25, 0.75])
    assert close(results["three_to_one"], weights @ value)
    for name in ("plain", "square", "huge", "tiny"):
        query, key, value = inputs[name]
        scores = query @ key.T / np.sqrt(query.shape[1])
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        assert close(results[name], powers / powers.sum(axis=1, keepdims=True) @ value), name
""",
    "slips_through_answer": """
def slips_through(query, key, value):
    scores = query @ key.T / np.sqrt(query.shape[1])
    if query.shape != key.shape and len(key) > 9:
        scores = scores[:, :9]
        value = value[:9]
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True) @ value
""",
}

ANSWERS = {"1_attention": ATTENTION, "2_finetuning": FINETUNING, "3_write_tests": TESTS}
