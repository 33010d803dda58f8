"""Pretrained weights: one loader, two checkpoints of one architecture.

``mini`` comes with the course and loads offline in a fraction of a second. ``distilbert`` is the published
model of 66,955,010 parameters; it is taken from the folder named by the environment variable
``COURSE_WEIGHTS``, else from the cache, else from the hub (see ``course.hub``).
"""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from course import hub
from course.config import Config
from course.errors import CheckpointError, CourseError
from course.state_dict import check_state, load_checked, to_course_names, without_random_weights

Model = TypeVar("Model", bound=nn.Module)

CHECKPOINTS = ("mini", "distilbert")
SWITCHES = ("auto", "yes", "no")
MINI = Path(__file__).parent / "checkpoints" / "mini"
LOCAL_FILES = ("model.safetensors", "distilbert.pt")


def config_of(name: str = "mini") -> Config:
    """The sizes of a checkpoint's model. Raises CheckpointError for an unknown name."""
    if name == "distilbert":
        return Config.distilbert()
    if name == "mini":
        return Config(**json.loads((MINI / "config.json").read_text(encoding="utf-8")))
    raise CheckpointError(f"There is no checkpoint named {name!r}; the course has {' and '.join(CHECKPOINTS)}.")


def available(name: str) -> bool:
    """Can this checkpoint be loaded without the network? The file is found, not yet read."""
    config_of(name)
    try:
        return _local_file(name) is not None or hub.cached(hub.DISTILBERT) is not None
    except CheckpointError:
        return False


def choose(switch: str = "auto") -> str:
    """The checkpoint that a demonstration runs with, ``distilbert`` or ``mini``; prints which, and why.

    switch: ``auto`` takes the published weights where they are on this computer, or where the hub answers within a few
        seconds, and downloads them then. ``yes`` waits for the hub longer; ``no`` takes mini.
    No grade may depend on a download, so mini is the answer wherever a notebook is graded. Raises CheckpointError for
    another switch.
    """
    if switch not in SWITCHES:
        raise CheckpointError(f"The switch is {switch!r}; it can be {', '.join(SWITCHES)}.")
    why = _why_mini(switch)
    print(f"mini: {why}." if why else "distilbert: the published weights.")
    return "mini" if why else "distilbert"


def _why_mini(switch: str) -> str:
    """Why the published weights are not used; empty where they are on this computer now."""
    if switch == "no":
        return "the switch says no"
    if os.environ.get("NBGRADER_EXECUTION"):
        return "this notebook is being graded, and no grade may depend on a download"
    if available("distilbert"):
        return ""
    if switch == "auto" and not hub.answers(hub.DISTILBERT):
        return "the published weights are not on this computer, and the model hub does not answer"
    try:
        _local_file("distilbert") or hub.fetch(hub.DISTILBERT)
    except CourseError as error:
        return str(error).rstrip(".")
    return ""


def load_state_dict(name: str = "mini") -> dict[str, Tensor]:
    """A checkpoint's tensors, float32, on the CPU, under the course's names.

    Raises CheckpointError where the file is missing or damaged, DownloadError where the hub cannot be
    reached, StateDictError where a tensor is missing or has the wrong shape.
    """
    return {key: tensor.float() for key, tensor in _stored(name).items()}


def load(kind: Callable[[Config], Model], name: str = "mini") -> Model:
    """A model of the class ``kind``, built with a checkpoint's sizes, with the checkpoint's weights in it.

    kind: called with the checkpoint's Config; the random weights that layers begin with are not drawn.
    Raises what ``kind`` raises, and what load_into raises.
    """
    with without_random_weights():
        model = kind(config_of(name))
    return load_into(model, name)


def load_into(model: Model, name: str = "mini") -> Model:
    """Copy a checkpoint's weights into a model, and give the model back.

    model: its parameters must bear the course's names, the blocks' list that of ``attention_layers``.
    Raises what load_state_dict raises, and StateDictError where the model's parameters differ; the model is
    then left as it was.
    """
    load_checked(model, _stored(name), source=name)
    return model


def _stored(name: str) -> dict[str, Tensor]:
    """A checkpoint's tensors under the course's names, in the precision of its file: ``mini`` is stored in float16."""
    config = config_of(name)
    path = _local_file(name) or hub.fetch(hub.DISTILBERT)
    state = to_course_names(_read(path))
    check_state(state, config, source=str(path))
    return state


def _local_file(name: str) -> Path | None:
    """Where the checkpoint lies; None where it is the hub's."""
    if name == "mini":
        path = MINI / "model.safetensors"
        if not path.is_file():
            raise CheckpointError(f"The checkpoint mini is missing: expected {path}. Install the course again.")
        return path
    folder = os.environ.get("COURSE_WEIGHTS")
    if not folder:
        return None
    for file in LOCAL_FILES:
        path = Path(folder).expanduser() / file
        if path.is_file():
            return path
    raise CheckpointError(
        f"COURSE_WEIGHTS is {folder}, but {' or '.join(LOCAL_FILES)} is not there. "
        f"Name the folder that holds one of them, or unset COURSE_WEIGHTS to download the weights."
    )


def _read(path: Path) -> dict[str, Tensor]:
    """The tensors in a file, which is data only: nothing in it can run."""
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, RuntimeError, EOFError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CheckpointError(
            f"{path} cannot be read as a checkpoint ({reason}). Delete it and get it anew."
        ) from error
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise CheckpointError(f"{path} must hold a state dict (names and tensors), but holds a {type(state).__name__}.")
    return state
