"""Which caches are read? Those that no other user can have written."""

import os
import pickle
import stat
import tempfile
import zlib
from pathlib import Path

import pytest

from recollex_engine import private_files
from recollex_engine.compiled_code import Folder, file_name, folder_of_user

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The system's folder of temporary files, in which everyone may write."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


@pytest.fixture
def umask():
    """``umask(mask)`` sets it until the test ends."""
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


class Planted:
    """Runs code when it is unpickled: it makes a file."""

    def __init__(self, proof):
        self.proof = proof

    def __reduce__(self):
        return os.mkdir, (str(self.proof),)


def plant(folder, proof):
    """Write what a stranger would like to be read, and return its file."""
    content = pickle.dumps(("signature", Planted(proof)))
    file = folder / file_name("kernel", "signature")
    file.write_bytes(zlib.crc32(content).to_bytes(4, "little") + content)
    return file


def modes(folder):
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}, {
        stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")) if path.is_dir()
    }


@pytest.mark.parametrize("mask", [0, 0o002, 0o022, 0o077, 0o777])
def test_modes_do_not_depend_on_the_umask(home, umask, mask):
    umask(mask)
    folder = folder_of_user()
    folder.save("kernel", "signature", {"x": 1})
    assert modes(home.parent) == ({0o600}, {0o700})
    assert folder.load("kernel", "signature") == {"x": 1}


def group_may_write(home, folder, file):
    folder.chmod(0o770)


def all_may_write(home, folder, file):
    folder.chmod(0o707)


def all_may_write_the_cache(home, folder, file):
    home.chmod(0o777)


def group_may_write_the_cache(home, folder, file):
    home.chmod(0o720)


def all_may_write_in_a_parent(home, folder, file):
    home.parent.chmod(0o777)


def a_stranger_owns_the_folder(home, folder, file):
    os.chown(folder, NOBODY, -1)


def a_stranger_owns_the_cache(home, folder, file):
    os.chown(home, NOBODY, -1)


def a_link_to_what_all_may_write(home, folder, file):
    elsewhere = folder.rename(home.parent / "elsewhere")
    elsewhere.chmod(0o777)
    folder.symlink_to(elsewhere)


def a_link_into_a_parent_that_all_may_write(home, folder, file):
    open_folder = home.parent / "open"
    open_folder.mkdir()
    folder.symlink_to(folder.rename(open_folder / "folder"))
    open_folder.chmod(0o777)


def a_link_of_a_stranger(home, folder, file):
    folder.symlink_to(folder.rename(home.parent / "elsewhere"))
    os.chown(folder, NOBODY, -1, follow_symlinks=False)


FOLDERS = [
    group_may_write,
    all_may_write,
    group_may_write_the_cache,
    all_may_write_the_cache,
    all_may_write_in_a_parent,
    a_link_to_what_all_may_write,
    a_link_into_a_parent_that_all_may_write,
    pytest.param(a_stranger_owns_the_folder, marks=as_root),
    pytest.param(a_stranger_owns_the_cache, marks=as_root),
    pytest.param(a_link_of_a_stranger, marks=as_root),
]


@pytest.mark.parametrize("expose", FOLDERS)
def test_a_folder_that_others_may_write_is_not_read_but_made_anew(
    home, tmp_path, temporary, expose
):
    proof = tmp_path / "proof"
    first = folder_of_user()
    first.save("kernel", "signature", 1)
    expose(home, first.path, plant(first.path, proof))
    with pytest.warns(RuntimeWarning, match=r"is not read, because .*(chmod go-w|remove it).*used"):
        second = folder_of_user()
    assert second.path.parent == temporary / f"recollex-{os.geteuid()}"
    assert second.load("kernel", "signature") is None
    second.save("kernel", "signature", 2)
    assert modes(second.path.parent) == ({0o600}, {0o700})
    with pytest.warns(RuntimeWarning, match="is not read"):
        assert folder_of_user().load("kernel", "signature") == 2
    assert not proof.exists()


def group_may_write_it(file):
    file.chmod(0o620)


def all_may_write_it(file):
    file.chmod(0o602)


def a_stranger_owns_it(file):
    os.chown(file, NOBODY, -1)


@pytest.mark.parametrize(
    "expose",
    [group_may_write_it, all_may_write_it, pytest.param(a_stranger_owns_it, marks=as_root)],
)
def test_a_file_that_others_may_write_is_not_read_but_written_anew(home, tmp_path, expose):
    folder = folder_of_user()
    folder.save("kernel", "signature", 1)
    expose(plant(folder.path, tmp_path / "proof"))
    with pytest.warns(RuntimeWarning, match=r"is not read, because .*(chmod go-w|remove it)"):
        assert folder.load("kernel", "signature") is None
    folder.save("kernel", "signature", 2)
    assert folder.load("kernel", "signature") == 2
    assert not (tmp_path / "proof").exists()


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_file_is_not_read(home, tmp_path, kind):
    folder = folder_of_user()
    folder.save("kernel", "other", 1)
    file = plant(folder.path, tmp_path / "proof")
    elsewhere = file.rename(tmp_path / "elsewhere")
    if kind == "link":
        file.symlink_to(elsewhere)
    elif kind == "fifo":
        os.mkfifo(file, 0o600)
    else:
        file.mkdir(mode=0o700)
    assert folder.load("kernel", "signature") is None
    assert not (tmp_path / "proof").exists()


@as_root
def test_there_is_no_cache_where_a_stranger_holds_the_temporary_one_too(home, temporary):
    home.mkdir(parents=True)
    home.chmod(0o777)
    os.chown(home, NOBODY, -1)
    place = temporary / f"recollex-{os.geteuid()}"
    place.mkdir()
    os.chown(place, NOBODY, -1)
    with pytest.warns(RuntimeWarning, match="no cache is used"):
        assert folder_of_user() is None


@as_root
def test_a_folder_that_a_stranger_makes_meanwhile_is_not_written(home):
    folder = folder_of_user()
    folder.path.mkdir(parents=True)
    os.chown(folder.path, NOBODY, -1)
    folder.save("kernel", "signature", 1)
    assert list(folder.path.iterdir()) == []


def test_a_file_is_not_written_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="exists"):
        private_files.write(tmp_path / "link", b"x")
    assert not (tmp_path / "target").exists()


def test_a_folder_in_a_sticky_one_is_private_and_what_is_not_there_is_too(temporary):
    private_files.make_folder(temporary / "mine")
    assert private_files.exposure(temporary / "mine") is None
    assert private_files.exposure(temporary / "absent" / "deeper") is None
    assert "other users may write it" in private_files.exposure(temporary)


def test_kernels_that_a_wheel_carries_are_trusted_as_the_code_beside_them(tmp_path):
    Folder(tmp_path / "carried").save("kernel", "signature", 1)
    (file,) = (tmp_path / "carried").glob("*.nbc")
    file.chmod(0o664)
    assert Folder(tmp_path / "carried", Path.read_bytes).load("kernel", "signature") == 1
