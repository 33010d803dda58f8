"""Downloading the real weights, from a hub that stands in for the real one."""

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hub_stand_in import StandIn, serve
from huggingface_hub import constants

from course import hub
from course.errors import CheckpointError, DownloadError
from course.hub import HubFile

MEGABYTE = 1 << 20


@pytest.fixture
def file(tmp_path: Path) -> HubFile:
    """A small file in place of the 268 MB."""
    content = os.urandom(5 * MEGABYTE + 17)
    (tmp_path / "content").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    return HubFile("somebody/some-model", "0123456789abcdef", "model.safetensors", len(content), digest)


@pytest.fixture
def stand_in(tmp_path: Path, file: HubFile, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    path = f"{file.repository}/resolve/{file.revision}/{file.name}"
    monkeypatch.setattr(hub.time, "sleep", lambda seconds: None)
    with serve(StandIn(tmp_path / "content", path)) as running:
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", running.address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HOME", str(tmp_path / "home"))
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield running


def one_line(error: pytest.ExceptionInfo[Exception]) -> str:
    message = str(error.value)
    assert "\n" not in message
    return message


def partial_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def test_a_file_is_downloaded_once_and_then_taken_from_the_cache(stand_in: StandIn, file: HubFile) -> None:
    assert hub.cached(file) is None
    path = hub.fetch(file)
    assert path.read_bytes() == stand_in.content.read_bytes()
    assert hub.fetch(file) == hub.cached(file) == path
    assert len(stand_in.ranges) == 1
    assert not partial_of(path).exists()


def test_a_broken_connection_is_taken_up_where_it_broke(stand_in: StandIn, file: HubFile) -> None:
    stand_in.break_after = [2 * MEGABYTE, MEGABYTE]
    path = hub.fetch(file)
    assert path.read_bytes() == stand_in.content.read_bytes()
    assert stand_in.ranges == ["bytes=0-", f"bytes={2 * MEGABYTE}-", f"bytes={3 * MEGABYTE}-"]


def test_an_interrupted_cell_goes_on_at_the_next_run(
    stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in.break_after = [3 * MEGABYTE]

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(hub.time, "sleep", interrupt)
        hub.fetch(file)
    assert hub.cached(file) is None
    assert hub.fetch(file).read_bytes() == stand_in.content.read_bytes()
    assert stand_in.ranges == ["bytes=0-", f"bytes={3 * MEGABYTE}-"]


def test_a_server_without_ranges_sends_everything_again(stand_in: StandIn, file: HubFile) -> None:
    stand_in.knows_ranges = False
    stand_in.break_after = [2 * MEGABYTE]
    assert hub.fetch(file).read_bytes() == stand_in.content.read_bytes()


def test_a_connection_that_breaks_for_good_is_reported_and_keeps_what_came(stand_in: StandIn, file: HubFile) -> None:
    stand_in.break_after = [2 * MEGABYTE, 0, 0, 0]
    with pytest.raises(DownloadError) as error:
        hub.fetch(file)
    assert "2 of 5 MB" in one_line(error)
    assert hub.fetch(file).read_bytes() == stand_in.content.read_bytes()


def test_a_wrong_checksum_is_refused_and_the_file_deleted(stand_in: StandIn, file: HubFile, tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as error:
        hub.fetch(replace(file, sha256="0" * 64))
    assert "expected sha256 000000000000" in one_line(error)
    assert not [path for path in (tmp_path / "home").rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_a_file_of_another_size_is_refused_before_it_is_fetched(stand_in: StandIn, file: HubFile) -> None:
    with pytest.raises(DownloadError) as error:
        hub.fetch(replace(file, size=file.size + 1))
    assert f"{file.size} bytes" in one_line(error) and f"expected {file.size + 1}" in str(error.value)


def test_a_file_the_hub_does_not_have_is_named(stand_in: StandIn, file: HubFile) -> None:
    with pytest.raises(DownloadError) as error:
        hub.fetch(replace(file, name="nothing.safetensors"))
    assert "nothing.safetensors" in one_line(error) and "404" in str(error.value)


def test_without_a_network_the_message_says_what_to_do(
    stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", "http://127.0.0.1:9/{repo_id}{revision}{filename}")
    with pytest.raises(DownloadError) as error:
        hub.fetch(file)
    assert "cannot be reached" in one_line(error) and "COURSE_WEIGHTS" in str(error.value)


def test_the_offline_switch_forbids_the_download(
    stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DownloadError, match="HF_HUB_OFFLINE"):
        hub.fetch(file)
    assert stand_in.ranges == []


def test_the_hub_is_asked_whether_it_has_the_file(stand_in: StandIn, file: HubFile) -> None:
    assert hub.answers(file)
    assert not hub.answers(replace(file, name="nothing.safetensors"))
    assert (stand_in.asked, stand_in.ranges) == (2, [])


def test_a_hub_that_is_not_there_does_not_answer(
    stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", "http://127.0.0.1:9/{repo_id}{revision}{filename}")
    assert not hub.answers(file)


def test_a_hub_that_says_nothing_is_waited_for_no_longer_than_asked(
    stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}{revision}{filename}")
        start = time.monotonic()
        assert not hub.answers(file, seconds=0.2)
        assert time.monotonic() - start < 2


def test_the_offline_switch_forbids_to_ask(stand_in: StandIn, file: HubFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert not hub.answers(file)
    assert stand_in.asked == 0


def test_a_file_damaged_in_the_cache_is_named(stand_in: StandIn, file: HubFile) -> None:
    path = hub.fetch(file)
    with path.open("r+b") as stream:
        stream.seek(MEGABYTE)
        stream.write(b"damage")
    with pytest.raises(CheckpointError) as error:
        hub.fetch(file)
    assert str(path) in one_line(error) and "Delete it" in str(error.value)


def test_a_folder_that_cannot_be_written_is_named(stand_in: StandIn, file: HubFile, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file where a folder should be")
    with pytest.raises(DownloadError) as error:
        hub.fetch(file)
    assert "HF_HOME" in one_line(error)


def test_what_transformers_has_cached_is_used(stand_in: StandIn, file: HubFile, tmp_path: Path) -> None:
    repository = tmp_path / "home" / "hub" / f"models--{file.repository.replace('/', '--')}"
    snapshot = repository / "snapshots" / file.revision
    snapshot.mkdir(parents=True)
    (snapshot / file.name).write_bytes(stand_in.content.read_bytes())
    assert hub.fetch(file) == snapshot / file.name
    assert stand_in.ranges == []
