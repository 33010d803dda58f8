"""What the class report says about 200 simulated submissions: a copied answer is found, and no honest one."""

import ast
import re
import shutil
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.chrome.webdriver import WebDriver

from autograder.assignment.assignment import Assignment
from autograder.authoring.trial import Trials
from autograder.errors import GradingError, NothingToGrade
from autograder.gradebook.read import Grade
from autograder.gradebook.results import result_of, with_results
from autograder.model import verdict as verdicts
from autograder.model.course import Course
from autograder.model.course_file import read_course_file
from autograder.model.verdict import CellVerdict, Check, NotebookVerdict, SubmissionVerdict
from autograder.report import write_report
from autograder.report.page import ready_made
from autograder.report.similarity import Answer, normalised, same_answers, similar_pairs, tokens
from autograder.report.statistics import (
    Results,
    correlation,
    exercise_statistics,
    mistake_counts,
    read_results,
    repair_kinds,
    times,
    waiting_for_people,
)
from autograder.testing import ReadyMade
from tests.feedback.browser import chromium, needs_browser, overflow
from tests.grading import ROOT
from tests.report import simulated

pytestmark = pytest.mark.slow


def test_planted_mistakes_are_counted(results: Results) -> None:
    counts = {one.mistake: len(one.students) for one in mistake_counts(results.verdicts) if one.mistake}
    assert counts == simulated.PLANTED


def test_messages_that_differ_in_numbers_only_are_one_mistake(results: Results) -> None:
    unnamed = [one for one in mistake_counts(results.verdicts) if not one.mistake]
    assert len(unnamed) == 1 and unnamed[0].cells == (("encoder", 100),)


def test_difficulty_is_the_mean_share_of_what_is_decided(results: Results) -> None:
    found = {one.cell: one for one in exercise_statistics(results.verdicts)}
    failed = sum(simulated.PLANTED.values())
    assert found["attention"].difficulty == pytest.approx(1 - failed / 200)
    assert (found["attention"].full, found["attention"].none) == (200 - failed, failed)
    assert (found["why"].waiting, found["why"].students, found["why"].difficulty) == (50, 150, 1.0)


def test_an_exercise_that_luck_decides_does_not_discriminate(results: Results) -> None:
    found = {one.cell: one.discrimination for one in exercise_statistics(results.verdicts)}
    assert abs(found["coin"] or 0) < 0.2 < min(found["encoder"] or 0, found["loop"] or 0)
    assert found["why"] is None, "everybody is alike there"


def test_discrimination_is_the_point_biserial_correlation() -> None:
    solved, others = np.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 1.0]), np.array([2, 5, 6, 1, 7, 3, 4, 6, 2, 5.0])
    upper, lower, share = others[solved == 1].mean(), others[solved == 0].mean(), solved.mean()
    by_hand = (upper - lower) / others.std() * np.sqrt(share * (1 - share))
    assert correlation(solved, others) == pytest.approx(by_hand)
    assert correlation(solved[:5], others[:5]) is None, "too few to say anything"


def test_what_needs_a_person_stands_first_and_failures_of_the_grader_before_all(
    results: Results, report_page: Path
) -> None:
    waiting = waiting_for_people(results.rows)
    assert [(one.why, len(one.students)) for one in waiting] == [("infrastructure", 1), ("written", 50)]
    page = report_page.read_text(encoding="utf-8")
    assert page.index("The grader failed") < page.index("A written answer to read") < page.index('id="distribution"')


def test_repairs_are_counted_by_kind(results: Results) -> None:
    assert repair_kinds(results.verdicts) == [("the protected cell '…' was missing; it was put back", 10)]


def test_times_name_the_slowest(results: Results) -> None:
    assert times(results.verdicts).longest[0] == ("student199", pytest.approx(2.99))


def test_points_by_hand_count(results: Results) -> None:
    undecided = results.verdicts[0]
    why = next(cell for cell in undecided.notebooks[0].cells if cell.cell == "why")
    by_hand = {(simulated.NOTEBOOK, "why"): result_of(why, Grade(None, 0.5, 0.0, 1.0, False))}
    marked = with_results(undecided, by_hand)
    assert marked.points == undecided.points + 0.5
    assert exercise_statistics([marked])[4].waiting == 0


def test_the_page_shows_the_planted_pair_and_counts(report_page: Path) -> None:
    page = report_page.read_text(encoding="utf-8")
    assert "<strong>student017</strong> and <strong>student142</strong>" in page
    assert re.search(r"<strong>23</strong></td>\s*<td>Attention</td>\s*<td>The scores are divided", page)
    assert re.search(r"<strong>11</strong></td>\s*<td>Attention</td>\s*<td>Each query&#39;s weights", page)


def test_pictures_lie_beside_the_page_and_inside_it(report_page: Path) -> None:
    names = {path.name for path in report_page.parent.iterdir()}
    assert names == {"index.html", "distribution.png", "exercises.png", "class.png"}
    page = report_page.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3
    assert not re.search(r"""(src|href)=["'](?!data:image/png|#)""", page)


@needs_browser
def test_the_page_opens_in_under_two_seconds_and_fits_every_window(report_page: Path, tmp_path: Path) -> None:
    with chromium(tmp_path / "profile") as driver:
        assert min(_seconds_to_open(driver, report_page) for _ in range(3)) < 2
        for width in (400, 1400):
            assert overflow(driver, width) == 0, width
        assert [line for line in driver.get_log("browser") if line["level"] == "SEVERE"] == []


def _seconds_to_open(driver: WebDriver, page: Path) -> float:
    driver.get(page.as_uri())
    entry = "performance.getEntriesByType('navigation')[0]"
    return float(driver.execute_script(f"return {entry}.loadEventEnd - {entry}.startTime")) / 1000


def class_of(simulated_course: Course, root: Path, *students: str) -> Course:
    """The same assignment with these students, whose work is that of the first of 200, or their own."""
    course = Course(root)
    for folder in ("source", "release"):
        shutil.copytree(simulated_course.root / folder, root / folder)
    for student in students:
        whose = student if student.startswith("student") else "student000"
        work = simulated_course.autograded(whose, simulated.ASSIGNMENT)
        shutil.copytree(work, course.autograded(student, simulated.ASSIGNMENT))
    return course


def test_every_text_from_outside_is_escaped(simulated_course: Course, tmp_path: Path) -> None:
    evil = "<script>document.title='hacked'</script>"
    students = "<img src=x onerror=alert(1)>", "b"
    course = class_of(simulated_course, tmp_path, *students)
    for student in students:
        folder = course.autograded(student, simulated.ASSIGNMENT)
        notebook = folder / f"{simulated.NOTEBOOK}.ipynb"
        text = notebook.read_text(encoding="utf-8").replace("# ", f"x = '{evil}' # ")
        notebook.write_text(text, encoding="utf-8")
        cell = CellVerdict("attention", "failed", 0.0, 5.0, (Check(evil, False, evil, evil, evil),))
        said = NotebookVerdict(student, simulated.ASSIGNMENT, evil, (cell,), (evil,))
        submission = SubmissionVerdict(student, simulated.ASSIGNMENT, (said,))
        (folder / "verdicts.json").write_text(verdicts.to_json(submission), encoding="utf-8")
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    assert "hacked" in page and "<script" not in page and "<img src=x" not in page


def test_points_that_rest_on_tests_in_the_students_kernels_are_counted(
    simulated_course: Course, tmp_path: Path
) -> None:
    course = class_of(simulated_course, tmp_path, "b")
    cell = CellVerdict("attention", "passed", 5.0, 5.0, judged="kernel")
    said = NotebookVerdict("b", simulated.ASSIGNMENT, simulated.NOTEBOOK, (cell,))
    path = course.autograded("b", simulated.ASSIGNMENT) / "verdicts.json"
    path.write_text(verdicts.to_json(SubmissionVerdict("b", simulated.ASSIGNMENT, (said,))))
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    counted = re.search(r'(?s)<p id="in-kernel">.*?</ul>', page)
    assert counted and ">5 of" in counted[0] and "Attention" in counted[0]


def test_a_verdict_that_cannot_be_read_is_named_and_stops_nobody(simulated_course: Course, tmp_path: Path) -> None:
    course = class_of(simulated_course, tmp_path, "student000", "student001")
    (course.autograded("student001", simulated.ASSIGNMENT) / "verdicts.json").write_text("{")
    found = read_results(course, simulated.ASSIGNMENT)
    assert [verdict.student for verdict in found.verdicts] == ["student000"]
    assert list(found.unreadable) == ["student001"]


def test_nothing_graded_and_unknown_assignments_are_said_in_one_line(simulated_course: Course, tmp_path: Path) -> None:
    with pytest.raises(NothingToGrade, match="nothing is graded"):
        read_results(Course(tmp_path), simulated.ASSIGNMENT)
    with pytest.raises(GradingError, match="unknown assignment"):
        write_report(simulated_course, "nothing", tmp_path)


def test_a_class_of_one_has_a_report(simulated_course: Course, tmp_path: Path) -> None:
    course = class_of(simulated_course, tmp_path, "student000")
    page = write_report(course, simulated.ASSIGNMENT, tmp_path / "reports").read_text(encoding="utf-8")
    assert "No such pair." in page


def test_one_mistake_in_two_exercises_is_one_row_and_counts_every_student_once() -> None:
    empty = (Check("a", False, "Not filled in yet."),)
    cells = (CellVerdict("one", "failed", 0.0, 1.0, empty), CellVerdict("two", "failed", 0.0, 1.0, empty))
    class_ = [SubmissionVerdict(name, "x", (NotebookVerdict(name, "x", "n", cells),)) for name in "ab"]
    (found,) = mistake_counts(class_)
    assert (found.students, found.cells) == (("a", "b"), (("one", 2), ("two", 2)))


def test_an_exercise_without_points_counts_by_whether_it_is_right() -> None:
    class_ = []
    for name, status in (("a", "passed"), ("b", "failed")):
        cell = CellVerdict("bonus", status, 0.0, 0.0)  # type: ignore[arg-type]
        class_.append(SubmissionVerdict(name, "x", (NotebookVerdict(name, "x", "n", (cell,)),)))
    assert exercise_statistics(class_)[0].difficulty == 0.5


LISTED = read_course_file(ROOT).ready_made


def answer(source: str, student: str = "a", stub: str = "") -> Answer:
    return Answer(student, "place", source, stub)


def test_the_planted_pair_is_found_and_no_honest_one(answers: list[Answer]) -> None:
    started = time.process_time()
    pairs = similar_pairs(answers)
    assert time.process_time() - started < 10
    assert [(pair.first, pair.second) for pair in pairs] == [simulated.COPIED]
    assert pairs[0].in_common > 0.9 and pairs[0].similarity > 0.9


def test_other_names_comments_docstrings_and_spaces_change_nothing() -> None:
    plain = "def f(self, x):\n    scores = x @ x.T\n    self.kept = scores\n    return scores.softmax(-1)\n"
    other = (
        "# mine\ndef mine(self, hidden):\n    '''A docstring.'''\n\n    raw = hidden   @ hidden.T   # raw\n"
        "    self.store = raw\n    return raw.softmax( -1 )\n"
    )
    assert normalised(answer(plain)) == normalised(answer(other))


def test_another_function_of_the_library_is_another_answer() -> None:
    assert normalised(answer("y = x.softmax(-1)")) != normalised(answer("y = x.sigmoid(-1)"))


def test_what_was_handed_out_is_not_compared() -> None:
    stub = simulated.STUB
    assert normalised(answer(stub, stub=stub)) == []
    commented = stub.replace("super().__init__()", "super().__init__()  # calls nn.Module")
    assert normalised(answer(commented, stub=stub)) == []


def test_untouched_notebooks_are_not_similar_to_each_other() -> None:
    class_ = [answer(simulated.STUB, f"s{number}", simulated.STUB) for number in range(20)]
    assert similar_pairs(class_) == [] and same_answers(class_) == []


def test_a_short_answer_is_no_evidence() -> None:
    assert similar_pairs([answer("y = x.softmax(dim=-1)", name) for name in "ab"]) == []


def test_the_answer_that_many_gave_is_listed_but_makes_no_pair() -> None:
    usual = simulated.own_answer(1)
    class_ = [answer(usual, f"s{number}", simulated.STUB) for number in range(30)]
    class_ += [answer(simulated.own_answer(number), f"t{number}", simulated.STUB) for number in range(2, 30)]
    assert similar_pairs(class_) == []
    assert same_answers(class_)[0][:2] == ("place", 30)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_pair_is_found_in_a_small_class_too(size: int) -> None:
    class_ = [answer(simulated.own_answer(number), f"s{number}", simulated.STUB) for number in range(size)]
    class_[-1] = answer(simulated.disguised(simulated.own_answer(0)), "copy", simulated.STUB)
    assert {(pair.first, pair.second) for pair in similar_pairs(class_)} == {("s0", "copy")}


def test_half_an_answer_copied_ranks_below_a_whole_one() -> None:
    whole, half = simulated.own_answer(3), simulated.own_answer(4)
    class_ = [answer(simulated.own_answer(number), f"s{number}", simulated.STUB) for number in range(40)]
    lines = half.split("\n")
    mixed = "\n".join(lines[: len(lines) // 2] + [f"        z{n} = [{n}, x + {n}]" for n in range(12)])
    pairs = similar_pairs([*class_, answer(whole, "twin", simulated.STUB), answer(mixed, "half", simulated.STUB)])
    assert (pairs[0].first, pairs[0].second) == ("s3", "twin")


@pytest.mark.parametrize(
    "broken", ["def f(:\n  (", "x = '''", "if x:\npass", "\x00", "%matplotlib inline\n!ls", "\tx\n y", ""]
)
def test_code_that_cannot_be_read_is_no_crash(broken: str) -> None:
    tokens(broken)
    assert similar_pairs([answer(broken, "a"), answer(broken, "b")]) == []


#: What a notebook has before the answer: among it a part of an earlier cell, and of a pretrained model.
BEFORE = """
import copy, functools, importlib, operator, sys, course.check.numpy_attention
import torch, transformers.models.llama.modeling_llama
from torch import nn
from torch.nn import functional as F
from course import Config, decoder_parts, figures, parts
config = Config(dim=8, n_heads=2, hidden_dim=12, n_layers=1, vocab_size=9, max_position_embeddings=8)
kept, ready_block = nn.MultiheadAttention(8, 2), parts.ReadyAttentionBlock(config)
weights = (torch.ones(24, 8), torch.ones(24), torch.ones(8, 8), torch.ones(8))
"""
SDPA, MHA = "torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention.forward"
DISTILBERT, BLOCK = "transformers.models.distilbert.modeling_distilbert", "course.parts.ReadyAttentionBlock"
#: An expression of x, (2, 2, 3, 4), and y, (2, 3, 8), that uses a ready-made part -> the part.
WAYS = {
    "F.scaled_dot_product_attention(x, x, x)": SDPA,
    "sys.modules['torch'].nn.functional.scaled_dot_product_attention(x, x, x)": SDPA,
    "getattr(F, 'scaled_dot_' + 'product_attention')(x, x, x)": SDPA,
    "vars(F)['scaled_dot_' 'product_attention'](x, x, x)": SDPA,
    "eval('F.scaled_' + 'dot_product_attention')(x, x, x)": SDPA,
    "operator.attrgetter('nn.functional.scaled_dot_product_attention')(torch)(x, x, x)": SDPA,
    "importlib.import_module('torch.nn.functional').scaled_dot_product_attention(x, x, x)": SDPA,
    "decoder_parts.F.scaled_dot_product_attention(x, x, x)": SDPA,
    "functools.partial(F.scaled_dot_product_attention, is_causal=True)(x, x, x)": SDPA,
    "next(map(F.scaled_dot_product_attention, [x], [x], [x]))": SDPA,
    "torch.func.vmap(F.scaled_dot_product_attention)(x, x, x)": SDPA,
    "torch._C._nn.scaled_dot_product_attention(x, x, x)": SDPA,
    "torch.ops.aten.scaled_dot_product_attention(x, x, x)": SDPA,
    "torch.ops.aten.scaled_dot_product_attention.default(x, x, x)": SDPA,
    "torch._scaled_dot_product_attention_math(x, x, x)[0]": "torch._scaled_dot_product_attention_math",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x, x, x)[0]":
        "torch._scaled_dot_product_flash_attention_for_cpu",
    "torch._native_multi_head_attention(y, y, y, 8, 2, *weights)[0]": "torch._native_multi_head_attention",
    "F.multi_head_attention_forward(y, y, y, 8, 2, *weights[:2], None, None, False, 0.0, *weights[2:])[0]":
        "torch.nn.functional.multi_head_attention_forward",
    "nn.MultiheadAttention(8, 2)(y, y, y)[0]": MHA,
    "getattr(nn, 'Multi' + 'headAttention')(8, 2)(y, y, y)[0]": MHA,
    "kept(y, y, y)[0]": MHA,
    "kept.eval().forward(y, y, y)[0]": MHA,
    "type(kept).forward(copy.deepcopy(kept), y, y, y)[0]": MHA,
    "type('Mine', (nn.MultiheadAttention,), {})(8, 2)(y, y, y)[0]": MHA,
    "next(one for one in nn.Module.__subclasses__() if one is type(kept))(8, 2)(y, y, y)[0]": MHA,
    "nn.TransformerEncoderLayer(8, 2, 12, batch_first=True).eval()(y)": "torch.nn.TransformerEncoderLayer.forward",
    "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 2).eval()(y)":
        "torch.nn.TransformerEncoder.forward",
    "copy.deepcopy(ready_block.wrapped.attention)(y)[0]": f"{DISTILBERT}.DistilBertSelfAttention.forward",
    "ready_block.wrapped.ffn(y)": f"{DISTILBERT}.FFN.forward",
    "transformers.models.llama.modeling_llama.apply_rotary_pos_emb(x, x, x[:, 0], x[:, 0])[0]":
        "transformers.models.llama.modeling_llama.apply_rotary_pos_emb",
    "ready_block(y)[0]": f"{BLOCK}.forward",
    "type(ready_block)(config).attention_context(x[..., :3], x)": f"{BLOCK}.attention_context",
    "vars(course.parts)['Ready' 'AttentionBlock'].attention_weights(None, x)": f"{BLOCK}.attention_weights",
    "decoder_parts.ready_causal_attention(x, x, x)": "course.decoder_parts.ready_causal_attention",
    "torch.from_numpy(sys.modules['course.check.numpy_attention._ready'].softmax(x.numpy()))":
        "course.check.numpy_attention._ready.softmax",
    "figures.head_grid(x[0, :, :, :3].softmax(-1), list('abc'), list('de')) and x": "course.figures.head_grid",
}  # fmt: skip
HONEST = (
    "(x @ x.transpose(-2, -1) / 2).softmax(-1) @ x",
    "torch.einsum('bhij,bhjd->bhid', F.softmax(torch.einsum('bhid,bhjd->bhij', x, x), -1), x)",
    "nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8), nn.Dropout(0.1)).eval()(y) + y",
    "nn.Embedding(9, 8)(torch.tensor([[1, 2]])) + decoder_parts.BlockLayers.merge_heads(None, x).sum()",
    "(lambda scaled_dot_product_attention: scaled_dot_product_attention(x))(nn.Softmax(-1))",
)


@pytest.mark.parametrize(("way", "part"), [*WAYS.items(), *((way, None) for way in HONEST)])
def test_a_ready_made_part_is_noted_however_it_is_used_and_gives_the_same(way: str, part: str | None) -> None:
    space: dict[str, Any] = {}
    exec(
        f"{BEFORE}\ndef answer(x, y):\n    torch.manual_seed(0)\n    with torch.no_grad():\n        return {way}", space
    )
    torch, code = space["torch"], space["F"].multi_head_attention_forward.__code__
    given = torch.linspace(-1, 1, 48).reshape(2, 2, 3, 4), torch.linspace(-1, 1, 48).reshape(2, 3, 8)
    with ReadyMade(read_course_file(ROOT).parts) as noted:
        found = space["answer"](*given)
    assert noted.ran == ({part} if part else set())
    assert torch.equal(found, space["answer"](*given)) and space["F"].multi_head_attention_forward.__code__ is code


#: Every function and class of the library that stands for an answer.
READY = [
    f"{path.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.')}.{node.name}"
    for path in sorted((ROOT / "course").rglob("*.py"))
    for node in ast.parse(path.read_text()).body
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("ready")
]


def test_every_ready_made_part_of_the_library_is_listed() -> None:
    for name in READY:
        assert any(fnmatchcase(name, one) for one in LISTED["course.parts"]), name


@pytest.mark.parametrize("name", Course(ROOT).assignments())
def test_no_solution_is_reported(name: str) -> None:
    with Trials(Assignment.unreleased(Course(ROOT), name)) as trials:
        tried = trials.run(trials.solutions)
    verdict = NotebookVerdict("a", name, "n", tuple(tried.verdicts.values()))
    assert verdict.cells and ready_made([SubmissionVerdict("a", name, (verdict,))], LISTED) == []


def test_the_class_uses_ready_made_parts_where_it_was_planted(results: Results) -> None:
    assert ready_made(results.verdicts, LISTED) == [("nn.MultiheadAttention", "attention", simulated.READY)]
    given = {f"{simulated.ASSIGNMENT}/attention": ("torch.nn.Multi*",)}
    assert ready_made(results.verdicts, {**LISTED, **given}) == []
