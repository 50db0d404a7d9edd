# SPDX-License-Identifier: Apache-2.0
"""Whatever the file holds, the answer is a robot or one of our errors."""

import string
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_urdf import LIMIT, described, joint, link, robot

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading.description_file import (
    KEYS,
    PARALLEL_KEYS,
    load_description,
    read_description,
)
from humanoid_dynamics.model.robot import RobotModel

FEW = settings(
    max_examples=120,
    deadline=1000,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
SHAPE = '<visual><geometry><box size="1 2 3"/></geometry></visual><collision><geometry><mesh filename="a.stl"/></geometry></collision>'
TEXT = robot(
    link("base"),
    link("m1", ""),
    link("m2", ""),
    link("arm", None),
    link("hand", f'<inertial><origin xyz="0 0 1" rpy="1 0 0"/><mass value="1"/></inertial>{SHAPE}'),
    link("tip"),
    joint("x", "base", "m1", axis="1 0 0", origin="0 0 0"),
    joint("y", "m1", "m2", axis="0 1 0", origin="0 0 0"),
    joint("z", "m2", "arm", axis="0 0 1", origin="0 0 0"),
    joint("slide", "arm", "hand", "prismatic", LIMIT + '<dynamics damping="1" friction="2"/>'),
    joint("turn", "hand", "tip", "continuous", '<mimic joint="slide" multiplier="2" offset="1"/>'),
    '<spherical name="ball" joints="x y z"/>',
)
YAML = """
surfaces: {a: {link: arm, xyz: [0, 0, 1], polygon: [[0, 0], [1, 0], [0, 1]], friction: 0.5}}
posture: {slide: 0.1}
passive: [ball]
loops: {l: {kind: fixed, a: {link: base}, b: {link: tip, rpy: [1, 2, 3]}}}
armature: {slide: 1e-3}
closed_loop: [[arm, tip]]
"""
NUMBERS = ("nan", "inf", "-inf", "1e308", "1e11", "1e-320", "-1", "0", "-0", "1e400", "1 2")
WORDS = (
    *NUMBERS,
    "",
    "base",
    "arm",
    "x",
    "slide",
    "fixed",
    "floating",
    "planar",
    "\x00",
    "ü",
    "&amp;",
    "<",
    ">",
    '"',
    "true",
)


def load(text):
    with suppress(HumanoidDynamicsError):
        for mimic in ("constraint", "reduced"):
            found = load_robot(text, mimic=mimic)
            assert isinstance(found, RobotModel)
            assert found.model.check(found.data())


@st.composite
def broken(draw, text):
    """Cut, double, swap or replace pieces of a text, at its seams or anywhere."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 60)))
        piece = draw(
            st.sampled_from((*WORDS, text[start:stop] * 2, text[stop : stop + 40]))
            | st.text(max_size=8)
        )
        text = text[:start] + piece + text[stop:]
    return text


@st.composite
def revalued(draw, text):
    """Replace what stands between quotes, so that the XML stays well-formed."""
    parts = text.split('"')
    for _ in range(draw(st.integers(1, 3))):
        place = 2 * draw(st.integers(0, len(parts) // 2 - 1)) + 1
        parts[place] = draw(
            st.sampled_from([word for word in WORDS if not set(word) & set('<>"\x00')])
            | st.sampled_from(parts[1::2])
        )
    return '"'.join(parts)


@FEW
@given(broken(TEXT))
def test_broken_urdf(text):
    load(text)


@FEW
@given(revalued(TEXT))
def test_urdf_with_other_values(text):
    load(text)


@FEW
@given(st.permutations(TEXT.splitlines()[1:-1]), st.integers(0, 12))
def test_urdf_in_another_order_or_with_parts_missing(lines, missing):
    load("\n".join(['<robot name="x">', *lines[missing:], "</robot>"]))


@FEW
@given(st.text() | st.text(string.printable) | st.text().map("<{}".format))
def test_any_text(text):
    load(text)


@FEW
@given(
    st.binary(max_size=200) | broken(TEXT).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_file(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.urdf"
    path.write_bytes(content)
    load(path)


@FEW
@given(broken(YAML) | st.text())
def test_broken_yaml(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "fuzz.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(HumanoidDynamicsError):
        load_robot(TEXT, description=load_description(path))


INNER_KEYS = ("link", "xyz", "rpy", "polygon", "points", "friction", "kind", "a", "b", "x", "slide")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(INNER_KEYS) | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


@FEW
@given(st.dictionaries(st.sampled_from((*KEYS, *PARALLEL_KEYS)), VALUES, max_size=4))
def test_wrong_types_everywhere(content):
    with suppress(HumanoidDynamicsError):
        load_robot(TEXT, description=read_description(content, "fuzz"))


def test_what_is_mutated_is_a_robot():
    assert load_robot(TEXT, description=described(passive=["ball"])).nv == 11
