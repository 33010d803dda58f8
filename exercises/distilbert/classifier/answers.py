"""Classifiers that are right or wrong."""

from __future__ import annotations

from autograder.exercise import SampleAnswer

from .._answers import model, wrong

CELL = "classifier_model_answer"

RIGHT = [
    model(
        "functional_call and threshold",
        logits="from torch.func import functional_call\n"
        "x = functional_call(self.pre_classifier, dict(self.pre_classifier.named_parameters()), (pooled_output,))\n"
        "logits = self.classifier(input=nn.functional.threshold(x, 0.0, 0.0))",
    ),
    model(
        "einsum in float64, then back",
        logits="x = torch.einsum('bi,oi->bo', pooled_output.double(), self.pre_classifier.weight.double())\n"
        "x = (x + self.pre_classifier.bias).clamp_min(0)\n"
        "logits = nn.functional.linear(x, self.classifier.weight.double(), self.classifier.bias.double()).float()",
    ),
    model(
        "vmap over the sentences, a walrus",
        logits="def one(pooled):\n"
        "    return self.classifier(torch.where((x := self.pre_classifier(pooled)) > 0, x, 0.0))\n"
        "logits = torch.vmap(one)(pooled_output)",
    ),
    model(
        "a Sequential on the way",
        logits="logits = nn.Sequential(self.pre_classifier, nn.ReLU(inplace=True), self.classifier)(pooled_output)",
    ),
    model(
        "dropout that knows eval mode",
        more="self.dropout = nn.Dropout(0.2)",
        logits="x = nn.functional.relu(self.pre_classifier(pooled_output))\nlogits = self.classifier(self.dropout(x))",
    ),
    model(
        "the head as Sequential",
        more="self.head = nn.Sequential(self.pre_classifier, nn.ReLU(), self.classifier)",
        logits="logits = self.head(pooled_output)",
    ),
    model(
        "the classifier by matrix products",
        logits="x = pooled_output @ self.pre_classifier.weight.T + self.pre_classifier.bias\n"
        "logits = torch.maximum(x, torch.zeros(())) @ self.classifier.weight.T + self.classifier.bias",
    ),
]

POOLED = "pooled_output = nn.functional.relu(self.pre_classifier(pooled_output))"
LOGITS = "logits = self.classifier(pooled_output)"


def _classifier(name: str, mistake: str, pooled: str = POOLED, logits: str = LOGITS) -> SampleAnswer:
    return wrong(name, mistake, (POOLED, pooled), (LOGITS, logits))


def _pooled(name: str, mistake: str, pooled: str) -> SampleAnswer:
    change = ("pooled_output = output[:, 0]", f"pooled_output = {pooled}")
    return wrong(name, mistake, change)


WRONG = [
    _classifier(
        "the ReLU before pre_classifier",
        "M15-order",
        pooled="pooled_output = self.pre_classifier(nn.functional.relu(pooled_output))",
    ),
    _pooled("the second token is pooled", "M15-token", "output[:, 1]"),
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
    _classifier("every token classified", "", pooled=POOLED.replace("(pooled_output)", "(output)")),
    _classifier(
        "dropout that is never switched off",
        "M16",
        logits="logits = self.classifier(nn.functional.dropout(pooled_output, 0.2))",
    ),
    _classifier("the larger class alone", "", logits=LOGITS + ".argmax(-1)"),
    _pooled("the mean over the tokens is pooled", "M15-mean", "output.mean(dim=1)"),
    _pooled("the last token is pooled", "M15-last", "output[:, -1]"),
    _pooled("the first sentence is pooled", "", "output[0]"),
]
