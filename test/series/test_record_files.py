# SPDX-License-Identifier: Apache-2.0
"""Records on disk: what was written comes back, memory does not grow, and broken files are refused with a sentence."""

import contextlib
import json
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from runs import assert_same, made_up, run

from humanoid_dynamics.errors import MissingExtraError, RecordError, UnknownNameError
from humanoid_dynamics.series import messages
from humanoid_dynamics.series.files import load_record, open_sink, save_record
from humanoid_dynamics.series.layout import Layout, parse_layout
from humanoid_dynamics.series.record import Record, Table
from humanoid_dynamics.structure.events import Break

ENDINGS = (".npz", ".mcap", "")


@pytest.fixture(autouse=True)
def _rosbags():
    pytest.importorskip("rosbags", reason="the extra bags is not installed")


@pytest.mark.parametrize("ending", ENDINGS)
def test_hard_numbers_come_back_bit_by_bit(tmp_path, ending):
    record = made_up()
    path = str(tmp_path / f"run{ending}")  # as text too
    save_record(record, path)
    assert_same(load_record(path), record)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "scene", ["swing", "ropes", "steps", "pushed"]
)  # spherical, continuous, two bodies, plain joints
def test_runs_come_back_bit_by_bit(tmp_path, scene, ending):
    _, _, recorder = run(scene)
    record = recorder.record()
    recorder.save(tmp_path / f"run{ending}")
    assert_same(load_record(tmp_path / f"run{ending}"), record)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_joint_that_breaks_on_the_way(tmp_path, ending):
    _, world, recorder = run("standing")
    nq = world.robot.nq
    world.apply([Break("left_elbow")])
    for _ in range(5):
        world.step(1e-3)
    record = recorder.record()
    assert sorted(record.layouts) == [0, 31]
    assert len(record.layouts[0].columns["q"]) == nq
    assert len(record.layouts[31].columns["q"]) == nq + 6
    elbow = record.table("q").column("left_elbow")
    assert np.isfinite(elbow[:31]).all()
    assert len(record) == 36
    recorder.save(tmp_path / f"run{ending}")
    assert_same(load_record(tmp_path / f"run{ending}"), record)


def test_streamed_and_kept_samples_are_the_same(tmp_path):
    record = made_up()
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    save_record(record, one)
    save_record(load_record(one), other)
    assert one.read_bytes() == other.read_bytes()  # equal records make equal files


def test_numpy_alone_reads_an_archive(tmp_path):
    record = made_up()
    save_record(record, tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        np.testing.assert_array_equal(archive["q"], record.table("q").values)
        assert tuple(archive["q_columns"]) == record.table("q").columns
        assert json.loads(str(archive["about"]))["scene"] == "made up"


@pytest.mark.parametrize("ending", [".npz", ".mcap"])
def test_memory_does_not_grow(tmp_path, ending):
    record = made_up(1, joints=200)
    layout, rows = (
        record.layouts[0],
        {name: table.values[0] for name, table in record.tables.items()},
    )
    part = 700
    size = 8 * sum(len(row) for row in rows.values()) * part
    assert size > 3e6  # so many bytes come in each third
    sink = open_sink(tmp_path / f"run{ending}", {})
    sink.begin(layout)
    tracemalloc.start()
    held = []
    try:
        for k in range(3 * part):
            sink.write(1e-3 * k, rows)
            if k % part == part - 1:
                held.append(tracemalloc.get_traced_memory()[0])
        sink.close()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert abs(held[2] - held[1]) < 0.5 * size  # a chunk of one megabyte may be full or not
    assert peak < 1.6 * size
    assert len(load_record(tmp_path / f"run{ending}")) == 3 * part


def test_times_must_ascend():
    layout = Layout({"a": ("x",)})
    for t in ([0.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, np.nan, 1.0]):
        with pytest.raises(RecordError, match="times must ascend"):
            Record({}, np.array(t), {"a": Table(("x",), np.zeros((3, 1)))}, {0: layout})


def test_a_table_of_another_length_is_refused():
    with pytest.raises(RecordError, match=r"table 'a' has shape \(2, 1\), expected \(3, 1\)"):
        Record(
            {}, np.arange(3.0), {"a": Table(("x",), np.zeros((2, 1)))}, {0: Layout({"a": ("x",)})}
        )


def test_columns_of_one_name_are_refused():
    with pytest.raises(RecordError, match="two columns named 'x'"):
        Layout({"a": ("x", "x")})


def test_unknown_names_are_told_with_those_that_exist():
    record = made_up()
    with pytest.raises(UnknownNameError, match="energy"):
        record.table("enrgy")
    with pytest.raises(UnknownNameError, match="kinetic"):
        record.table("energy").column("kinetics")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        '{"columns": 3}',
        '{"columns": {}, "joints": [[1]], "bodies": [], "patches": []}',
        "nonsense",
    ],
)
def test_what_is_no_layout_is_refused(text):
    with pytest.raises(ValueError, match=r"layout|Expecting"):
        parse_layout(text)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.npz", None, "does not exist"),
        ("text.npz", b"time,knee\n0,1\n", "begins with b'time,kne'"),
        ("empty.mcap", b"", "begins with b''"),
        ("zip.npz", b"PK\x03\x04nonsense", "cannot be read as a numpy archive"),
        ("head.mcap", b"\x89MCAP0\r\n", "cannot be read as a bag"),
    ],
)
def test_files_of_something_else(tmp_path, name, content, said):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RecordError) as refusal:
        load_record(tmp_path / name)
    assert said in str(refusal.value)
    assert str(refusal.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("ending", [".npz", ".mcap"])
def test_cut_files_are_refused_wherever_they_are_cut(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    save_record(made_up(), path)
    whole = path.read_bytes()
    for share in (0.05, 0.3, 0.7, 0.95, 0.999):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(RecordError, match=r"cannot be read|without"):
            load_record(path)


def test_a_cut_bag_says_that_its_end_is_missing(tmp_path):
    path = tmp_path / "run.mcap"
    save_record(made_up(), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(RecordError, match="its end is missing"):
        load_record(path)


def test_flipped_bytes_never_raise_anything_else(tmp_path):
    rng = np.random.default_rng(5)
    for ending in (".npz", ".mcap"):
        path = tmp_path / f"run{ending}"
        save_record(made_up(), path)
        whole = path.read_bytes()
        for _ in range(15):
            broken = bytearray(whole)
            broken[rng.integers(len(broken))] ^= 1 << int(rng.integers(8))
            path.write_bytes(bytes(broken))
            with contextlib.suppress(RecordError):
                load_record(path)


def test_an_archive_of_something_else(tmp_path):
    np.savez(tmp_path / "motion.npz", joint_pos=np.zeros((3, 2)))
    with pytest.raises(RecordError, match=r"without t, about, layouts; its keys are joint_pos"):
        load_record(tmp_path / "motion.npz")


def test_an_archive_that_lost_a_table(tmp_path):
    save_record(made_up(), tmp_path / "run.npz")
    with (
        zipfile.ZipFile(tmp_path / "run.npz") as whole,
        zipfile.ZipFile(tmp_path / "less.npz", "w") as less,
    ):
        for entry in whole.namelist():
            if entry != "q.npy":
                less.writestr(entry, whole.read(entry))
    with pytest.raises(RecordError, match="names the columns of table 'q', but has none"):
        load_record(tmp_path / "less.npz")


def test_a_folder_that_is_no_bag(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(RecordError, match=r"without metadata.yaml; it holds notes.txt"):
        load_record(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("run.csv", "ends in '.csv'"),
        ("there", "exists already"),
        ("there/run.npz/x.npz", "cannot be written"),
    ],
)
def test_places_where_nothing_can_be_written(tmp_path, name, said):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "run.npz").write_text("a file")
    with pytest.raises(RecordError, match=said):
        open_sink(tmp_path / name, {})


def test_without_rosbags_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rosbags.typesys", None)
    messages.load_types.cache_clear()
    with pytest.raises(MissingExtraError, match=r"humanoid_dynamics\[bags\]"):
        open_sink(tmp_path / "run.mcap", {})
    assert not list(tmp_path.iterdir())
