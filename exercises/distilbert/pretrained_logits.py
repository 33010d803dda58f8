"""The whole model: the pretrained logits of ``mini`` always, the published ones where the weights were downloaded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.exercise import Case, Exercise, Mistake

from ._rules import logits
from ._sentences import SENTENCES
from ._sizes import hf_config

#: Printed to four places: the first by the notebook (seed 0), the others by the Hugging Face course, chapter 2.2.
PUBLISHED = [[-4.1982, 4.5568], [4.1692, -3.3464], [-1.5607, 1.6123]]


def cases(generator: np.random.Generator) -> list[Case]:
    """Sentences of 8 to 16 tokens, one by one, then as a batch filled up with [PAD]; published logits.

    The model takes no mask, so the oracle, too, reads padding as if it were words.
    """
    from course import Config
    from course.names import to_transformers_names
    from course.pretrained import load_state_dict

    sizes = Config.mini()
    state = to_transformers_names({name: weight.numpy() for name, weight in load_state_dict("mini").items()})
    longest = max(map(len, SENTENCES))
    batch = [ids + [sizes.pad_token_id] * (longest - len(ids)) for ids in SENTENCES]
    made = []
    for rows in [*([ids] for ids in SENTENCES), batch]:
        expected = _transformers_logits(vars(sizes), state, np.array(rows))
        made.append(Case({"checkpoint": "mini"}, {"input_ids": np.array(rows)}, expected={"logits": expected}))
    for ids, published in zip(SENTENCES, PUBLISHED, strict=True):
        inputs = {"input_ids": np.array([ids])}
        made.append(Case({"checkpoint": "distilbert"}, inputs, expected={"logits": np.array([published])}))
    return made


def _transformers_logits(
    sizes: Mapping[str, object], state: Mapping[str, np.ndarray], input_ids: np.ndarray
) -> np.ndarray:
    import torch
    from transformers import DistilBertForSequenceClassification

    model = DistilBertForSequenceClassification(hf_config(sizes)).double().eval()
    model.load_state_dict({name: torch.from_numpy(weight.astype(np.float64)) for name, weight in state.items()})
    ids = torch.from_numpy(input_ids)
    with torch.no_grad():
        found: np.ndarray = model(ids, attention_mask=torch.ones_like(ids)).logits.numpy()
    return found


# Lines of the solution that mistakes change.
EMBEDDED = "hidden_states = self.embeddings(input_ids)"
BLOCKS = "enumerate(self.attention_layers)"
CLS = "pooled_output = output[:, 0]"
HIDDEN = "self.pre_classifier = nn.Linear(config.dim, config.dim)"
OTHER = Mistake("M18", "Put together, your model does not give the pretrained model's logits.",
                "Each part passes its check? Then compare it, block by block, with parts.ReadyClassifier.")  # fmt: skip
POOLS = "Was the line changed that takes [CLS] out of what encode returns?"

MISTAKES = [
    Mistake("M15-mean", "The tokens were averaged; the assignment asks for the [CLS] token.", POOLS,
            (CLS, "pooled_output = output.mean(dim=1)")),
    Mistake("M15-last", "The last token was taken; [CLS] is the first one.", POOLS,
            (CLS, "pooled_output = output[:, -1]")),
    Mistake("M15-token", "The second token was taken; [CLS] is the first one.", POOLS,
            (CLS, "pooled_output = output[:, 1]")),
    Mistake("M15-tokens", "Every token is classified, not the sentence.", POOLS, (CLS, "pooled_output = output")),
    Mistake("M15-sentence", "The first sentence's tokens are classified; [CLS] is the first token of each sentence.",
            POOLS, (CLS, "pooled_output = output[0]")),
    Mistake("M18-batch", "Put together, your model is right for each sentence alone, but not for a batch of them.",
            "[PAD] is a token like any other here. Does a size, or something that is kept, come from another call?").by(
        (EMBEDDED, f"input_ids = input_ids[:, (input_ids != 0).all(0)]\n        {EMBEDDED}")),
    OTHER.by((BLOCKS, "enumerate(self.attention_layers[:4])")),
    OTHER.by((EMBEDDED, EMBEDDED.replace("input_ids", "input_ids.clamp(max=999)"))),
    OTHER.by((EMBEDDED, EMBEDDED.replace("input_ids", "input_ids[:, :8]"))),
    Mistake("", "a layer that the checkpoint does not know: it stops", "",
            (HIDDEN, f"{HIDDEN}\n        self.head = nn.Linear(config.dim, config.dim)")),
]  # fmt: skip

RIGHT = {
    "ids made whole numbers first": [(EMBEDDED, EMBEDDED.replace("input_ids", "input_ids.long()"))],
    "pooled by select": [(CLS, "pooled_output = output.select(1, 0)")],
    "one line": [
        (EMBEDDED, "return self.classify(self.encode(self.embeddings(input_ids))[:, :1].squeeze(1))"),
        ("output = self.encode(hidden_states)", "pass"), (CLS, "pass"),
        ("return self.classify(pooled_output)", "pass"),
    ],
}  # fmt: skip

EXERCISE = Exercise(
    cases, logits, MISTAKES, right=RIGHT, framework="torch",
    cell="classifier_model_answer", parts=("encoder_list", "encoder_loop", "classifier"), atol=2e-4, rtol=0,
)  # fmt: skip
