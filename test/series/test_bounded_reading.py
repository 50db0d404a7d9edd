# SPDX-License-Identifier: Apache-2.0
"""Files that declare or unpack to more than may be read are refused before memory is taken, and fast."""

import io
import struct
import zipfile
from time import monotonic

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import RecordError, SourceError
from humanoid_dynamics.motion.formats.detect import read_motion
from humanoid_dynamics.series.bounded_reading import (
    LIMIT_VARIABLE,
    ReadLimitError,
    bound_rosbags,
    check_lines,
    find_limit,
    inflate,
)
from humanoid_dynamics.series.files import load_record

XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/><xacro:property name="x" value="${9**9**9}"/>'


def header(shape, descr="<f8"):
    """Return an array file that declares a shape and holds nothing."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def pack(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def refuse(path, match="expected at most|expected lengths|cannot be loaded|cannot be read"):
    """Assert that both readers of archives refuse a file within two seconds."""
    began = monotonic()
    with pytest.raises(hd.ClipError, match=match):
        read_motion(path)
    with pytest.raises(RecordError, match=match):
        load_record(path)
    assert monotonic() - began < 2.0


@pytest.mark.parametrize(
    ("shape", "descr"),
    [
        ("(1000000000000,)", "<f8"),
        ("(1000000, 1000000)", "<f4"),
        ("(-1,)", "<f8"),
        (f"({2**62}, 4)", "<f8"),
        ("()", "|V99999999999"),
    ],
)
def test_archives_that_declare_too_much(tmp_path, shape, descr):
    refuse(
        pack(tmp_path / "clip.npz", {"q": header(shape, descr)}),
        "expected at most|expected lengths|cannot be read",
    )


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setenv(LIMIT_VARIABLE, "4")
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(1_000_000))
    refuse(
        pack(tmp_path / "one.npz", {"q": zeros.getvalue()}),
        "unpacked archive has 8000128 bytes, expected at most 4000000",
    )
    refuse(
        pack(
            tmp_path / "many.npz", {f"a{k}": header("(100000,)") + bytes(800_000) for k in range(8)}
        ),
        "expected at most 4000000",
    )


def test_archives_of_too_many_members_or_of_objects(tmp_path):
    refuse(pack(tmp_path / "many.npz", {f"a{k}": b"" for k in range(10_001)}), "10001 members")
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    refuse(pack(tmp_path / "objects.npz", {"q": objects.getvalue()}), "allow_pickle=False")


def test_large_files_may_unpack_to_a_multiple_of_their_size(monkeypatch):
    assert find_limit() == find_limit(1) == 256_000_000
    assert find_limit(10**9) == 8 * 10**9
    monkeypatch.setenv(LIMIT_VARIABLE, "2000")
    assert find_limit() == 2_000_000_000


@pytest.mark.parametrize("name", ["clip.csv", "clip.bvh"])
def test_lines_that_no_table_has(tmp_path, name):
    path = tmp_path / name
    path.write_text(("HIERARCHY\n" if name.endswith("bvh") else "") + "0.1," * 5_000_000)
    began = monotonic()
    with pytest.raises(hd.ClipError, match="has 20000000 characters, expected at most"):
        read_motion(path)
    assert monotonic() - began < 2.0
    check_lines(["0.1," * 1000] * 10)


@pytest.mark.parametrize(
    "content",
    [
        '{"Frames": ' + "[" * 100_000,
        '{"Frames": [[' + "9" * 10_000 + "]]}",
        '{"Frames": [[1e999]]}',
    ],
)
def test_clips_of_json_that_are_deep_or_huge(tmp_path, content):
    path = tmp_path / "clip.txt"
    path.write_text(content)
    with pytest.raises(hd.ClipError):
        read_motion(path)


@pytest.mark.parametrize("name", ["lz4", "zstd"])
def test_chunks_and_messages_of_bags_unpack_no_further_than_they_may(name, monkeypatch):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    from rosbags.rosbag2 import reader, storage_mcap

    bound_rosbags()
    bound_rosbags()
    pack = (
        __import__("lz4.frame", fromlist=["compress"]).compress
        if name == "lz4"
        else reader.zstd.compress
    )
    bomb, whole = pack(bytes(50_000_000)), pack(b"abc")
    unpack = storage_mcap.DECOMPRESSORS[name]
    assert unpack(whole, 3) == unpack(whole + whole, 6)[:3] == b"abc"
    with pytest.raises(ReadLimitError, match="a chunk has 101 bytes"):
        unpack(bomb, 100)  # declares little
    with pytest.raises(ReadLimitError, match="a chunk has 9000000000 bytes"):
        unpack(bomb, 9_000_000_000)  # declares much
    with pytest.raises(EOFError):
        unpack(whole[:-1], 3)
    if name == "zstd":
        monkeypatch.setenv(LIMIT_VARIABLE, "1")
        assert reader.zstd.decompress(whole) == b"abc"
        with pytest.raises(ReadLimitError, match="a message has 1000001 bytes"):
            reader.zstd.decompress(bomb)


def test_compressed_bags_that_are_whole_are_read_as_before(tmp_path, monkeypatch):
    pytest.importorskip("rosbags", reason="rosbags is not installed")
    from humanoid_dynamics.series.bag_file import BagFile
    from humanoid_dynamics.series.bag_reader import read_bag

    bag = BagFile(tmp_path / "run.mcap")
    raw = b"\x00\x01\x00\x00" + struct.pack("<I", 6) + b"hello\x00"
    connection = bag.connect("/text", "std_msgs/msg/String")
    for stamp in range(1, 40):
        bag.write(connection, stamp, raw)
    bag.close()
    assert len(read_bag(tmp_path / "run.mcap").messages["/text"]) == 39
    monkeypatch.setenv(LIMIT_VARIABLE, "0.0001")
    with pytest.raises(RecordError, match="expected at most"):
        read_bag(tmp_path / "run.mcap")


def test_macros_that_compute_without_end_are_stopped(tmp_path):
    pytest.importorskip("xacro", reason="xacro is not installed")
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(XACRO + '<link name="l${x}"/></robot>')
    with pytest.raises(
        SourceError,
        match=r"exceeded 1.2 s of processor time; HUMANOID_DYNAMICS_XACRO_SECONDS|more memory",
    ):
        hd.load_robot(path)


def test_inflating_stops_at_the_limit():
    import bz2

    packed = bz2.compress(bytes(1000))
    assert inflate(bz2.BZ2Decompressor, packed + packed, "it", 2000) == bytes(2000)
    with pytest.raises(ReadLimitError):
        inflate(bz2.BZ2Decompressor, packed + packed, "it", 1999)
