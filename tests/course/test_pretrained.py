"""Loading both checkpoints, from right files and from wrong ones."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_stand_in import StandIn, serve
from safetensors.torch import save_file
from torch import Tensor, nn

from course import Config, hub, pretrained
from course.errors import CheckpointError, CourseError, StateDictError
from course.names import from_transformers_names, to_transformers_names
from course.state_dict import check_state, expected_shapes, load_checked, to_course_names

TINY = Config(dim=6, n_heads=3, n_layers=2, hidden_dim=5, vocab_size=11, max_position_embeddings=7)


def random_state(config: Config) -> dict[str, Tensor]:
    return {name: torch.rand(shape) for name, shape in expected_shapes(config).items()}


class Tree(nn.Module):
    """A model whose parameters are those of a state dict, whatever its layers may be."""

    def __init__(self, state: dict[str, Tensor]) -> None:
        super().__init__()
        for name, tensor in state.items():
            *path, last = name.split(".")
            module: nn.Module = self
            for part in path:
                if not hasattr(module, part):
                    module.add_module(part, nn.Module())
                module = getattr(module, part)
            module.register_parameter(last, nn.Parameter(torch.zeros_like(tensor)))


@pytest.fixture
def tiny_distilbert(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder for COURSE_WEIGHTS, where the checkpoint ``distilbert`` is a tiny one."""
    monkeypatch.setattr(Config, "distilbert", classmethod(lambda cls: TINY))
    monkeypatch.setenv("COURSE_WEIGHTS", str(tmp_path))
    return tmp_path


def one_line(error: pytest.ExceptionInfo[CourseError]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def test_mini_is_a_whole_classifier_in_float32_under_the_courses_names() -> None:
    state = pretrained.load_state_dict("mini")
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == expected_shapes(Config.mini())
    assert all(tensor.dtype == torch.float32 and tensor.isfinite().all() for tensor in state.values())
    assert pretrained.config_of("mini") == Config.mini()
    assert pretrained.available("mini")


def test_distilbert_has_66955010_parameters() -> None:
    assert sum(map(math.prod, expected_shapes(Config.distilbert()).values())) == 66_955_010


@pytest.mark.slow
def test_the_expected_shapes_are_those_of_transformers() -> None:
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    sizes: dict[str, Any] = {
        "dim": 6,
        "n_heads": 3,
        "n_layers": 2,
        "hidden_dim": 5,
        "vocab_size": 11,
        "max_position_embeddings": 7,
    }
    model = DistilBertForSequenceClassification(DistilBertConfig(**sizes))
    shapes = {name: tuple(tensor.shape) for name, tensor in from_transformers_names(model.state_dict()).items()}
    assert shapes == expected_shapes(TINY)


def test_an_unknown_checkpoint_is_named() -> None:
    with pytest.raises(CheckpointError) as error:
        pretrained.load_state_dict("maxi")
    assert "'maxi'" in one_line(error) and "mini and distilbert" in str(error.value)


def test_a_missing_mini_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text((pretrained.MINI / "config.json").read_text())
    monkeypatch.setattr(pretrained, "MINI", tmp_path)
    with pytest.raises(CheckpointError, match=r"mini is missing: expected .*model\.safetensors"):
        pretrained.load_state_dict("mini")
    assert not pretrained.available("mini")


def test_a_folder_of_transformers_weights_is_read(tiny_distilbert: Path) -> None:
    state = random_state(TINY)
    save_file(to_transformers_names(state), tiny_distilbert / "model.safetensors")
    assert pretrained.available("distilbert")
    loaded = pretrained.load_state_dict("distilbert")
    assert all(torch.equal(loaded[name], state[name]) for name in state)


def test_a_state_dict_in_the_manner_of_the_sheet_is_read_whatever_its_list_is_called(tiny_distilbert: Path) -> None:
    state = random_state(TINY)
    torch.save(
        {k.replace("attention_layers", "encoder"): v for k, v in state.items()}, tiny_distilbert / "distilbert.pt"
    )
    loaded = pretrained.load_state_dict("distilbert")
    assert all(torch.equal(loaded[name], state[name]) for name in state)


def test_a_pickle_that_would_run_code_is_refused_and_does_not_run(tiny_distilbert: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tiny_distilbert / "it ran"),)

    torch.save({"weight": Bomb()}, tiny_distilbert / "distilbert.pt")
    with pytest.raises(CheckpointError) as error:
        pretrained.load_state_dict("distilbert")
    assert "distilbert.pt cannot be read" in one_line(error)
    assert not (tiny_distilbert / "it ran").exists()


@pytest.mark.parametrize("file", ["model.safetensors", "distilbert.pt"])
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x00" * 1000])
def test_a_damaged_file_is_named(tiny_distilbert: Path, file: str, content: bytes) -> None:
    (tiny_distilbert / file).write_bytes(content)
    with pytest.raises(CheckpointError) as error:
        pretrained.load_state_dict("distilbert")
    assert f"{file} cannot be read" in one_line(error)


@pytest.mark.parametrize("file", ["model.safetensors", "distilbert.pt"])
def test_a_file_cut_short_is_named(tiny_distilbert: Path, file: str) -> None:
    path = tiny_distilbert / file
    if file.endswith(".pt"):
        torch.save(random_state(TINY), path)
    else:
        save_file(random_state(TINY), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(CheckpointError) as error:
        pretrained.load_state_dict("distilbert")
    assert f"{file} cannot be read" in one_line(error)


def test_something_else_than_a_state_dict_is_refused(tiny_distilbert: Path) -> None:
    torch.save([torch.rand(3)], tiny_distilbert / "distilbert.pt")
    with pytest.raises(CheckpointError, match="must hold a state dict"):
        pretrained.load_state_dict("distilbert")


def test_a_folder_without_weights_is_named(tiny_distilbert: Path) -> None:
    assert not pretrained.available("distilbert")
    with pytest.raises(CheckpointError) as error:
        pretrained.load_state_dict("distilbert")
    assert str(tiny_distilbert) in one_line(error) and "unset COURSE_WEIGHTS" in str(error.value)


def test_position_ids_of_old_files_are_left_out() -> None:
    state = {**random_state(TINY), "embeddings.position_ids": torch.arange(7)}
    assert to_course_names(state).keys() == expected_shapes(TINY).keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classifier.bias": None}, r"classifier\.bias of shape \(2,\) is missing"),
        ({"decoder.weight": torch.rand(2)}, r"decoder\.weight was not expected"),
        ({"classifier.weight": torch.rand(6, 2)}, r"classifier\.weight must have shape \(2, 6\), but has \(6, 2\)"),
        ({"classifier.bias": torch.tensor([1, 2])}, r"classifier\.bias must hold floating-point numbers"),
    ],
)
def test_a_wrong_tensor_in_a_checkpoint_is_named(change: dict[str, Tensor | None], message: str) -> None:
    state = {k: v for k, v in {**random_state(TINY), **change}.items() if v is not None}
    with pytest.raises(StateDictError, match=message) as error:
        check_state(state, TINY, "the file")
    assert one_line(error).startswith("the file: ")


def test_weights_are_copied_into_a_model_of_the_same_names() -> None:
    state = random_state(TINY)
    model = Tree(state)
    load_checked(model, state, "the file")
    assert all(torch.equal(parameter, state[name]) for name, parameter in model.named_parameters())


def test_a_model_is_built_with_the_checkpoints_sizes_and_gets_its_weights() -> None:
    built: list[Config] = []

    class Own(Tree):
        def __init__(self, config: Config) -> None:
            built.append(config)
            super().__init__(random_state(config))
            self.layer = [nn.Linear(2, 2)]  # no parameter of the model's

    state = pretrained.load_state_dict("mini")
    model = pretrained.load(Own, "mini")
    assert built == [pretrained.config_of("mini")]
    assert all(torch.equal(parameter, state[name]) for name, parameter in model.named_parameters())
    before = nn.Linear(64, 64).weight.detach()
    assert 0 < before.std() < 1  # layers that are made afterwards begin with random weights again


def test_layers_have_random_weights_again_after_a_class_that_fails() -> None:
    class Broken(nn.Module):
        def __init__(self, config: Config) -> None:
            raise ValueError("not written yet")

    method = nn.Linear.reset_parameters
    with pytest.raises(ValueError, match="not written yet"):
        pretrained.load(Broken, "mini")
    assert nn.Linear.reset_parameters is method


def test_load_into_gives_the_model_back_with_the_weights_in_it() -> None:
    state = pretrained.load_state_dict("mini")
    model = pretrained.load_into(Tree(state), "mini")
    assert torch.equal(model.get_parameter("classifier.weight"), state["classifier.weight"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention_layers.1.k_lin.bias": None}, r"no parameter attention_layers\.1\.k_lin\.bias"),
        ({"extra.weight": torch.rand(3)}, r"has a parameter extra\.weight of shape \(3,\)"),
        ({"pre_classifier.bias": torch.rand(5)}, r"pre_classifier\.bias: the file brings shape \(6,\), .* has \(5,\)"),
    ],
)
def test_a_model_that_differs_is_told_where_and_left_as_it_was(change: dict[str, Tensor | None], message: str) -> None:
    state = random_state(TINY)
    model = Tree({k: v for k, v in {**state, **change}.items() if v is not None})
    with pytest.raises(StateDictError, match=message) as error:
        load_checked(model, state, "the file")
    one_line(error)
    assert all(not parameter.any() for parameter in model.parameters())


def test_a_buffer_of_the_models_own_is_no_error() -> None:
    state = random_state(TINY)
    model = Tree(state)
    model.register_buffer("position_ids", torch.arange(7))
    load_checked(model, state, "the file")


LOAD_FROM_STAND_IN = """
import dataclasses, sys
from course import hub, pretrained
hub.DISTILBERT = dataclasses.replace(hub.DISTILBERT, size=int(sys.argv[1]), sha256=sys.argv[2])
print(pretrained.available("distilbert"))
state = pretrained.load_state_dict("distilbert")
print(sum(tensor.numel() for tensor in state.values()), pretrained.available("distilbert"))
"""


@pytest.mark.slow
def test_the_real_size_comes_through_a_connection_that_breaks(tmp_path: Path) -> None:
    """268 MB of random weights under the hub's address, in a process of its own, twice interrupted."""
    content = tmp_path / "model.safetensors"
    shapes = to_transformers_names(expected_shapes(Config.distilbert()))
    save_file({name: torch.rand(shape) for name, shape in shapes.items()}, content, metadata={"format": "pt"})
    size = content.stat().st_size
    assert abs(size - hub.DISTILBERT.size) < 8  # the real file's header is not padded to a multiple of 8 bytes
    file = hub.DISTILBERT
    stand_in = StandIn(content, f"{file.repository}/resolve/{file.revision}/{file.name}", [150_000_000, 50_000_000])
    with serve(stand_in):
        run = subprocess.run(
            [sys.executable, "-c", LOAD_FROM_STAND_IN, str(size), hub._sha256(content)],
            env={
                **os.environ,
                "HF_ENDPOINT": stand_in.address,
                "HF_HOME": str(tmp_path / "home"),
                "COURSE_WEIGHTS": "",
            },
            capture_output=True,
            text=True,
        )
    assert run.stdout.split() == ["False", "66955010", "True"], run.stderr
    starts = [int(header.removeprefix("bytes=").rstrip("-")) for header in stand_in.ranges]
    assert starts == pytest.approx([0, 150_000_000, 200_000_000], abs=2_000_000)  # an unfinished chunk is lost
    assert "model.safetensors: 100%" in run.stderr
