"""Pseudonyms: stable within a course, different between courses, and no way back without the salt."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograder.errors import GradingError
from autograder.gradebook.roster import pseudonym, read_salt, salt_path


def test_a_person_has_one_pseudonym_in_a_course_and_another_in_the_next(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    assert pseudonym(here, "ada") == pseudonym(here, "ada") != pseudonym(here, "bob")
    assert pseudonym(here, "ada") != pseudonym(there, "ada")


def test_a_pseudonym_is_no_plain_hash_of_the_id_and_does_not_hold_it(tmp_path):
    made = pseudonym(tmp_path, "noether")
    assert "noether" not in made
    assert made.removeprefix("p-") not in hashlib.sha256(b"noether").hexdigest()


def test_the_salt_is_not_for_everybody_to_read(tmp_path):
    pseudonym(tmp_path, "ada")
    assert salt_path(tmp_path).stat().st_mode & 0o007 == 0


def test_an_id_that_is_no_unicode_has_a_pseudonym(tmp_path):
    assert pseudonym(tmp_path, "ad\udcff").startswith("p-")


def test_many_that_ask_at_once_get_one_salt(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: read_salt(tmp_path), range(32)))) == 1
    assert [path.name for path in salt_path(tmp_path).parent.iterdir()] == ["salt"]


@pytest.mark.parametrize("text", ["", "abcd", "no digits"])
def test_a_cut_or_broken_salt_is_an_error_and_stays(tmp_path, text):
    salt_path(tmp_path).parent.mkdir()
    salt_path(tmp_path).write_text(text)
    with pytest.raises(GradingError, match="hexadecimal digits"):
        pseudonym(tmp_path, "ada")
    assert salt_path(tmp_path).read_text() == text
