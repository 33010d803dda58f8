"""The sizes, and that asking for them costs nothing."""

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

from course import Config
from course.errors import ConfigError


def test_distilbert_has_the_sizes_of_the_sheet() -> None:
    config = Config.distilbert()
    assert dataclasses.asdict(config) == {
        "n_heads": 12,
        "n_layers": 6,
        "pad_token_id": 0,
        "dim": 768,
        "hidden_dim": 3072,
        "max_position_embeddings": 512,
        "vocab_size": 30522,
        "eps": 1e-12,
        "n_classes": 2,
        "device": "cpu",
    }
    assert (config.attention_head_size, config.all_head_size) == (64, 768)


def test_mini_has_as_many_heads_and_layers_and_half_the_width() -> None:
    config = Config.mini()
    assert (config.n_heads, config.n_layers, config.dim, config.hidden_dim) == (12, 6, 384, 1536)
    assert config.attention_head_size == 32


def test_any_sizes_can_be_asked_for_by_keyword() -> None:
    config = Config(dim=12, n_heads=3, hidden_dim=7)
    assert (config.attention_head_size, config.all_head_size, config.hidden_dim) == (4, 12, 7)


@pytest.mark.parametrize(
    ("sizes", "named"),
    [
        ({"dim": 10, "n_heads": 3}, "dim=10 cannot be split into n_heads=3"),
        ({"n_layers": 0}, "n_layers"),
        ({"dim": 12.0}, "dim"),
        ({"pad_token_id": 30522}, "pad_token_id"),
    ],
)
def test_sizes_that_cannot_be_are_refused_in_one_line(sizes: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError) as error:
        Config(**sizes)
    assert named in str(error.value) and "\n" not in str(error.value)


def test_a_config_cannot_be_changed_by_accident() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().dim = 3  # type: ignore[misc]


def test_importing_the_course_loads_no_heavy_library() -> None:
    heavy = ("torch", "transformers", "matplotlib")
    code = f"import sys; from course import Config; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
