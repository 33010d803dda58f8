"""Twenty answers that visible check or feedback once told something false, or nothing."""

from dataclasses import dataclass

import pytest

from autograder.authoring.check import Sample, judged
from autograder.exercise import SampleAnswer
from tests.exercises.test_answers import one_worker, trials
from tests.grading import REFERENCES

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Worst:
    """changes: in the solution. told: what both say. hints: what the visible check says too. never: what none says."""

    exercise: str
    name: str
    changes: tuple[tuple[str, str], ...]
    told: str
    hints: str = ""
    never: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.exercise}: {self.name}"


WRITTEN = """        ids = torch.cat([ids, choose(logits)])                                 # (tokens + 1,)
        if ids[-1] == end:
            break"""
PADDED = "padded = attention_mask[:, None, None, :] == 0"
ATTENDED = "x + self.self_attn(self.input_layernorm(x), cos, sin)"
CAUSAL, BLOCK = "decoder/causal_attention", "decoder/pre_norm_block"
PADDING = "distilbert/padding_mask"
TURNED = "Rows and columns are swapped."

WORST = [
    Worst("decoder/cached_attention", "is_causal with a cache",
          (("return weights @ value,", "return F.scaled_dot_product_attention(query, key, value, is_causal=True),"),),
          "the first new one sees one key only", never=("gradient",)),
    Worst("decoder/cached_model", "the caches that came in go back", (("weight.T, kept", "weight.T, caches"),),
          "Every piece is read as if it were the first one.", "one new cache for each block", ("NoneType",)),
    Worst("decoder/generate", "stops before the end word",
          ((WRITTEN, "        word = choose(logits)\n        if word == end:\n            break\n"
                     "        ids = torch.cat([ids, word])"),),
          "The end word itself is missing.", "Append it, then stop.", ("asked 2 times",)),
    Worst(CAUSAL, "sums to 0.9996", (("return weights @ value", "return 0.9996 * weights @ value"),),
          "nearly right", never=("Yours sum to 1.",)),
    Worst("decoder/language_model", "a layer made in forward",
          (("self.final_norm(x) @", "nn.Linear(x.shape[-1], x.shape[-1])(self.final_norm(x)) @"),),
          "Called twice with the same input, it gives different numbers.", "made once, in __init__",
          ("how many follow",)),
    Worst(PADDING, "the first sentence's mask", ((PADDED, "padded = attention_mask[0] == 0"),),
          "Every sentence has the mask of the first one.", "Row i of the mask", ("underscore",)),
    Worst(PADDING, "float16", (("return scores.softmax(dim=-1)", "return scores.half().softmax(dim=-1).float()"),),
          "too few digits", "float16", ("masked as well",)),
    Worst(PADDING, "padding counted from the end",
          ((PADDED, "padded = (torch.arange(scores.shape[-1]) >= attention_mask.sum(-1)[:, None])[:, None, None]"),),
          "also stands in front", never=("Neither 0 nor -1",)),
    Worst("encoder_lab/masked_attention", "not scaled", ((" / math.sqrt(key.size(-1))", ""),),
          "divided", never=("plus infinity",)),
    Worst("decoder/top_p", "left in the sorted order",
          (("torch.zeros_like(probabilities).scatter(-1, order, ordered)", "ordered"),),
          "belong to other words now", "keeps its position"),
    Worst("numpy_attention/softmax", "float16", (("np.exp(x - largest)", "np.exp((x - largest).astype(np.float16))"),),
          "too few digits", never=("1000 does not fit",)),
    Worst(BLOCK, "the skip adds the norm",
          (("parts = self.to_qkv(self.norm_1(x))", "x = self.norm_1(x)\n        parts = self.to_qkv(x)"),),
          "adds the normalised vectors", "x as it came in", ("something else",)),
    Worst("decoder/next_word_loss", "shifted after flatten",
          (("F.cross_entropy(predictions.flatten(0, 1), targets.flatten())",
            "F.cross_entropy(logits.flatten(0, 1)[:-1], ids.flatten()[1:])"),),
          "Rows were joined before the shift", "before you flatten"),
    Worst("decoder/bigram", "turned", (("(ids[:-1], ids[1:])", "(ids[1:], ids[:-1])"),), TURNED, never=("was seen",)),
    Worst("decoder/modern_block", "the norm on what attention gives",
          ((ATTENDED, f"x + self.post_attention_layernorm({ATTENDED.removeprefix('x + ')})"),
           ("self.mlp(self.post_attention_layernorm(x))", "self.mlp(x)")),
          "post_attention_layernorm was applied to what the attention gave", "before the network", ("skip starts",)),
    Worst("decoder/cache_memory", "MiB", (("* bytes_per_number", "* bytes_per_number / 2**20"),), "These are MiB."),
    Worst("distilbert/tokens", "an array",
          (("return tokenizer", "import numpy as np\n    return np.array(tokenizer"), ("tolist())", "tolist()))")),
          "a list of texts is expected, not a NumPy array: .tolist()", never=("ndarray", "stopped")),
    Worst(CAUSAL, "the width of all heads",
          (("math.sqrt(query.shape[-1])", "math.sqrt(query.shape[1] * query.shape[-1])"),),
          "the root of the width of all heads together", never=("only the first entry",)),
    Worst("decoder/rms_norm", "the weight is called gain",
          (("self.weight = nn", "self.gain = nn"), ("* self.weight", "* self.gain")),
          "There is no parameter self.weight", "under this name", ("never change yours",)),
    Worst("distilbert/merge", "half of the positions", (("words + positions", "words + 0.5 * positions"),),
          "The words count more than the positions."),
]  # fmt: skip


@pytest.mark.parametrize(
    "worst", [pytest.param(one, id=str(one), marks=one_worker(one.exercise.partition("/")[0])) for one in WORST]
)
def test_the_visible_check_and_feedback_say_what_is_wrong(worst: Worst) -> None:
    assignment, _, exercise = worst.exercise.partition("/")
    cell = REFERENCES.exercise(worst.exercise).cell or f"{exercise}_answer"
    answer = SampleAnswer(worst.name, changes=worst.changes, cell=cell)
    _, tried = judged(trials(assignment), Sample(worst.exercise, answer, False))
    visible, verdict = tried.visible[exercise], tried.verdicts[exercise]
    failed = [check for check in verdict.checks if not check.passed]
    feedback = "\n".join(f"{check.message}\n{check.hint}" for check in failed)
    assert worst.told in visible
    assert worst.told in failed[0].message
    assert worst.hints in visible
    assert not [words for words in worst.never if words in f"{visible}\n{feedback}"]
