"""Files are removed under a reader and under a writer: what is open goes on, what opens is told."""

import shutil
import warnings

import pytest

from recollex_engine.errors import RecollexError, StoreMovedError
from tests.engine.faults.small_store import answers, contents, fill, opened


def files_of(folder):
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_each_file_removed_under_a_reader_changes_no_answer(path, folder, held, tmp_path):
    for name in files_of(folder):
        copy = tmp_path / "copy"
        shutil.copytree(path, copy)
        with opened(copy, read_only=True) as agent:
            assert len(contents(agent)) == len(held[0])
            (copy / "agents" / "a" / name).unlink()
            assert (contents(agent), answers(agent)) == held, name
        shutil.rmtree(copy)


def test_a_folder_removed_under_a_reader_is_told(path, folder, held):
    with opened(path, read_only=True) as agent:
        assert (contents(agent), answers(agent)) == held
        shutil.rmtree(path)
        for call in (contents, answers, lambda agent: agent.verify()):
            with pytest.raises(StoreMovedError, match=r"No such file.*open it again"):
                call(agent)


@pytest.mark.parametrize("what", ["log", "vectors.f16", "columns", "MANIFEST", "COMMIT", "."])
def test_files_removed_under_a_writer_are_told_at_the_latest_when_opening(path, folder, held, what):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            with opened(path) as agent:
                place = folder / what
                shutil.rmtree(place) if place.is_dir() else place.unlink()
                assert contents(agent) == held[0]
                try:
                    fill(agent, 60, 3)
                    agent.checkpoint()
                except RecollexError:
                    pass
        except RecollexError:
            pass
        try:
            with opened(path) as agent:
                found = contents(agent)
                assert not found or found[: len(held[0])] == held[0]
                assert agent.verify().problems == ()
        except RecollexError:
            pass
