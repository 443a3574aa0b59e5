"""What several workers need is made by one of them; the others wait, or hear that it failed."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.once import once


def test_of_many_one_makes_it_and_all_get_it_whole(tmp_path):
    made = []

    def make(folder):
        made.append(folder)
        time.sleep(0.1)
        (folder / "site").touch()

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(once, tmp_path / "built", make) for _ in range(4)]
        assert all((one.result() / "site").exists() for one in asked)
    assert len(made) == 1


def test_a_failure_is_told_to_all(tmp_path):
    def make(folder):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        once(tmp_path / "built", make)
    with pytest.raises(RuntimeError, match="built was not finished"):
        once(tmp_path / "built", make)


def test_nobody_waits_for_ever(tmp_path):
    (tmp_path / "built").mkdir()
    with pytest.raises(RuntimeError, match="built was not finished"):
        once(tmp_path / "built", lambda folder: None, patience=0.1)
