"""bertviz's views, drawn without the network."""

import re
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest
import torch

from course import attention_html, figures
from course.errors import CourseError, MissingPackage

pytestmark = pytest.mark.slow

TOKENS = ["[CLS]", "good", "film", "[SEP]"]
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def attention(layers: int = 2, heads: int = 3) -> list[torch.Tensor]:
    weights = torch.rand(layers, 1, heads, 4, 4, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    return list(weights)


def rendered(page: str, folder: Path) -> str:
    """The page as a browser without a network has it after running the scripts."""
    assert BROWSER is not None
    (folder / "page.html").write_text(f"<!doctype html><html><body>{page}</body></html>", encoding="utf-8")
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    switches += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    switches += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}"]
    switches += ["--virtual-time-budget=3000", "--dump-dom", (folder / "page.html").as_uri()]
    run = subprocess.run([BROWSER, *switches], capture_output=True, text=True, timeout=60, check=True)
    return re.sub(r"<script.*?</script>", "", run.stdout, flags=re.DOTALL)


@pytest.mark.parametrize("view", [figures.head_view, figures.model_view])
def test_a_view_carries_its_scripts_and_links_to_none(view: type) -> None:
    page = view(attention(), TOKENS).data
    assert not re.search(r"<(script|link|img)[^>]*\b(src|href)=", page)
    assert len(re.findall(r"<script type=", page)) == page.count("</script>") == 1
    assert "d3js.org" in page and "jQuery v3" in page
    assert '"film"' in page and "PYTHON_PARAMS =" not in page


def test_the_models_dictionary_is_taken_as_well_as_a_list() -> None:
    layers = attention()
    as_list = figures.head_view(layers, TOKENS, layer=1, heads=[2], sentence_b_start=2).data
    as_dictionary = figures.head_view({1: layers[1], 0: layers[0]}, TOKENS, layer=1, heads=[2], sentence_b_start=2).data
    assert re.sub(r"bertviz-\w+", "", as_list) == re.sub(r"bertviz-\w+", "", as_dictionary)
    assert "Sentence A -> Sentence B" in as_list


def test_a_token_cannot_end_the_script() -> None:
    plain = figures.head_view(attention(), TOKENS).data
    page = figures.head_view(attention(), ["[CLS]", "</script><b>", "film", "[SEP]"]).data
    assert page.count("</script>") == plain.count("</script>")


@pytest.mark.parametrize(
    ("layers", "tokens", "message"),
    [
        (attention(), TOKENS[1:], r"Layer 0: .* \(1, heads, 3, 3\).* has \(1, 3, 4, 4\)"),
        ([torch.rand(2, 3, 4, 4)], TOKENS, r"has \(2, 3, 4, 4\)"),
        ([torch.rand(4, 4)], TOKENS, r"has \(4, 4\)"),
        ([], TOKENS, "came none"),
    ],
)
def test_wrong_shapes_are_refused_in_one_line(layers: list[torch.Tensor], tokens: list[str], message: str) -> None:
    with pytest.raises(CourseError, match=message) as error:
        figures.model_view(layers, tokens)
    assert "\n" not in str(error.value)


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    there = util.find_spec
    monkeypatch.setattr(attention_html, "find_spec", lambda name: None if name == "bertviz" else there(name))
    with pytest.raises(MissingPackage, match="pip install --no-deps bertviz"):
        figures.head_view(attention(), TOKENS)


def test_both_views_work_without_what_bertviz_requires_beside_them() -> None:
    blocked = ("boto3", "botocore", "s3transfer", "jmespath", "sentencepiece")
    code = f"""if True:
        import sys
        sys.modules.update(dict.fromkeys({blocked!r}))
        import torch
        from course import figures
        for view in (figures.head_view, figures.model_view):
            assert "film" in view([torch.ones(1, 1, 2, 2)], ["a", "film"]).data
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
def test_a_browser_without_network_draws_the_head_view(tmp_path: Path) -> None:
    page = rendered(figures.head_view(attention(), TOKENS, layer=1).data, tmp_path)
    assert page.count("<line") == 4 * 4 * 3  # a line for each query, key and head
    assert page.count(">film<") == 2  # once as a query, once as a key


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this machine")
def test_a_browser_without_network_draws_the_model_view(tmp_path: Path) -> None:
    page = rendered(figures.model_view(attention(), TOKENS).data, tmp_path)
    assert page.count("<line") >= 2 * 3 * 4 * 4
