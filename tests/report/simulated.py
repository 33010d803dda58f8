"""A class of 200 that nobody taught: verdicts and code from a seed, with a copied answer and known mistakes in it."""

import random
import re
from dataclasses import replace
from pathlib import Path

import nbformat

from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, SubmissionVerdict

ASSIGNMENT = "simulated"
STUDENTS = [f"student{number:03d}" for number in range(200)]
COPIED = ("student017", "student142")
#: mistake -> how many students made it in ``attention``.
PLANTED = {"scaled-by-dim": 23, "softmax-over-heads": 11}
READY = ("student003", "student050", "student051")
NOTEBOOK = "1_attention"
MESSAGES = {
    "scaled-by-dim": "The scores are divided by the root of dim, not of dim_per_head.",
    "softmax-over-heads": "Each query's weights must sum to 1 over the keys.",
}
STUB = '''class AttentionBlock(nn.Module):
    """One block of attention. hidden_states: (batch, tokens, dim)."""

    def __init__(self, config):
        super().__init__()
        self.dropout = nn.Dropout(0.0)
        self.config = config
        # YOUR CODE HERE
        raise NotImplementedError()

    def forward(self, hidden_states):
        # YOUR CODE HERE
        raise NotImplementedError()
'''
_CHOICES: dict[str, tuple[str, ...]] = {
    "project": (
        "q, k, v = self.q_lin(x), self.k_lin(x), self.v_lin(x)",
        "q = self.q_lin(x)\nk = self.k_lin(x)\nv = self.v_lin(x)",
        "q, k, v = (layer(x) for layer in (self.q_lin, self.k_lin, self.v_lin))",
        "projected = [self.q_lin(x), self.k_lin(x), self.v_lin(x)]\nq, k, v = projected",
    ),
    "split": (
        "def split(t):\n    return t.view(b, n, h, d).transpose(1, 2)\nq, k, v = split(q), split(k), split(v)",
        "q = q.reshape(b, n, h, d).permute(0, 2, 1, 3)\nk = k.reshape(b, n, h, d).permute(0, 2, 1, 3)\n"
        "v = v.reshape(b, n, h, d).permute(0, 2, 1, 3)",
        "q, k, v = [t.unflatten(-1, (h, d)).swapaxes(1, 2) for t in (q, k, v)]",
        "q = torch.stack(q.split(d, dim=-1), dim=1)\nk = torch.stack(k.split(d, dim=-1), dim=1)\n"
        "v = torch.stack(v.split(d, dim=-1), dim=1)",
    ),
    "scores": (
        "scores = q @ k.transpose(-2, -1) / math.sqrt(d)",
        "scores = torch.einsum('bhqd,bhkd->bhqk', q, k) / d ** 0.5",
        "q = q / math.sqrt(d)\nscores = torch.matmul(q, k.mT)",
        "scores = torch.matmul(q, k.permute(0, 1, 3, 2))\nscores = scores * (1 / math.sqrt(q.size(-1)))",
    ),
    "weights": (
        "weights = scores.softmax(dim=-1)",
        "weights = torch.softmax(scores, -1)",
        "weights = F.softmax(scores, dim=3)",
        "e = torch.exp(scores - scores.amax(-1, keepdim=True))\nweights = e / e.sum(-1, keepdim=True)",
    ),
    "context": ("context = weights @ v", "context = torch.einsum('bhqk,bhkd->bhqd', weights, v)",
                "context = torch.matmul(weights, v)"),
    "merge": (
        "context = context.transpose(1, 2).reshape(b, n, h * d)",
        "context = context.permute(0, 2, 1, 3).contiguous().view(b, n, -1)",
        "context = torch.cat([context[:, i] for i in range(h)], dim=-1)",
        "context = context.swapaxes(1, 2).flatten(2)",
    ),
    "out": (
        "sa = self.sa_layer_norm(self.out_lin(context) + x)",
        "attended = self.out_lin(context)\nsa = self.sa_layer_norm(x + attended)",
        "sa = self.sa_layer_norm(torch.add(self.out_lin(context), x))",
    ),
    "ffn": (
        "ff = self.lin2(F.gelu(self.lin1(sa)))\nreturn self.output_layer_norm(ff + sa), weights",
        "inner = nn.functional.gelu(self.lin1(sa))\nouter = self.lin2(inner)\n"
        "result = self.output_layer_norm(sa + outer)\nreturn result, weights",
        "return self.output_layer_norm(sa + self.lin2(torch.nn.GELU()(self.lin1(sa)))), weights",
        "y = self.lin1(sa)\ny = F.gelu(y)\ny = self.lin2(y)\ny = y + sa\nreturn self.output_layer_norm(y), weights",
    ),
}  # fmt: skip
_RENAMED = {
    "scores": "raw", "weights": "attn", "context": "mixed", "split": "cut", "sa": "first", "x": "hs", "projected": "p",
}  # fmt: skip


def own_answer(seed: int) -> str:
    """An honest answer: each step in one of a few ways, sizes and comments to taste."""
    taste = random.Random(seed)
    sizes = ("b, n, _ = x.shape", "b, n = x.shape[:2]", "b = x.size(0)\nn = x.size(1)")
    heads = (
        "h, d = self.config.n_heads, self.config.dim_per_head",
        "h = self.config.n_heads\nd = self.config.dim // h",
    )
    lines = ["x = hidden_states", taste.choice(sizes), taste.choice(heads)]
    for step, ways in _CHOICES.items():
        if taste.random() < 0.4:
            lines.append(f"# {step}: {taste.choice(('as in the lecture', 'see the figure', 'shape (b, h, n, d)'))}")
        lines.append(taste.choice(ways))
        if taste.random() < 0.15:
            lines.append(f"assert {taste.choice(('q', 'x', 'k'))}.dim() == {taste.randint(3, 4)}")
    body = "\n".join(lines).replace("\n", "\n        ")
    return STUB.replace("        # YOUR CODE HERE\n        raise NotImplementedError()\n", "\n", 1).replace(
        "# YOUR CODE HERE\n        raise NotImplementedError()", body
    )


def disguised(answer: str) -> str:
    """The same answer with other names, no comments, other comments, and other spaces."""
    for old, new in _RENAMED.items():
        answer = re.sub(rf"(?<![.\w]){old}\b(?!=)", new, answer)
    kept = [line for line in answer.split("\n") if not line.strip().startswith("#")]
    return "\n".join(f"{line}  # my own idea" if "(" in line and '"' not in line else line for line in kept)


def build(root: Path) -> Course:
    """The course's folder with everything graded, and nothing in a gradebook."""
    for folder, source in (("source", "def a():\n    return 1"), ("release", STUB)):
        (root / folder / ASSIGNMENT).mkdir(parents=True)
        nbformat.write(_notebook(source, "pass"), root / folder / ASSIGNMENT / f"{NOTEBOOK}.ipynb")
    for number, student in enumerate(STUDENTS):
        answer = own_answer(number)
        if student == COPIED[1]:
            answer = disguised(own_answer(STUDENTS.index(COPIED[0])))
        if student == "student199":
            answer = STUB
        extra = "print('nn.MultiheadAttention')"
        folder = root / "autograded" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        nbformat.write(_notebook(answer, extra), folder / f"{NOTEBOOK}.ipynb")
        (folder / "verdicts.json").write_text(verdicts.to_json(_verdict(student, number)), encoding="utf-8")
    return Course(root)


def _notebook(answer: str, extra: str) -> nbformat.NotebookNode:
    marks = {"grade": False, "solution": True, "locked": False, "schema_version": 3, "task": False,
             "grade_id": "attention_answer"}  # fmt: skip
    graded = marks | {"grade": True, "solution": False, "locked": True, "points": 5, "grade_id": "attention"}
    v4 = nbformat.v4
    return v4.new_notebook(
        cells=[
            v4.new_code_cell("from torch import nn", id="setup"),
            v4.new_code_cell(answer, id="answer", metadata={"nbgrader": marks}),
            v4.new_code_cell("check.attention()", id="graded", metadata={"nbgrader": graded}),
            v4.new_code_cell(extra, id="extra-attention-0"),
        ]
    )


def _verdict(student: str, number: int) -> SubmissionVerdict:
    chance = random.Random(1000 + number)
    ability = chance.random()
    mistake = next((name for name, of in _who().items() if number in of), None)
    attention = CellVerdict("attention", "passed", 5.0, 5.0, (Check("out", True),), 0.4)
    if mistake:
        failed = (Check(mistake, False, MESSAGES[mistake], "Look at the axes.", mistake),)
        attention = CellVerdict("attention", "failed", 0.0, 5.0, failed, 0.4)
    if student in READY:
        attention = replace(attention, ready_made=("os.system", "torch.nn.MultiheadAttention.forward"))
    shape = Check("list", False, f"expected shape (2, {number}), but yours is (3, {number}).")
    solved = chance.random() < ability
    encoder = CellVerdict(
        "encoder", "passed" if solved else "failed", 4.0 * solved, 4.0, () if solved else (shape,), 0.2
    )
    luck = chance.random() < 0.5
    coin = CellVerdict("coin", "passed" if luck else "failed", 2.0 * luck, 2.0, (), 0.1)
    loop = CellVerdict("loop", "passed" if ability > 0.4 else "failed", 3.0 * (ability > 0.4), 3.0, (), 0.3)
    why = CellVerdict("why", "manual", None, 1.0) if number % 4 == 0 else CellVerdict("why", "passed", 1.0, 1.0)
    broken = (
        CellVerdict("export", "infrastructure", None, 1.0)
        if number == 77
        else CellVerdict("export", "passed", 1.0, 1.0)
    )
    notes = ("the protected cell 'attention' was missing; it was put back",) if number % 20 == 5 else ()
    cells = (attention, encoder, loop, coin, why, broken)
    notebook = NotebookVerdict(student, ASSIGNMENT, NOTEBOOK, cells, notes, 1.0 + number / 100)
    return SubmissionVerdict(student, ASSIGNMENT, (notebook,))


def _who() -> dict[str, range]:
    """mistake -> the students who made it."""
    first, second = PLANTED.items()
    return {first[0]: range(30, 30 + first[1]), second[0]: range(100, 100 + second[1])}
