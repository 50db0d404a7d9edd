# SPDX-License-Identifier: Apache-2.0
"""Xacro files: what they are for works, and what they could be abused for does not."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest
from small_urdf import LIMIT, joint, link, nothing_happens, quick

from humanoid_dynamics.errors import SourceError, UrdfError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.reading import xacro_file

pytest.importorskip("xacro")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def write(tmp_path):
    def write(body, name="robot.urdf.xacro"):
        path = tmp_path / name
        path.write_text(f"{HEAD}{body}</robot>")
        return path

    return write


def masses(robot):
    return [robot.model.inertias[i].mass for i in range(1, robot.model.njoints)]


def test_arguments_properties_macros_and_includes(write, tmp_path):
    write('<xacro:property name="heavy" value="${2 * 3.5}"/>', "parts.xacro")
    (tmp_path / "sizes.yaml").write_text("arm: {mass: 1.5}\n")
    path = write(
        '<xacro:include filename="parts.xacro"/><xacro:arg name="side" default="left"/>'
        '<xacro:property name="sizes" value="${xacro.load_yaml(\'sizes.yaml\')}"/>'
        '<xacro:macro name="limb" params="name mass">'
        + link("${name}", mass="${mass}")
        + "</xacro:macro>"
        '<xacro:limb name="base" mass="${heavy}"/><xacro:limb name="$(arg side)_arm" mass="${sizes.arm.mass}"/>'
        '<xacro:if value="${sum([x for x in range(3)]) == 3 if False else True}">'
        + joint("j", "base", "$(arg side)_arm", origin="${cos(0)} ${sin(pi / 2)} 0")
        + "</xacro:if>"
    )
    found = load_robot(path)
    assert found.links == ("base", "left_arm")
    assert masses(found) == [7.0, 1.5]
    assert found.model.jointPlacements[2].translation.tolist() == [1.0, 1.0, 0.0]
    assert load_robot(path, xacro_arguments={"side": "right"}).links == ("base", "right_arm")


def test_yaml_beside_a_xacro_file(write, tmp_path):
    (tmp_path / "robot.yaml").write_text("root: fixed\n")
    assert load_robot(write(link("base"))).root == "fixed"


def test_errors_in_the_expanded_text_say_so(write):
    with pytest.raises(
        UrdfError, match=r"robot\.urdf\.xacro \(expanded\):\d+: link 'base': negative mass -1 kg"
    ):
        load_robot(write(link("base", mass="${1 - 2}")))


def test_macros_in_plain_text_are_told_apart(tmp_path):
    text = f'{HEAD}<xacro:property name="m" value="1"/>{link("base")}</robot>'
    with pytest.raises(
        UrdfError,
        match=r"holds xacro macros that were not expanded; a xacro file is read by its ending \.xacro",
    ):
        load_robot(text)
    assert load_robot(f"{HEAD}{link('base')}</robot>").nv == 6
    looks = "<visual><geometry><sphere radius='1'/></geometry><xacro:grey/></visual>"
    assert load_robot(f"{HEAD}{link('base').replace('</link>', looks + '</link>')}</robot>").nv == 6


def test_packages_of_no_workspace(write, monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(
        SourceError,
        match=r"it names a package by \$\(find \.\.\.\), and no ROS workspace is sourced",
    ):
        load_robot(write('<xacro:include filename="$(find nobody)/x.xacro"/>'))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("${nobody}", "name 'nobody' is not defined"),
        ("${1 +}", "invalid syntax"),
        ("${1 / 0}", "division by zero"),
        ("${xacro.fatal('no such arm')}", "no such arm"),
        ("$(arg side)", "Undefined substitution argument"),
        ('<xacro:limb name="x"/>', "unknown macro name: xacro:limb"),
        ('<xacro:include filename="/etc/passwd"/>', "syntax error|not well-formed"),
        ('<xacro:include filename="nobody.xacro"/>', "No such file"),
        ('<xacro:include filename="http://localhost:1/x.xacro"/>', "No such file"),
        ('<xacro:include filename="robot.urdf.xacro"/>', "never ends|[Rr]ecursion"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "never ends|[Rr]ecursion"),
        ('<xacro:property name="a" value="${a}"/>${a}', "circular variable definition|never ends"),
        ("<a><b></a>", "mismatched tag"),
        ("${'a' * 10**10}", "it needs more memory than a robot may"),
        ("${(lambda f: f(f))(lambda f: f(f))}", "never ends|[Rr]ecursion"),
    ],
)
def test_what_goes_wrong_is_one_error(write, body, words):
    path = write(body)
    with (
        quick(3.0),
        nothing_happened_but_the_macro(),
        pytest.raises(SourceError, match=words) as caught,
    ):
        load_robot(path)
    assert str(caught.value).startswith(f"{path}: xacro cannot expand it: ")
    assert "\n" not in str(caught.value)


def nothing_happened_but_the_macro():
    return nothing_happens(but=("subprocess.Popen",))


WRAP = "[c for c in [].__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0].__init__.__globals__"


def hidden(expression):
    """Return an expression on the globals g of a module, where xacro does not look: inside a function."""
    return f"${{(lambda: [{expression} for g in [{WRAP}]])()}}"


ESCAPES = {
    "import": "${__import__('os').system('touch WITNESS')}",
    "lambda": f"${{(lambda: {WRAP}['system']('touch WITNESS'))()}}",
    "comprehension": f"${{[{WRAP}['system']('touch WITNESS') for k in [0]]}}",
    "vars": "${[c for c in python.vars(python.type)['__subclasses__'](python.type.mro(list)[1])][0]}",
    "open": hidden("g['__builtins__']['open']('WITNESS', 'w')"),
    "spawn": hidden(
        "g['sys'].modules['os'].posix_spawn('/bin/touch', ['touch', 'WITNESS'], dict())"
    ),
    "write": hidden("g['sys'].modules['os'].open('WITNESS', 65)"),
    "socket": hidden(
        "g['__builtins__']['__import__']('socket').create_connection(('localhost', 1))"
    ),
    "truncate": hidden("g['sys'].modules['os'].open('KEPT', 512)"),
    "rename": hidden(
        "[g['__builtins__'].update(isinstance=lambda *a: True), g['system']('touch WITNESS')]"
    ),
    "undo": hidden(
        "[g['__builtins__']['setattr'](g['sys'].modules['__main__'], 'refuse', len), g['system']('touch WITNESS')]"
    ),
    "code": hidden(
        "g['sys'].modules['__main__'].refuse.__setattr__('__code__', (lambda a, b: None).__code__)"
    ),
    "limits": hidden("g['sys'].modules['resource'].setrlimit(0, (99, 99))"),
    "eval import": "$(eval __import__('os').system('touch WITNESS'))",
    "eval frame": "$(eval [g for g in [(x.gi_frame.f_back.f_back.f_globals for x in [0])]])",
    "find": "$(find ../../../../etc)/passwd",
}


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes_do_nothing(write, tmp_path, escape, monkeypatch):
    witness, kept = tmp_path / "witness", tmp_path / "kept"
    kept.write_text("kept")
    monkeypatch.chdir(tmp_path)
    path = write(
        ESCAPES[escape]
        .replace("WITNESS", str(witness))
        .replace("KEPT", str(kept))
        .replace('"', "&quot;")
        + link("base")
    )
    with quick(3.0), suppress(SourceError):
        load_robot(path)
    assert not witness.exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["kept", path.name]
    assert kept.read_text() == "kept"


@pytest.mark.parametrize(
    "escape",
    ["lambda", "open", "spawn", "write", "socket", "truncate", "rename", "undo", "code", "limits"],
)
def test_escapes_that_reach_python_are_stopped_at_what_they_do(write, tmp_path, escape):
    path = write(ESCAPES[escape].replace("WITNESS", str(tmp_path / "witness")))
    refused = "received a macro that attempts (os.system|open|os.posix_spawn|import|object.__setattr__|resource.setrlimit), expected computations"
    with pytest.raises(SourceError, match=f"{refused}|xacro ended with exit status 1"):
        load_robot(path)


def test_the_attacks_are_real(write, tmp_path):
    """Xacro alone falls for one of them, so the process it runs in is no ornament."""
    for escape in ("lambda", "comprehension"):
        path = write(ESCAPES[escape].replace("WITNESS", str(tmp_path / "witness")))
        subprocess.run(
            [sys.executable, "-c", f"import xacro; xacro.process_file({str(path)!r})"],
            check=False,
            capture_output=True,
        )
    if not (tmp_path / "witness").exists():
        pytest.skip("this xacro is not fooled any more")


def test_endless_computing_is_cut_off(write, monkeypatch):
    monkeypatch.setattr(xacro_file, "LONGEST", 1)
    with quick(5.0), pytest.raises(SourceError, match="xacro exceeded"):
        load_robot(write("${[0 for a in range(10**6) for b in range(10**6)][0]}"))


def test_a_process_that_breaks_off_says_why(write, monkeypatch):
    monkeypatch.setattr(xacro_file.sys, "executable", "/bin/false")
    with pytest.raises(SourceError, match=r"robot\.urdf\.xacro: xacro ended"):
        load_robot(write(""))


def test_a_pipe_that_never_fills_is_cut_off(write, monkeypatch, tmp_path):
    os.mkfifo(tmp_path / "pipe.xacro")
    monkeypatch.setattr(xacro_file, "LONGEST", 1)
    with quick(5.0), pytest.raises(SourceError, match="xacro exceeded 2 s"):
        load_robot(write('<xacro:include filename="pipe.xacro"/>'))


def test_the_file_has_a_largest_size(tmp_path):
    path = tmp_path / "big.xacro"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    with quick(), pytest.raises(SourceError, match="has 100 MB"):
        load_robot(path)


def test_without_xacro_the_package_is_named(write, monkeypatch):
    monkeypatch.setattr(xacro_file, "find_spec", lambda name: None)
    with pytest.raises(
        SourceError,
        match=r"robot\.urdf\.xacro: reading it requires the package xacro: pip install xacro",
    ):
        load_robot(write(link("base")))


def test_what_macros_print_stays_away(write, capfd):
    load_robot(
        write(
            "${xacro.warning('beware')}${xacro.message('hello')}"
            + link("base")
            + link("arm")
            + joint("j", "base", "arm", inside=LIMIT)
        )
    )
    assert capfd.readouterr() == ("", "")
