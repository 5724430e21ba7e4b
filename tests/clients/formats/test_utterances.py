"""Galloon's own files: what is written is what is read, and what is wrong is said with its line."""

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from galloon.clients.api.errors import FormatError
from galloon.clients.formats.notes import NoteBook
from galloon.clients.formats.utterances import read_utterances, write_utterances
from galloon.clients.samples import asr_sample, ocr_sample
from galloon.learners.observation import ExpertOutput, Hypothesis, Utterance, Word
from tests.clients.formats.goldens import FOLDER
from tests.clients.samples import lattice_samples


def one(tmp_path, record, notes=None) -> Utterance:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(record) + "\n")
    (utterance,) = read_utterances(path, notes=notes)
    return utterance


def test_the_bundled_ocr_sample_loads():
    """1,777 lines, seven engines each, labels and targets; `meta` is left alone without a word."""
    notes = NoteBook()
    utterances = list(read_utterances(ocr_sample(), notes=notes))
    assert len(utterances) == 1777
    assert all(len(entry.outputs) == 7 and entry.target for entry in utterances)
    assert len({entry.labels["domain"] for entry in utterances}) == 9
    assert set(utterances[0].labels) == {"kind", "domain", "source"}
    assert not notes.notes()
    rapid = utterances[0].outputs[3]
    assert rapid.name == "rapidocr"
    assert rapid.confidence == 0.7665
    assert rapid.words[0] == Word("down,oober,thatwehad")


def test_the_bundled_asr_sample_loads_with_its_lattices():
    """396 utterances; twenty have the lattices of two engines, and every bundled lattice is used."""
    utterances = list(read_utterances(asr_sample()))
    assert len(utterances) == 396
    with_lattice = [
        {output.name for output in entry.outputs if output.lattice is not None}
        for entry in utterances
        if any(output.lattice is not None for output in entry.outputs)
    ]
    assert with_lattice == [{"ps_dom", "ps_gen"}] * 20
    assert len(lattice_samples()) == 40
    assert utterances[0].outputs[2].nbest[0].score == 0


def test_lattices_can_be_skipped():
    """For those who want the text only."""
    assert all(
        output.lattice is None
        for entry in read_utterances(asr_sample(), lattices=False)
        for output in entry.outputs
    )


words = st.builds(
    Word,
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=6),
    st.none() | st.floats(0, 1),
    st.none() | st.floats(0, 100),
    st.none() | st.floats(100, 200),
)
outputs = st.lists(words, max_size=4).flatmap(
    lambda said: st.builds(
        lambda name, confidence, nbest: ExpertOutput(name, tuple(said), confidence, nbest),
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=5),
        st.none() | st.floats(-9, 9),
        st.lists(
            st.builds(Hypothesis, st.lists(words, max_size=3).map(tuple), st.none() | st.floats(-9, 0)),
            max_size=2,
        ).map(tuple),
    )
)
utterances_to_write = st.lists(
    st.builds(
        Utterance,
        st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=4),
        st.lists(outputs, max_size=3, unique_by=lambda output: output.name).map(tuple),
        st.none() | st.text(st.characters(exclude_categories=["C"]), max_size=9),
        st.dictionaries(st.sampled_from(["domain", "kind", "speaker"]), st.text(max_size=5), max_size=2),
    ),
    max_size=4,
    unique_by=lambda utterance: utterance.id,
)


@settings(deadline=None, max_examples=100)
@given(utterances_to_write, st.sampled_from(["a.jsonl", "a.jsonl.gz"]))
def test_what_is_written_is_what_is_read(tmp_path_factory, utterances, name):
    """To the last bit, compressed or not."""
    path = tmp_path_factory.mktemp("written") / name
    assert write_utterances(path, utterances) == len(utterances)
    assert list(read_utterances(path)) == utterances


def test_lattices_are_written_beside_the_file(tmp_path):
    """A file can be copied elsewhere together with its lattices, and equal data make equal bytes."""
    with_lattice = [
        entry
        for entry in read_utterances(asr_sample())
        if any(output.lattice is not None for output in entry.outputs)
    ][:2]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_utterances(tmp_path / name / "x.jsonl.gz", with_lattice)
    again = list(read_utterances(tmp_path / "a" / "x.jsonl.gz"))
    for old, new in zip(with_lattice, again, strict=True):
        for before, after in zip(old.outputs, new.outputs, strict=True):
            assert before.words == after.words
            if before.lattice is not None:
                assert before.lattice.words == after.lattice.words
                assert before.lattice.log_scores.tolist() == after.lattice.log_scores.tolist()
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 5
    assert all((tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() for file in files)


GOOD = {"id": "a", "experts": {"e": {"text": "x"}}}


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ([], "a JSON object"),
        ({"experts": {}}, '"id" must be'),
        ({"id": True, "experts": {}}, '"id" must be'),
        ({"id": "", "experts": {}}, '"id" must be'),
        ({"id": "a"}, '"experts" must be'),
        ({"id": "a", "experts": {}, "target": 7}, '"target" must be'),
        ({"id": "a", "experts": {"e": "text"}}, "e: an engine's output is an object"),
        ({"id": "a", "experts": {"e": {"text": 5}}}, 'e: "text" must be'),
        ({"id": "a", "experts": {"e": {"words": 5}}}, 'e: "words" must be'),
        ({"id": "a", "experts": {"e": {"words": [5]}}}, "e: a word is"),
        ({"id": "a", "experts": {"e": {"words": [{"word": "x"}]}}}, "e: a word is"),
        ({"id": "a", "experts": {"e": {"words": [{"w": 5}]}}}, '"w" must be a string'),
        ({"id": "a", "experts": {"e": {"words": [{"w": "x y"}]}}}, "not one word"),
        ({"id": "a", "experts": {"e": {"words": [{"w": ""}]}}}, "not one word"),
        ({"id": "a", "experts": {"e": {"words": [{"w": "x", "conf": "high"}]}}}, "must be a number"),
        ({"id": "a", "experts": {"e": {"words": [{"w": "x", "start": True}]}}}, "must be a number"),
        ({"id": "a", "experts": {"e": {"words": [{"w": "x", "end": 10**400}]}}}, "must be a finite number"),
        ({"id": "a", "experts": {"e": {"text": "x", "line_conf": []}}}, '"line_conf" must be'),
        ({"id": "a", "experts": {"e": {"nbest": {}}}}, '"nbest" must be'),
        ({"id": "a", "experts": {"e": {"nbest": [5]}}}, r"nbest\[0\]"),
        ({"id": "a", "experts": {"e": {"nbest": [{}]}}}, '"text" or "words" is missing'),
        ({"id": "a", "experts": {"e": {"nbest": [{"text": 1}]}}}, '"text" must be'),
        ({"id": "a", "experts": {"e": {"lattice": 5}}}, '"lattice" must be a path'),
        ({"id": "a", "experts": {"e": {"lattice": "/etc/passwd"}}}, "leaves the folder"),
        ({"id": "a", "experts": {"e": {"lattice": "x/../../y.slf"}}}, "leaves the folder"),
        ({"id": "a", "experts": {"e": {"lattice": "none.slf"}}}, "No such file"),
        (GOOD, "'a' was used in line 1"),
    ],
)
def test_wrong_records_are_refused_with_their_line(tmp_path, record, what):
    """What is wrong, of which engine, in which line."""
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(GOOD) + "\n\n" + json.dumps(record) + "\n")
    with pytest.raises(FormatError, match=what) as caught:
        list(read_utterances(path))
    assert caught.value.line == 3
    assert str(path) in str(caught.value)


def test_words_win_if_they_spell_the_text_else_the_text_does(tmp_path):
    """The engine's text is what it said; the words' numbers are kept where the two correspond."""
    notes = NoteBook()
    record = {
        "id": 7,
        "experts": {
            "same": {"text": " so  sober ", "words": [{"w": "so", "conf": 0.5}, {"w": "sober"}]},
            "respelled": {"text": "So sober.", "words": [{"w": "so", "conf": 0.5}, {"w": "sober"}]},
            "cut": {"text": "so sober", "words": [{"w": "sosober", "conf": 0.5}]},
            "plain": {"text": "so sober"},
            "listed": {"words": ["so", {"w": "sober", "conf": 1}]},
        },
    }
    utterance = one(tmp_path, record, notes)
    assert utterance.id == "7"
    assert [output.words for output in utterance.outputs] == [
        (Word("so", 0.5), Word("sober")),
        (Word("So", 0.5), Word("sober.")),
        (Word("so"), Word("sober")),
        (Word("so"), Word("sober")),
        (Word("so"), Word("sober", 1)),
    ]
    assert [note.count for note in notes.notes()] == [1, 1]


def test_scalars_become_labels(tmp_path):
    """As strings, as JSON would spell them."""
    record = GOOD | {"domain": "x", "page": 3, "clean": False, "score": 0.5, "none": None, "list": [1]}
    assert one(tmp_path, record).labels == {"domain": "x", "page": "3", "clean": "false", "score": "0.5"}


def test_an_engine_without_text_speaks_by_its_alternatives(tmp_path):
    """The first of the n-best list is the 1-best."""
    said = one(
        tmp_path, {"id": "a", "experts": {"e": {"nbest": ["b c", {"text": "b d", "score": -2}]}}}
    ).outputs[0]
    assert said.text == "b c"
    assert said.nbest[1] == Hypothesis((Word("b"), Word("d")), -2)


@pytest.mark.parametrize("file", ["openfst/vector.fst", "openfst-text/words.fst.txt", "slf/htk_links.slf"])
def test_a_lattice_may_be_in_any_lattice_format(tmp_path, file):
    """The content of the named file tells."""
    (tmp_path / "lattice").write_bytes((FOLDER / file).read_bytes())
    said = one(tmp_path, {"id": "a", "experts": {"e": {"lattice": "lattice"}}}).outputs[0]
    assert said.text in {"call me ishmael", "call me is male"}
    assert said.lattice is not None


@pytest.mark.parametrize(("file", "count"), [("kaldi-lattice/compact.ark", 2), ("text/page.txt", 0)])
def test_a_file_of_other_than_one_lattice_is_refused(tmp_path, file, count):
    """Which of several, nobody could know."""
    (tmp_path / "lattice").write_bytes((FOLDER / file).read_bytes())
    with pytest.raises(FormatError, match=f"{count} lattices are in the file"):
        one(tmp_path, {"id": "a", "experts": {"e": {"lattice": "lattice"}}})


def test_a_cut_gzip_file_is_refused_at_the_line(tmp_path):
    """Not read as if it ended there."""
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(
        gzip.compress(b"".join(json.dumps(GOOD | {"id": n}).encode() + b"\n" for n in range(99)))[:-20]
    )
    with pytest.raises(FormatError, match="damaged gzip"):
        list(read_utterances(path))


def test_a_field_that_cannot_be_a_label_is_named(tmp_path):
    notes = NoteBook()
    read = one(tmp_path, {"id": "1", "experts": {"a": {"text": "x"}}, "tags": ["y"], "meta": {"z": 1}}, notes)
    assert read.labels == {}
    assert [note.what for note in notes.notes()] == ['the field "tags" is not a scalar, so it is no label']
