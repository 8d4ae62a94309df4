"""Downloads of learning platforms: laid out learner by learner, twice the same, and nothing half-written."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.engine import handins
from autograder.intake import platforms, roster, shelf
from autograder.intake.collect import Line, What, collect
from autograder.intake.names import REFUSED
from autograder.tomlfile import ContentError
from tests.intake.hostile import entry, zipped

DAY = (2026, 11, 2, 12, 0, 0)
CANVAS = {
    "lovelaceada_4711_90210_level-1.ipynb": b"ada",
    "lovelaceada_4711_90211_notes.txt": b"notes",
    "hopperg_LATE_4712_90300_level-1-2.ipynb": b"grace, later",
    "hopperg_LATE_4712_90299_level-1.ipynb": b"grace, first",
    "oneil_4713_90400_work.zip": zipped(("level-1.ipynb", b"zipped")),
    "turinga_4714_text.html": b"<p>typed</p>",
}
CANVAS_LAID = {
    "lovelaceada-4711/level-1/level-1.ipynb": b"ada",
    "lovelaceada-4711/level-1/notes.txt": b"notes",
    "hopperg-4712/level-1/level-1.ipynb": b"grace, later",
    "oneil-4713/level-1/work.zip": CANVAS["oneil_4713_90400_work.zip"],
    "turinga-4714/level-1/text.html": b"<p>typed</p>",
}
MOODLE = {
    "Ada Lovelace_815_assignsubmission_file/level-1.ipynb": b"ada",
    "Ada Lovelace_815_assignsubmission_file/data/x.txt": b"x",
    "Ada Lovelace_815_assignsubmission_onlinetext/onlinetext.html": b"<p>typed</p>",
    "Grace Hopper_816_assignsubmission_file_/level-1.ipynb": b"grace",
    "Иван Петров_817_assignsubmission_file_level-1.ipynb": b"ivan",
}
MOODLE_LAID = {
    "ada-lovelace/level-1/level-1.ipynb": b"ada",
    "ada-lovelace/level-1/data/x.txt": b"x",
    "ada-lovelace/level-1/onlinetext-onlinetext.html": b"<p>typed</p>",
    "grace-hopper/level-1/level-1.ipynb": b"grace",
    "иван-петров/level-1/level-1.ipynb": b"ivan",
}


def download(
    folder: Path, files: dict[str, bytes], day: tuple[int, ...] = DAY, name: str = "all.zip"
) -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in files.items():
            made.writestr(zipfile.ZipInfo(path, day), content)  # type: ignore[arg-type]
    return folder / name


def laid(submitted: Path) -> dict[str, bytes]:
    files = (path for path in submitted.rglob("*") if path.is_file())
    found = {str(path.relative_to(submitted)): path.read_bytes() for path in files}
    return {
        name: content
        for name, content in found.items()
        if not name.startswith(".intake/") and not name.endswith("/timestamp.txt")
    }


def did(lines: list[Line]) -> dict[str, What]:
    return {line.who: line.what for line in lines}


@pytest.mark.parametrize(
    ("files", "wanted"), [(CANVAS, CANVAS_LAID), (MOODLE, MOODLE_LAID)], ids=["canvas", "moodle"]
)
def test_a_download_is_laid_out_and_a_second_time_changes_nothing(
    files: dict[str, bytes], wanted: dict[str, bytes], tmp_path: Path
) -> None:
    submitted = tmp_path / "submitted"
    first = collect(download(tmp_path, files), submitted, "level-1")
    assert {line.what for line in first} == {What.TAKEN}
    assert laid(submitted) == wanted
    for folder in submitted.glob("*/level-1"):
        assert (folder / "timestamp.txt").read_text() == "2026-11-02 12:00:00 UTC\n"
    stamps = {path: path.stat().st_mtime_ns for path in submitted.glob("*-*/**/*")}
    again = collect(download(tmp_path, files, (2026, 12, 1, 0, 0, 0)), submitted, "level-1")
    assert {line.what for line in again} == {What.UNCHANGED}
    assert stamps == {path: path.stat().st_mtime_ns for path in submitted.glob("*-*/**/*")}
    assert not [path for path in (submitted / ".intake").iterdir() if path.name.startswith("new-")]


def test_late_and_replaced_are_told(tmp_path: Path) -> None:
    lines = collect(download(tmp_path, CANVAS), tmp_path / "submitted", "level-1")
    assert next(line.why for line in lines if line.who == "hopperg-4712") == "hopperg (Canvas 4712), late"


def test_what_is_laid_out_is_what_grade_finds(course, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    submitted = tmp_path / "submitted"
    collect(download(tmp_path, MOODLE), submitted, "level-1")
    found = handins.find(course, submitted)
    assert found.students == ("ada-lovelace", "grace-hopper", "иван-петров") and not found.ignored


def test_a_later_hand_in_replaces_the_earlier_and_not_the_other_way_round(tmp_path: Path) -> None:
    submitted = tmp_path / "submitted"
    old = {"a_1_10_level-1.ipynb": b"old", "a_1_11_left.txt": b"left"}
    new = {"a_1_12_level-1.ipynb": b"new"}
    assert did(collect(download(tmp_path, old), submitted, "level-1")) == {"a-1": What.TAKEN}
    assert did(collect(download(tmp_path, new), submitted, "level-1")) == {"a-1": What.REPLACED}
    assert laid(submitted) == {"a-1/level-1/level-1.ipynb": b"new"}
    # Canvas stamps every download with its own time: its numbers count, not that time.
    late = download(tmp_path, old, (2026, 12, 24, 0, 0, 0))
    assert did(collect(late, submitted, "level-1")) == {"a-1": What.KEPT}
    assert laid(submitted) == {"a-1/level-1/level-1.ipynb": b"new"}


def test_moodle_goes_by_time(tmp_path: Path) -> None:
    submitted = tmp_path / "submitted"
    name = "Ada_1_assignsubmission_file/lab.py"
    collect(download(tmp_path, {name: b"second"}), submitted, "lab-x")
    older = download(tmp_path, {name: b"first"}, (2026, 11, 1, 0, 0, 0))
    assert did(collect(older, submitted, "lab-x")) == {"ada": What.KEPT}
    newer = download(tmp_path, {name: b"third"}, (2026, 11, 3, 0, 0, 0))
    assert did(collect(newer, submitted, "lab-x")) == {"ada": What.REPLACED}
    assert laid(submitted) == {"ada/lab-x/lab.py": b"third"}


def test_two_learners_never_land_in_one_folder(tmp_path: Path) -> None:
    submitted = tmp_path / "submitted"
    twins = {f"Ada Li_{n}_assignsubmission_file/lab.py": b"x" for n in (1, 2)}
    others = {"Bo_3_assignsubmission_file/lab.py": b"bo"}
    lines = collect(download(tmp_path, twins | others), submitted, "lab-x")
    assert did(lines) == {
        "Ada Li (Moodle 1)": What.REFUSED,
        "Ada Li (Moodle 2)": What.REFUSED,
        "bo": What.TAKEN,
    }
    assert laid(submitted) == {"bo/lab-x/lab.py": b"bo"}
    # one after the other, they are refused as well
    third = {"Bo_4_assignsubmission_file/lab.py": b"another Bo"}
    assert did(collect(download(tmp_path, third), submitted, "lab-x")) == {"Bo (Moodle 4)": What.REFUSED}
    assert laid(submitted) == {"bo/lab-x/lab.py": b"bo"}
    (submitted / "EVE").mkdir()
    eve = {"eve_5_assignsubmission_file/lab.py": b"eve"}
    assert did(collect(download(tmp_path, eve), submitted, "lab-x")) == {"eve (Moodle 5)": What.REFUSED}


def test_graded_without_names(tmp_path: Path) -> None:
    blind = {f"Teilnehmer_{n}_assignsubmission_file/lab.py": b"x" for n in (1, 2)}
    lines = collect(download(tmp_path, blind), tmp_path / "moodle", "lab-x")
    assert did(lines) == {"teilnehmer-1": What.TAKEN, "teilnehmer-2": What.TAKEN}
    anonymous = {"LATE_anon_Xy1_90_lab.py": b"a", "anon_Zz2_91_lab.py": b"b"}
    lines = collect(download(tmp_path, anonymous), tmp_path / "canvas", "lab-x")
    assert did(lines) == {"anon-xy1": What.TAKEN, "anon-zz2": What.TAKEN}


def test_a_roster_gives_our_ids(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(
        "\ufeffID,LMS,Email,Name\nada,4711,,\ngrace,,,Grace Hopper\nivan,,,\nli1,,,Li\nli2,,,Li\n"
    )
    known = roster.read(path)
    assert known.find("4711", "whoever") == "ada"
    assert known.find("1", "hoppergrace") == known.find("1", "Grace Hopper") == "grace"
    for number, name, said in (("1", "Li", "names 2 learners"), ("9", "Bo", "lms = 9")):
        with pytest.raises(roster.Unknown, match=said):
            known.find(number, name)
    files = {"lovelaceada_4711_1_lab.py": b"a", "hoppergrace_2_2_lab.py": b"g", "bo_9_3_lab.py": b"b"}
    lines = collect(download(tmp_path, files), tmp_path / "submitted", "lab-x", known)
    assert did(lines) == {"ada": What.TAKEN, "grace": What.TAKEN, "bo (Canvas 9)": What.REFUSED}


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,b\n1,2\n", "a column id"), ("id\nada\n", "one of lms"), ("id,lms\n../x,1\n", ":2: id")],
)
def test_a_roster_that_is_none_says_where(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text)
    with pytest.raises(ContentError, match=said):
        roster.read(path)


def test_hostile_entries_cost_their_learner_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(entry("Up_1_assignsubmission_file/../../lab.py"), b"x")
        made.writestr(entry("Link_2_assignsubmission_file/lab.py", stat.S_IFLNK | 0o777), b"/etc/passwd")
        made.writestr(entry("Big_3_assignsubmission_file/lab.py"), bytes(70 << 20), zipfile.ZIP_DEFLATED)
        made.writestr(entry("Case_4_assignsubmission_file/lab.py"), b"x")
        made.writestr(entry("Case_4_assignsubmission_file/LAB.py"), b"x")
        made.writestr(entry("Fake_5_assignsubmission_file/timestamp.txt"), b"1999-01-01 00:00:00 UTC")
        made.writestr(entry("Good_6_assignsubmission_file/lab.py"), b"good")
        made.writestr(entry("readme.txt"), b"x")
    submitted = tmp_path / "submitted"
    lines = collect(tmp_path / "all.zip", submitted, "lab-x")
    assert did(lines) == {
        "readme.txt": What.NOT_UNDERSTOOD,
        **dict.fromkeys(("up", "link", "big", "case"), What.REJECTED),
        **dict.fromkeys(("fake", "good"), What.TAKEN),
    }
    found = laid(submitted)
    assert found.pop("good/lab-x/lab.py") == b"good"
    assert set(found) == {f"{name}/lab-x/{REFUSED}" for name in ("up", "link", "big", "case")}
    assert all(found.values())
    assert (submitted / "fake/lab-x/timestamp.txt").read_text().startswith("2026")


def test_a_broken_download_is_refused_whole(tmp_path: Path) -> None:
    good = download(tmp_path, CANVAS).read_bytes()
    for number, content in enumerate((good[:-30], b"no zip", b"")):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(content)
        with pytest.raises(ContentError, match=f"{number}.zip"):
            collect(path, tmp_path / "submitted", "level-1")
    with pytest.raises(ContentError, match="not named as Canvas or Moodle"):
        collect(download(tmp_path, {"lab.py": b"x"}), tmp_path / "submitted", "lab-x")
    assert not laid(tmp_path / "submitted")


def test_one_damaged_entry_is_the_downloads_fault(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a_1_1_lab.py", b"x = 'spoil me'")
        made.writestr("b_2_2_lab.py", b"x = 'fine'")
    path.write_bytes(path.read_bytes().replace(b"spoil me", b"spoiled!"))
    lines = collect(path, tmp_path / "submitted", "lab-x")
    assert did(lines) == {"a (Canvas 1)": What.REFUSED, "b-2": What.TAKEN}
    assert not (tmp_path / "submitted/a-1").exists()


def test_a_collector_that_was_killed_leaves_nothing_half_written(tmp_path: Path) -> None:
    submitted = tmp_path / "submitted"
    collect(download(tmp_path, {"a_1_1_lab.py": b"old"}), submitted, "lab-x")
    was = submitted / ".intake/was/a-1/lab-x"
    was.parent.mkdir(parents=True)
    (submitted / "a-1/lab-x").rename(was)  # as between the two renames
    (submitted / ".intake/new-x/hand-in").mkdir(parents=True)
    with shelf.shelf(submitted):
        assert laid(submitted) == {"a-1/lab-x/lab.py": b"old"}
        assert not (submitted / ".intake/new-x").exists()
        with pytest.raises(ContentError, match="another"):
            collect(download(tmp_path, {"a_1_1_lab.py": b"new"}), submitted, "lab-x")


def test_an_interrupt_between_the_renames_puts_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = tmp_path / "submitted"
    collect(download(tmp_path, {"a_1_1_lab.py": b"old"}), submitted, "lab-x")
    rename = Path.rename

    def stopped(self: Path, target: Path) -> Path:
        if self.name == "hand-in":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", stopped)
    with pytest.raises(KeyboardInterrupt):
        collect(download(tmp_path, {"a_1_2_lab.py": b"new"}), submitted, "lab-x")
    assert laid(submitted) == {"a-1/lab-x/lab.py": b"old"}


NAME = st.text(st.characters(codec="utf-8", categories=("L", "M", "N")), min_size=1, max_size=20)


@given(name=NAME, learner=st.integers(1, 10**9), upload=st.integers(1, 10**9), late=st.booleans())
def test_a_name_canvas_makes_is_read_back(name: str, learner: int, upload: int, late: bool) -> None:
    found = platforms.canvas(f"{name}_{'LATE_' if late else ''}{learner}_{upload}_my_lab_1.py")
    assert found == platforms.Named("canvas", str(learner), name, "my_lab_1.py", upload, late)


@given(
    words=st.lists(NAME, min_size=1, max_size=3), learner=st.integers(1, 10**9), between=st.sampled_from("/_")
)
def test_a_name_moodle_makes_is_read_back(words: list[str], learner: int, between: str) -> None:
    name = " ".join(words)
    found = platforms.moodle(f"{name}_{learner}_assignsubmission_file{between}my_lab.py")
    assert found == platforms.Named("moodle", str(learner), name, "my_lab.py")


@given(
    files=st.lists(
        st.tuples(st.integers(1, 5), st.text(max_size=12)), max_size=6, unique_by=lambda pair: pair[1]
    )
)
@settings(deadline=None, max_examples=60)
def test_whatever_files_are_called_nothing_lands_outside(
    files: list[tuple[int, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("names")
    with zipfile.ZipFile(folder / "all.zip", "w") as made:
        made.writestr("z_9_1_lab.py", b"x")
        for learner, name in files:
            safe = name.encode("utf-8", "replace").decode().replace("\0", "?")
            made.writestr(entry(f"n_{learner}_2_{safe}"), b"x")
    lines = collect(folder / "all.zip", folder / "submitted", "lab-x")
    assert {path.name for path in folder.iterdir()} == {"all.zip", "submitted"}
    places = {path.name for path in (folder / "submitted").iterdir()} - {".intake"}
    assert places <= {"z-9", *(f"n-{learner}" for learner, _ in files)}
    assert did(lines)["z-9"] is What.TAKEN


def test_only_wanted_names_lose_their_number() -> None:
    wanted = ("level-1.ipynb", "lab.py")
    given = ["level-1.ipynb", "level-1-3.ipynb", "lab-12.py", "level.ipynb", "data-1.txt"]
    made = ["level-1.ipynb", "level-1.ipynb", "lab.py", "level.ipynb", "data-1.txt"]
    assert [platforms.own_name(name, wanted) for name in given] == made
