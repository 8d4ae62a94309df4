"""Archives of strangers: every hostile one is refused with a reason, and nothing is written outside the target."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.intake import archive
from autograder.intake.archive import Caps, Meter
from autograder.intake.names import Rejected, fold, is_student, student, way
from tests.intake import hostile
from tests.intake.hostile import HOSTILE, tarred, zipped

FILES = {"lab.py": b"x = 1\n", "data/train.txt": b"1 2 3\n" * 5000, "data/empty": b""}


def unpack(path: Path, target: Path, caps: Caps | None = None) -> Meter:
    target.mkdir()
    meter = Meter(caps or Caps())
    archive.unpack(path, target, meter)
    return meter


def read(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused(name: str, tmp_path: Path) -> None:
    path = hostile.write(tmp_path, name)
    with pytest.raises(Rejected, match=HOSTILE[name][2]) as told:
        unpack(path, tmp_path / "in")
    assert str(told.value).isprintable()
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "in"}
    written = list((tmp_path / "in").rglob("*"))
    assert not any(p.is_symlink() for p in written)
    assert sum(p.stat().st_size for p in written if p.is_file()) <= Caps().total


@pytest.mark.parametrize("suffix", archive.SUFFIXES)
def test_honest_archives_are_unpacked(suffix: str, tmp_path: Path) -> None:
    packers = {"tar": "", "tbz2": "bz2", "bz2": "bz2", "txz": "xz", "xz": "xz"}
    packer = packers.get(suffix.rpartition(".")[2], "gz")
    mode = f"w:{packer}"
    made = zipped(*FILES.items()) if suffix == ".zip" else tarred(*FILES.items(), mode=mode)
    path = tmp_path / f"work{suffix}"
    path.write_bytes(made)
    meter = unpack(path, tmp_path / "in")
    assert read(tmp_path / "in") == FILES
    assert meter.written == sum(map(len, FILES.values())) and meter.files == len(FILES)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_of_every_kind_of_tar(form: int, tmp_path: Path) -> None:
    name = "/".join(["a" * 60] * 3) + "/lab.py"
    (tmp_path / "work.tar").write_bytes(tarred((name, b"x"), mode="w", form=form))
    unpack(tmp_path / "work.tar", tmp_path / "in")
    assert read(tmp_path / "in") == {name: b"x"}


def test_what_macs_and_shells_add_is_left_out(tmp_path: Path) -> None:
    files = [
        ("__MACOSX/._lab.py", b"\0"),
        ("a/.DS_Store", b"\0"),
        ("a/", b""),
        ("./lab.py", b"x"),
        ("a/b.py", b"y"),
    ]
    (tmp_path / "work.zip").write_bytes(zipped(*files))
    unpack(tmp_path / "work.zip", tmp_path / "in")
    assert read(tmp_path / "in") == {"lab.py": b"x", "a/b.py": b"y"}


def test_names_of_old_packers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    utf8, cp437 = "ü.py".encode(), "ü.py".encode("cp437")
    for raw in (utf8, cp437):
        placeholder = b"q" * (len(raw) - 3) + b".py"
        path.write_bytes(zipped((placeholder.decode(), b"x")).replace(placeholder, raw))
        unpack(path, tmp_path / raw.hex())
        assert read(tmp_path / raw.hex()) == {"ü.py": b"x"}


def test_a_link_or_a_pipe_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "real.zip").write_bytes(zipped(("lab.py", b"x")))
    (tmp_path / "link.zip").symlink_to("real.zip")
    os.mkfifo(tmp_path / "pipe.zip")
    for name in ("link", "pipe"):
        with pytest.raises(Rejected, match="broken"):
            unpack(tmp_path / f"{name}.zip", tmp_path / name)


@given(
    total=st.integers(0, 3000), file=st.integers(0, 3000), sizes=st.lists(st.integers(0, 1500), max_size=5)
)
@settings(deadline=None, max_examples=40)
def test_never_more_is_written_than_the_caps_allow(
    total: int, file: int, sizes: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("caps")
    (folder / "work.zip").write_bytes(zipped(*((f"{n}", os.urandom(size)) for n, size in enumerate(sizes))))
    fits = sum(sizes) <= total and all(size <= file for size in sizes)
    try:
        meter = unpack(folder / "work.zip", folder / "in", Caps(total=total, file=file))
    except Rejected:
        assert not fits
    else:
        assert fits and meter.written == sum(sizes)
    assert sum(map(len, read(folder / "in").values())) <= total


NAMES = st.text(st.sampled_from("aA.é\u0301/\\: \x00\n~") | st.characters(codec="utf-8"), max_size=30)


@given(NAMES)
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    try:
        parts = way(name)
    except Rejected as refused:
        assert str(refused).isprintable()
        return
    root = Path("/nowhere/in")
    assert root.joinpath(*parts).is_relative_to(root) and ".." not in parts
    assert Path(os.path.normpath(root.joinpath(*parts))).is_relative_to(root)


@given(st.lists(NAMES, min_size=1, max_size=3))
def test_the_folder_of_a_learner_is_one_nbgrader_takes(parts: list[str]) -> None:
    made = student(*parts)
    assert is_student(made) and made == student(*parts) == fold(made)
    assert len(os.fsencode(made)) <= 255
