"""Right and wrong answers to ``attention_head``."""

from autograder.exercise import SampleAnswer

from .._answers import HEAD, HEAD_INIT, METHOD, NOT_BEGUN, RETURNS_PAIR

CELL = "models.py"

QKV = "q, k, v = self.wq(hidden_states), self.wk(hidden_states), self.wv(hidden_states)\n"
READY_HEAD = "x = hidden_states\nreturn nn.functional.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x))"
RIGHT = [
    SampleAnswer("returns a pair", methods=RETURNS_PAIR),
    SampleAnswer("ready-made attention, not the method", methods={HEAD: READY_HEAD}),
    SampleAnswer(
        "with biases, in another order",
        methods={
            HEAD_INIT: """
            self.wv = nn.Linear(d_model, d_v)
            self.wk = nn.Linear(d_model, d_k)
            self.wq = nn.Linear(d_model, d_q)
            """
        },
    ),
    SampleAnswer(
        "weights multiplied by hand",
        methods={
            HEAD: """
            q, k, v = (hidden_states @ layer.weight.T for layer in (self.wq, self.wk, self.wv))
            out, _ = self.scaled_dot_product_attention(q, k, v)
            return out
            """
        },
    ),
    SampleAnswer(
        "named arguments",
        methods={
            HEAD_INIT: """
            for name, size in zip(("wq", "wk", "wv"), (d_q, d_k, d_v)):
                setattr(self, name, nn.Linear(in_features=d_model, out_features=size, bias=False))
            """
        },
    ),
    SampleAnswer("its own method wrong: that is paid for elsewhere", methods={METHOD: NOT_BEGUN}),
    SampleAnswer(
        "functional_call, keyword arguments alone",
        methods={
            HEAD: """
            call = torch.func.functional_call
            layers = (self.wq, self.wk, self.wv)
            q, k, v = (call(layer, dict(layer.named_parameters()), (hidden_states,)) for layer in layers)
            return self.scaled_dot_product_attention(q=q, k=k, v=v)[0]
            """
        },
    ),
]
WRONG = [
    SampleAnswer(
        "wk and wq one and the same",
        methods={
            HEAD_INIT: """
            self.wq = nn.Linear(d_model, d_q, bias=False)
            self.wk = self.wq
            self.wv = nn.Linear(d_model, d_v, bias=False)
            """
        },
        points=0,
        mistake="head-shared",
    ),
    SampleAnswer(
        "query and key swapped",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(k, q, v)[0]"},
        points=0,
        mistake="head-qk",
    ),
    SampleAnswer(
        "keys made by wq",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(q, self.wq(hidden_states), v)[0]"},
        points=0,
        mistake="head-same",
    ),
    SampleAnswer(
        "queries made by wk",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(self.wk(hidden_states), k, v)[0]"},
        points=0,
        mistake="head-same-k",
    ),
    SampleAnswer(
        "values not projected",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(q, k, hidden_states)[0]"},
        points=0,
        mistake="head-raw-v",
    ),
    SampleAnswer(
        "queries not projected",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(hidden_states, k, v)[0]"},
        points=0,
        mistake="head-raw-q",
    ),
    SampleAnswer(
        "keys not projected",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(q, hidden_states, v)[0]"},
        points=0,
        mistake="head-raw-k",
    ),
    SampleAnswer(
        "returns the weights",
        methods={HEAD: QKV + "return self.scaled_dot_product_attention(q, k, v)[1]"},
        points=0,
        mistake="head-weights",
    ),
    SampleAnswer(
        "wq and wv of each other's size",
        methods={
            HEAD_INIT: """
            self.wq = nn.Linear(d_model, d_v, bias=False)
            self.wk = nn.Linear(d_model, d_k, bias=False)
            self.wv = nn.Linear(d_model, d_q, bias=False)
            """
        },
        points=0,
        mistake="head-sizes",
    ),
    SampleAnswer(
        "an activation behind the head",
        methods={HEAD: QKV + "return torch.relu(self.scaled_dot_product_attention(q, k, v)[0])"},
        points=0,
    ),
]

WITH_BIAS = "A bias in a projection is one more thing to learn: the visible check says so, and it costs nothing."
#: Differences that the exercise does not ask about.
ACCEPTED = {
    "AttentionHead-69e5aed7": WITH_BIAS,
    "AttentionHead-a80b9e66": WITH_BIAS,
    "AttentionHead-fa59ed6b": WITH_BIAS,
    "AttentionHead-c2c5269c": WITH_BIAS,
    "AttentionHead-f8e749a3": WITH_BIAS,
    "AttentionHead-d61aed36": WITH_BIAS,
}
