"""The Anki deck comes back from Anki itself, note by note; a second import makes no doubles and updates changes."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.quiz.export import anki as deck
from autograder.quiz.export.flat import Flat, inline
from quiz.conftest import needed
from quiz.nasty import flats, named

Notes = dict[str, tuple[list[str], list[str]]]


class Collection:
    """A collection of Anki's own, in a folder."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # anki's own, about its generated code
            try:
                from anki import import_export_pb2 as wire
                from anki.collection import Collection as Real
            except ImportError:
                needed("anki", "pip install 'shardlab[quiztest]'")
        self._wire: Any = wire
        self._real: Any = Real(str(folder / "collection.anki2"))
        self._folder = folder

    def take(self, content: bytes) -> None:
        path = self._folder / "deck.apkg"
        path.write_bytes(content)
        request = self._wire.ImportAnkiPackageRequest(
            package_path=str(path), options=self._wire.ImportAnkiPackageOptions(merge_notetypes=True)
        )
        self._real.import_anki_package(request)

    def notes(self) -> Notes:
        """Fields and tags of every note by its guid."""
        found = [self._real.get_note(ident) for ident in self._real.find_notes("")]
        return {note.guid: (list(note.fields), sorted(note.tags)) for note in found}

    def cards(self) -> int:
        return len(self._real.find_cards(""))

    def close(self) -> None:
        self._real.close()


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    made = Collection(tmp_path)
    yield made
    made.close()


def _expected(questions: list[Flat]) -> Notes:
    return {
        f"shardlab-{flat.id}": (
            [
                flat.id,
                flat.html("tex"),
                deck._choices(flat),
                deck._answer(flat),
                inline(flat.feedback, "tex"),
            ],
            sorted({flat.item, *flat.tags}),
        )
        for flat in questions
    }


def test_the_whole_bank_comes_back_and_twice_makes_no_doubles(
    questions: list[Flat], collection: Collection
) -> None:
    content = deck.export(questions, "FSDP")
    collection.take(content)
    assert collection.notes() == _expected(questions)
    cards = collection.cards()
    collection.take(content)
    assert collection.notes() == _expected(questions) and collection.cards() == cards == len(questions)


def test_a_changed_item_is_updated(questions: list[Flat], collection: Collection) -> None:
    few = questions[:6]
    collection.take(deck.export(few, "FSDP"))
    changed = [dataclasses.replace(few[0], version=2, text="Another text"), *few[1:]]
    collection.take(deck.export(changed, "FSDP"))
    notes = collection.notes()
    assert len(notes) == 6 and notes[f"shardlab-{few[0].id}"][0][1] == "<p>Another text</p>"
    assert notes == _expected(changed)


@settings(
    max_examples=10,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(made=st.lists(flats(), min_size=1, max_size=8))
def test_nasty_texts_come_back(made: list[Flat], tmp_path_factory: pytest.TempPathFactory) -> None:
    asked = named(made)
    collection = Collection(tmp_path_factory.mktemp("anki"))
    try:
        collection.take(deck.export(asked, "nasty & deck"))
        assert collection.notes() == _expected(asked)
    finally:
        collection.close()


def test_the_same_bank_gives_the_same_bytes(questions: list[Flat]) -> None:
    assert deck.export(questions[:20], "FSDP") == deck.export(questions[:20], "FSDP")


def test_time_grows_with_versions_and_with_nothing_else(questions: list[Flat]) -> None:
    later = [dataclasses.replace(questions[0], version=questions[0].version + 1), *questions[1:]]
    assert deck.changed(later) == deck.changed(questions) + 1
