"""Notebook 3: wrong lists of blocks, loops and classifiers, each with one mistake."""

from __future__ import annotations

from tests.mistakes.distilbert_answer import MODEL, StudentAnswer

LIST = "nn.ModuleList(AttentionBlock(config) for _ in range(config.n_layers))"
STEP = "encoder_input, self.attention_probs[i] = block(encoder_input)"
LOOP = "for i, block in enumerate(self.attention_layers):"
OUTPUT = "output = encoder_input"
KEPT = "self.attention_probs = {}"
POOLED = "pooled_output = nn.functional.relu(self.pre_classifier(pooled_output))"
LOGITS = "logits = self.classifier(pooled_output)"


def _wrong(part: str, name: str, mistake: str | None, *changes: tuple[str, str], fast: bool = False) -> StudentAnswer:
    return StudentAnswer(name, MODEL, "classifier_model_answer", "", changes, (part,), mistake, fast=fast)


def _list(name: str, mistake: str | None, blocks: str, fast: bool = False) -> StudentAnswer:
    return _wrong("encoder_list", name, mistake, (LIST, blocks), fast=fast)


def _loop(name: str, mistake: str | None, *changes: tuple[str, str], fast: bool = False) -> StudentAnswer:
    return _wrong("encoder_loop", name, mistake, *changes, fast=fast)


def _classifier(name: str, mistake: str | None, pooled: str = POOLED, logits: str = LOGITS) -> StudentAnswer:
    return _wrong("classifier", name, mistake, (POOLED, pooled), (LOGITS, logits))


LISTS = [
    _list("a plain Python list", "M14-list", "[AttentionBlock(config) for _ in range(config.n_layers)]", fast=True),
    _list("one block many times", "M14-same", "nn.ModuleList([AttentionBlock(config)] * config.n_layers)"),
    _list("always six blocks", "M14-six", LIST.replace("config.n_layers", "6")),
    _list("a single block", "M14-one", "nn.ModuleList([AttentionBlock(config)])"),
    _list("one block too few", "M14-off", LIST.replace("range(", "range(1, ")),
    _list("one block too many", "M14-more", LIST.replace("config.n_layers", "config.n_layers + 1")),
    _list(
        "linear layers in place of blocks",
        None,
        LIST.replace("AttentionBlock(config)", "nn.Linear(config.dim, config.dim)"),
    ),
]

LOOPS = [
    _loop(
        "every block fed the embeddings",
        "M14-first",
        (STEP, "output, self.attention_probs[i] = block(hidden_states)"),
        (OUTPUT, "output = output"),
        fast=True,
    ),
    _loop(
        "from the last block to the first",
        "M14-backwards",
        (LOOP, "for i, block in enumerate(reversed(self.attention_layers)):"),
    ),
    _loop("the first block alone", "M14-count", (LOOP, "for i, block in enumerate(self.attention_layers[:1]):")),
    _loop("no block at all", "M14-count", (LOOP, "for i, block in enumerate([]):")),
    _loop(
        "the last block twice",
        "M14-count",
        (OUTPUT, "encoder_input, _ = block(encoder_input)\n        output = encoder_input"),
    ),
    _loop(
        "weights appended at every call",
        "M14-appended",
        (KEPT, "self.attention_probs = {i: [] for i in range(config.n_layers)}"),
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i].append(weights)"),
    ),
    _loop(
        "weights appended to one list",
        "M14-appended",
        (KEPT, "self.attention_probs = []"),
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs.append(weights)"),
    ),
    _loop("weights not kept", "M14-kept", (STEP, "encoder_input, _ = block(encoder_input)")),
    _loop("weights under one number", "M14-kept", ("self.attention_probs[i]", "self.attention_probs[0]")),
    _loop(
        "the last block's weights for all",
        "M14-last",
        (
            OUTPUT,
            "self.attention_probs = {j: self.attention_probs[i] for j in range(i + 1)}\n        output = encoder_input",
        ),
    ),
    _loop(
        "weights counted from the end",
        "M14-order",
        ("self.attention_probs[i]", "self.attention_probs[self.config.n_layers - 1 - i]"),
    ),
    _loop(
        "weights averaged over the heads",
        "M17-early",
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i] = weights.mean(1)"),
    ),
    _loop("the embeddings go on", "M14-output", (OUTPUT, "output = hidden_states")),
    _loop(
        "the last block's input goes on",
        "M14-behind",
        (OUTPUT, "pass"),
        (STEP, "output = encoder_input\n            " + STEP),
    ),
    _loop(
        "both results fed to the next block",
        None,
        (STEP, "encoder_input = block(encoder_input)\n            self.attention_probs[i] = encoder_input[1]"),
        (OUTPUT, "output = encoder_input[0]"),
    ),
    _loop(
        "hidden states in place of weights",
        None,
        (STEP, "encoder_input, weights = block(encoder_input)\n            self.attention_probs[i] = encoder_input"),
    ),
]

CLASSIFIERS = [
    _classifier("softmax on the logits", "M15-softmax", logits=LOGITS + ".softmax(-1)"),
    _classifier("log-softmax on the logits", "M15-log", logits=LOGITS + ".log_softmax(-1)"),
    _classifier("no ReLU", "M15-relu", pooled="pooled_output = self.pre_classifier(pooled_output)"),
    _classifier("GELU", "M15-gelu", pooled=POOLED.replace("relu", "gelu")),
    _classifier("tanh", "M15-tanh", pooled="pooled_output = torch.tanh(self.pre_classifier(pooled_output))"),
    _classifier(
        "a second ReLU behind the classifier", "M15-late", logits="logits = self.classifier(pooled_output).relu()"
    ),
    _classifier(
        "ReLU behind the classifier alone",
        "M15-end",
        pooled="pooled_output = self.pre_classifier(pooled_output)",
        logits="logits = self.classifier(pooled_output).relu()",
    ),
    _classifier("no pre_classifier", "M15-pre", pooled="pooled_output = nn.functional.relu(pooled_output)"),
    _classifier("neither pre_classifier nor ReLU", "M15-bare", pooled="pass"),
    _classifier("all tokens averaged again", "M15-mean", pooled=POOLED.replace("(pooled_output)", "(output.mean(1))")),
    _classifier("the last token", "M15-last", pooled=POOLED.replace("(pooled_output)", "(output[:, -1])")),
    _classifier("every token classified", None, pooled=POOLED.replace("(pooled_output)", "(output)")),
    _classifier(
        "dropout that is never switched off",
        "M16",
        logits="logits = self.classifier(nn.functional.dropout(pooled_output, 0.2))",
    ),
    _classifier("the larger class alone", None, logits=LOGITS + ".argmax(-1)"),
    *(
        _wrong("classifier", name, mistake, ("pooled_output = output[:, 0]", f"pooled_output = {pooled}"))
        for name, mistake, pooled in [
            ("the mean over the tokens is pooled", "M15-mean", "output.mean(dim=1)"),
            ("the last token is pooled", "M15-last", "output[:, -1]"),
            ("the first sentence is pooled", None, "output[0]"),
        ]
    ),
]

WRONG = [*LISTS, *LOOPS, *CLASSIFIERS]
