"""Right and wrong answers to ``embeddings``."""

from autograder.exercise import SampleAnswer

from .._answers import EMBEDDINGS, EMBEDDINGS_INIT

CELL = "models.py"

WORDS = "words = self.token_embeddings(input_ids)\n"
PLACES = "places = self.position_embeddings(torch.arange(input_ids.size(1)))\n"
PLAIN_NORM = """
self.token_embeddings = nn.Embedding(vocab_size, d_model)
self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
self.layer_norm = nn.LayerNorm(d_model, eps=1e-12, elementwise_affine=False)
self.dropout = nn.Dropout(0.1)
"""


def _wrong(name: str, code: str, mistake: str = "", points: float = 0) -> SampleAnswer:
    return SampleAnswer(name, methods={EMBEDDINGS: WORDS + code}, points=points, mistake=mistake)


def _placed(name: str, numbers: str, mistake: str) -> SampleAnswer:
    return _wrong(name, f"return self.layer_norm(words + self.position_embeddings({numbers}))", mistake)


RIGHT = [
    SampleAnswer(
        "positions expanded",
        methods={
            EMBEDDINGS: """
            batch, tokens = input_ids.shape
            places = torch.arange(tokens, device=input_ids.device).unsqueeze(0).expand(batch, tokens)
            return self.dropout(self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places)))
            """
        },
    ),
    SampleAnswer(
        "counted by a running sum",
        methods={
            EMBEDDINGS: """
            places = torch.ones_like(input_ids).cumsum(1) - 1
            return self.dropout(self.layer_norm(self.position_embeddings(places) + self.token_embeddings(input_ids)))
            """
        },
    ),
    SampleAnswer(
        "lists of positions, and no dropout",
        methods={
            EMBEDDINGS_INIT: """
            self.token_embeddings = nn.Embedding(vocab_size, d_model, padding_idx=0)
            self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
            self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
            """,
            EMBEDDINGS: """
            places = torch.tensor([[i for i in range(input_ids.shape[1])] for _ in range(input_ids.shape[0])])
            return self.layer_norm(self.token_embeddings(input_ids) + self.position_embeddings(places))
            """,
        },
    ),
    SampleAnswer(
        "rows of the table, an error of its own",
        methods={
            EMBEDDINGS: """
            tokens = input_ids.size(1)
            if tokens > self.position_embeddings.num_embeddings:
                raise ValueError(f"a sentence of {tokens} tokens is too long")
            both = self.token_embeddings(input_ids) + self.position_embeddings.weight[:tokens]
            norm = self.layer_norm
            return self.dropout(nn.functional.layer_norm(both, both.shape[-1:], norm.weight, norm.bias, 1e-12))
            """
        },
    ),
    SampleAnswer(
        "half of everything dropped",
        methods={
            EMBEDDINGS_INIT: """
            self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
            self.token_embeddings = nn.Embedding(vocab_size, d_model)
            self.dropout = nn.Dropout()
            self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
            """
        },
    ),
    SampleAnswer(
        "expanded positions, keyword arguments alone",
        methods={
            EMBEDDINGS: """
            places = torch.arange(input_ids.shape[-1], device=input_ids.device).expand_as(input_ids)
            both = torch.add(input=self.token_embeddings(input_ids), other=self.position_embeddings(places))
            return self.dropout(self.layer_norm(input=both))
            """
        },
    ),
]
WRONG = [
    _placed("counted along the batch", "torch.arange(len(input_ids))[:, None]", "M11-batch"),
    _placed("from 1", "torch.arange(1, input_ids.size(1) + 1)", "M11-one"),
    _placed("all zero", "torch.zeros_like(input_ids)", "M11-zero"),
    _placed("from the end", "torch.arange(input_ids.size(1)).flip(0)", "M11-reversed"),
    _placed(
        "too long is cut off",
        "torch.arange(input_ids.size(1)).clamp(max=self.position_embeddings.num_embeddings - 1)",
        "long",
    ),
    _placed("tokens 0 are not counted", "((input_ids != 0).cumsum(1) - 1).clamp(min=0)", "M11-skips"),
    _wrong("no positions", "return self.layer_norm(words)", "M11-none"),
    _wrong("no words", PLACES + "return self.layer_norm(places + 0 * words)", "M11-words"),
    _wrong("multiplied", PLACES + "return self.layer_norm(words * places)", "M11-product"),
    _wrong("subtracted", PLACES + "return self.layer_norm(words - places)", "M11-difference"),
    _wrong("no norm", PLACES + "return words + places", "M8-none"),
    _wrong("norm before the positions", PLACES + "return self.layer_norm(words) + places", "M8"),
    _wrong(
        "dropout in eval mode", PLACES + "return nn.functional.dropout(self.layer_norm(words + places), 0.2)", "M16"
    ),
    _wrong(
        "dropout before the norm", PLACES + "return self.layer_norm(self.dropout(words + places))", "M16-order", 3.0
    ),
    SampleAnswer(
        "eps left at its default",
        methods={
            EMBEDDINGS_INIT: """
            self.token_embeddings = nn.Embedding(vocab_size, d_model)
            self.position_embeddings = nn.Embedding(max_position_embeddings, d_model)
            self.layer_norm = nn.LayerNorm(d_model)
            self.dropout = nn.Dropout(0.1)
            """
        },
        points=3.0,
        mistake="M13",
        unseen=True,
    ),
    SampleAnswer(
        "a norm without scale and shift", methods={EMBEDDINGS_INIT: PLAIN_NORM}, points=0, mistake="norm-plain"
    ),
    SampleAnswer(
        "a norm without shift",
        methods={EMBEDDINGS_INIT: PLAIN_NORM.replace("elementwise_affine", "bias")},
        points=0,
        mistake="norm-plain",
    ),
    SampleAnswer(
        "the tables have each other's sizes",
        methods={
            EMBEDDINGS_INIT: """
            self.token_embeddings = nn.Embedding(max_position_embeddings, d_model)
            self.position_embeddings = nn.Embedding(vocab_size, d_model)
            self.layer_norm = nn.LayerNorm(d_model, eps=1e-12)
            self.dropout = nn.Dropout(0.1)
            """
        },
        points=0,
        mistake="sizes",
    ),
]

IN_TRAINING = "The share changes training alone: the visible check says so, and it costs nothing."
#: Differences that the exercise does not ask about.
ACCEPTED = {
    "Embeddings-cdfad063": IN_TRAINING,
    "Embeddings-35e5ec00": IN_TRAINING,
    "Embeddings-d26212b7": IN_TRAINING,
    "Embeddings-3c903bee": IN_TRAINING,
    "Embeddings-2283564d": IN_TRAINING,
}
