"""How the student's code is called, exercise by exercise: with public cases by the check, with hidden ones by grading.

Each function takes what the student wrote and a case, and gives the answers by name, side effects included.
"""

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course.check._rules.case_inputs import same
from course.check.base import several, tried
from course.check.distilbert_lab._recording import Linear, Measured, Table, loss_by_hand, state_of
from course.check.side_effects import side_effects
from course.config import Config
from course.distillation import SentenceClassifier

# --- notebook 1 -------------------------------------------------------------------------------------------------------


def training_step(function: Any, case: Any) -> dict[str, Any]:
    model = case.load(Linear(case.config.dim, case.config.classes, dtype=torch.double)).train().requires_grad_(True)
    optimizer = torch.optim.SGD(model.parameters(), lr=case.config.rate, momentum=case.config.momentum)
    losses, graph, changed = [], False, False
    for x, labels in zip(case.x, case.labels, strict=True):
        given = x.clone(), labels.clone()
        loss = function(model, optimizer, *given)
        graph |= isinstance(loss, Tensor) and loss.requires_grad
        changed |= not torch.equal(given[0], x) or not torch.equal(given[1], labels)
        losses.append(float(loss))
    return {
        "losses": torch.tensor(losses, dtype=torch.double), "weight": model.weight, "bias": model.bias,
        "graph": graph, "changed": changed, "eval_step": model.in_eval or not model.training,
    }  # fmt: skip


def fit(function: Any, case: Any) -> dict[str, Any]:
    model = Measured(case.right, case.labels, case.config.tested)
    train = [(torch.full((size, 1), float(number)), torch.zeros(size)) for number, size in enumerate(case.config.sizes)]
    test, start = [], 0
    for size in case.config.tested:
        test.append((torch.arange(start, start + size)[:, None], case.labels[start : start + size]))
        start += size
    given = copy.deepcopy((train, test))
    with torch.enable_grad():
        history = function(model, model, *given, case.config.epochs, model.step_of(case.losses))
        model.flags["gradients_off"] = not torch.is_grad_enabled()
    return {
        "history": torch.tensor([[float(a), float(b)] for a, b in history], dtype=torch.double),
        **model.noted(),
        "changed": not same(given, (train, test)),
    }


def schedule(function: Any, case: Any) -> dict[str, Any]:
    steps = range(case.config.total + case.config.after)
    factors = [float(function(step, case.config.warmup, case.config.total)) for step in steps]
    return {"factors": torch.tensor(factors, dtype=torch.double)}


def adamw_step(function: Any, case: Any) -> dict[str, Any]:
    settings = (getattr(case.config, name) for name in ("lr", "beta1", "beta2", "eps", "weight_decay"))
    lr, beta1, beta2, eps, decay = settings
    weight, m, v = case.weight, torch.zeros_like(case.weight), torch.zeros_like(case.weight)
    weights, changed = [], False
    for step, gradient in enumerate(case.gradients, start=1):
        given = [weight, gradient, m, v]
        before = [one.clone() for one in given]
        weight, m, v = function(*given, step, lr, beta1, beta2, eps, decay)
        changed |= any(not torch.equal(one, old) for one, old in zip(given, before, strict=True))
        weights.append(weight.clone())
    return {"weights": torch.stack(weights), "m": m, "v": v, "changed": changed}


# --- notebook 2 -------------------------------------------------------------------------------------------------------


def student_from(function: Any, case: Any) -> dict[str, Any]:
    sizes = {name: value for name, value in vars(case.config).items() if name != "layers"}
    teacher = case.load(SentenceClassifier(Config(**sizes)))
    before = state_of(teacher)
    with torch.no_grad():
        student = function(teacher, list(case.config.layers))
        logits, depth = student.eval()(case.ids)[0], [len(student.layers), before["depth"]]
        own = {weight.data_ptr() for weight in teacher.parameters()}
        shared = any(weight.data_ptr() in own for weight in student.parameters())
    return {"logits": logits, "depth": depth, "shared": shared, "spoiled": state_of(teacher) != before}


def soft_loss(function: Any, case: Any) -> dict[str, Any]:
    student, teacher = case.student.clone().requires_grad_(), case.teacher.clone().requires_grad_()
    loss = function(student * 1, teacher * 1, case.config.temperature)
    degree, rows = case.config.temperature, torch.arange(1.0, 1 + len(case.student))[:, None]
    answers = {
        "loss": loss,
        "property/of_itself": tried(lambda: function(case.teacher.clone(), case.teacher.clone(), degree)),
        "property/raised": tried(lambda: function(case.student + rows, case.teacher - rows, degree)),
        "property/twice": tried(lambda: function(case.student.repeat(2, 1), case.teacher.repeat(2, 1), degree)),
        "leaky": False,
        **_only_student(lambda a, b: function(a, b, 2.0), case.student, case.teacher),
    }
    if isinstance(loss, Tensor) and loss.requires_grad and loss.ndim == 0:
        by_student, by_teacher = torch.autograd.grad(loss, (student, teacher), allow_unused=True)
        answers |= {"gradient": by_student, "leaky": by_teacher is not None and bool(by_teacher.any())}
    elif isinstance(loss, Tensor):  # that no gradient comes back is told as such
        answers["gradient"] = _expected_gradient(student, teacher, case.config.temperature)
    return answers


def _expected_gradient(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    difference = (student / temperature).softmax(-1) - (teacher / temperature).softmax(-1)
    return temperature * difference.detach() / len(student)


def hidden_loss(function: Any, case: Any) -> dict[str, Any]:
    noted = _only_student(lambda a, b: function(a, b, case.real.clone()), case.student, case.teacher)
    student, teacher, real = case.student, case.teacher, case.real
    other = torch.where(real[..., None], student, 3 - student)  # what stands at padding
    properties = {
        "property/of_itself": tried(lambda: function(teacher.clone(), teacher.clone(), real.clone())),
        "property/longer": tried(lambda: function(3 * student, teacher / 2, real.clone())),
        "property/padded": tried(lambda: function(other, teacher.clone(), real.clone())),
    }
    return {"loss": function(student.clone(), teacher.clone(), real.clone()), **properties, **noted}


def _only_student(call: Any, student: Tensor, teacher: Tensor) -> dict[str, list[bool]]:
    """Side effects; gradients must reach the first tensor, and need not reach the second."""
    noted = side_effects(call, student, teacher)
    return {name: flags[:1] if name == "cut" else flags for name, flags in noted.items()}


def distil_step(function: Any, case: Any) -> dict[str, Any]:
    student = Table(case.student_table, case.student_head)
    teacher = Table(case.teacher_table, case.teacher_head)
    optimizer = torch.optim.SGD(student.parameters(), lr=case.config.rate)
    losses, graph = [], False
    for ids in case.ids:
        teacher.train()
        loss = function(student, teacher, optimizer, ids.clone(), *loss_by_hand, case.config.weight)
        graph |= isinstance(loss, Tensor) and loss.requires_grad
        losses.append(float(loss))
    learned = any(weight.grad is not None for weight in teacher.parameters())
    return {
        "losses": torch.tensor(losses, dtype=torch.double), "table": student.table, "head": student.head,
        "graph": graph, "learned": learned, "teacher_mode": teacher.was_training,
    }  # fmt: skip


def quantise(function: Any, back: Any, case: Any) -> dict[str, Any]:
    weight = case.weight.clone()
    codes, scale = several(function(weight), "codes", "scale")
    restored = back(codes, scale)
    return {
        "restored": restored, "codes": codes, "largest": int(codes.abs().max()),
        "changed": not torch.equal(weight, case.weight),
    }  # fmt: skip


# --- notebook 3 -------------------------------------------------------------------------------------------------------


def probe(function: Any, case: Any) -> dict[str, Any]:
    given = [case.train.clone(), case.labels.clone(), case.test.clone()]
    scores = function(*given, case.config.strength)
    kept = (case.train, case.labels, case.test)
    middle, labels, strength = torch.arange(1.0, 1 + case.train.shape[1]), case.labels, case.config.strength
    properties = {
        "property/moved": tried(lambda: function(case.train + middle, labels.clone(), case.test + middle, strength)),
        "property/stretched": tried(
            lambda: function(case.train * middle, labels.clone(), case.test * middle, strength)
        ),
    }
    changed = [not torch.equal(one, old) for one, old in zip(given, kept, strict=True)]
    return {"scores": scores, **properties, "changed": changed}


def control_labels(function: Any, case: Any) -> dict[str, Any]:
    given = [case.train_words.clone(), case.test_words.clone()]
    given_seed = torch.Generator().manual_seed(case.config.seed)
    train, test = several(function(*given, case.config.vocabulary, given_seed), "train", "test")
    changed = [not torch.equal(one, old) for one, old in zip(given, (case.train_words, case.test_words), strict=True)]
    same, other = (
        function(case.train_words, case.test_words, case.config.vocabulary, torch.Generator().manual_seed(seed))[0]
        for seed in (case.config.seed, case.config.seed + 1)
    )
    return {"train": train, "test": test, "other": other, "repeated": [np.array_equal(train, same)], "changed": changed}


def head_parts(function: Any, case: Any) -> dict[str, Any]:
    out_lin = nn.Linear(case.context.shape[1], case.context.shape[1])
    with torch.no_grad():
        out_lin.weight.copy_(case.weight)
        out_lin.bias.copy_(case.bias)
    noted = side_effects(lambda context: function(context, out_lin, case.config.heads), case.context)
    return {"parts": function(case.context.clone(), out_lin, case.config.heads), **noted}


def through_norm(function: Any, case: Any) -> dict[str, Any]:
    norm = nn.LayerNorm(case.parts.shape[1], eps=case.config.eps)
    with torch.no_grad():
        norm.weight.copy_(case.gamma)
        norm.bias.copy_(case.beta)
    given = case.parts.clone()
    return {"after": function(given, norm), "changed": not torch.equal(given, case.parts)}
