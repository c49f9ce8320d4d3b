"""A result file is whole or it is the one that was there before."""

from __future__ import annotations

import errno
import os

import pytest

from turnproof.cli.common import InputError, write_pieces, write_text


def running_full():
    yield "begun"
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_runs_full_leaves_the_earlier_result(tmp_path):
    result = tmp_path / "run.json"
    write_text("earlier", str(result))
    with pytest.raises(InputError, match=r"run\.json: can't be written: No space left on device"):
        write_pieces(running_full(), str(result))
    assert result.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_a_result_takes_the_place_of_the_earlier_one(tmp_path):
    result = tmp_path / "run.json"
    write_text("earlier", str(result))
    write_text("later", str(result))
    assert result.read_text() == "later"


def test_a_result_goes_through_a_link_to_the_file_that_is_meant(tmp_path):
    result, link = tmp_path / "run.json", tmp_path / "latest.json"
    write_text("earlier", str(result))
    link.symlink_to(result)
    write_text("later", str(link))
    assert link.is_symlink()
    assert result.read_text() == "later"


def test_a_full_device_is_named(tmp_path):
    with pytest.raises(InputError, match=r"/dev/full: can't be written: No space left on device"):
        write_text("text", "/dev/full")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="can't be written: No such file or directory"):
        write_text("text", str(tmp_path / "nowhere" / "run.json"))
