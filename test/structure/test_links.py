# SPDX-License-Identifier: Apache-2.0
"""Four pointers: visiting order, connection and cut, loops, chains of any length."""

import numpy as np
import pinocchio as pin
import pytest
from mechanisms import random_configuration, random_tree

from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.structure.links import Structure


def closure(name, a, b, kind="revolute"):
    return LoopClosure(name, kind, a, pin.SE3.Identity(), b, pin.SE3.Identity())


def figure_4():
    """Links 1 to 4 of the paper's figures: 1 hangs on the base, 2 and 3 on 1, 4 on 2."""
    return Structure(
        [
            ("link1", "world", "revolute"),
            ("link2", "link1", "revolute"),
            ("link3", "link1", "revolute"),
            ("link4", "link2", "revolute"),
        ]
    )


@pytest.mark.parametrize("seed", range(200))
def test_visiting_order_is_topological(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    tree = [
        (
            f"l{k}",
            "world" if k == 0 else ["world", *[f"l{j}" for j in range(k)]][rng.integers(k + 1)],
            "revolute",
        )
        for k in range(count)
    ]
    structure = Structure(tree)
    parents = {name: parent for name, parent, _ in tree}
    for order, before in ((list(structure.outward()), True), (list(structure.inward()), False)):
        place = {link.name: index for index, link in enumerate(order)}
        assert len(order) == len(place) == count + 1 == len(structure)
        assert all((place[parent] < place[name]) == before for name, parent in parents.items())
    for name, parent in parents.items():
        assert structure.link(name).parent is structure.link(parent)
        assert structure.link(name) in structure.link(parent).children


def test_visiting_starts_anywhere_and_stays_behind_it():
    names = [link.name for link in figure_4().outward(figure_4().link("world"))]
    assert names == ["world", "link1", "link2", "link4", "link3"]
    structure = figure_4()
    assert [link.name for link in structure.outward(structure.link("link2"))] == ["link2", "link4"]
    assert [link.name for link in structure.inward(structure.link("link2"))] == ["link4", "link2"]


def test_long_chains_do_not_end_in_a_recursion():
    count = 5000
    structure = Structure(
        [(f"l{k}", f"l{k - 1}" if k else "world", "revolute") for k in range(count)]
    )
    assert sum(1 for _ in structure.outward()) == count + 1
    assert next(iter(structure.inward())).name == f"l{count - 1}"
    structure.connect(closure("ring", f"l{count - 1}", "l0"))
    assert len(structure.around("ring")) == count


def test_connect_adds_one_virtual_link_and_nothing_else():
    structure = figure_4()
    before = {link.name: (link.parent, link.real) for link in structure.outward()}
    virtual = structure.connect(closure("link4v", "link4", "link3"))
    assert virtual.real is structure.link("link4")
    assert virtual.parent is structure.link("link3")
    assert structure.virtual == (virtual,)
    assert "parent=link3" in repr(virtual)
    after = {link.name: (link.parent, link.real) for link in structure.outward()}
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 1
    assert [link.name for link in structure.around("link4v")] == [
        "link3",
        "link1",
        "link2",
        "link4",
    ]


def test_cut_is_the_reverse():
    structure = figure_4()
    order = [link.name for link in structure.outward()]
    for name, a, b in (("a", "link4", "link3"), ("b", "link1", "world"), ("c", "link4", "world")):
        structure.connect(closure(name, a, b))
    for name in ("b", "a", "c"):
        assert structure.cut(name).name == name
    assert [link.name for link in structure.outward()] == order
    assert structure.loops == ()
    with pytest.raises(UnknownNameError, match="closed loop"):
        structure.cut("a")


def test_freeing_a_link_hangs_it_on_the_base():
    structure = figure_4()
    structure.connect(closure("link4v", "link4", "link3"))
    link = structure.free("link3")
    assert (link.parent, link.joint) == (structure.base, "free_flyer")
    assert {child.name for child in structure.base.children} == {"link1", "link3"}
    assert [child.name for child in structure.link("link1").children] == ["link2"]
    assert [child.name for child in link.children] == ["link4v"]
    for name, problem in (("world", "the base"), ("link4v", "virtual")):
        with pytest.raises(HumanoidDynamicsError, match=problem):
            structure.free(name)


def test_names_are_unique_and_known():
    structure = figure_4()
    with pytest.raises(HumanoidDynamicsError, match="exists already"):
        structure.connect(closure("link1", "link4", "link3"))
    with pytest.raises(UnknownNameError, match="link9"):
        structure.connect(closure("x", "link9", "link3"))
    with pytest.raises(HumanoidDynamicsError, match="exists already"):
        Structure([("a", "world", ""), ("a", "world", "")])


@pytest.mark.parametrize("seed", range(20))
def test_passes_over_the_pointers_equal_pinocchio(seed):
    """Kinematics outward, Newton-Euler forces inward, along nothing but the pointers."""
    rng = np.random.default_rng(seed)
    robot = random_tree(rng)
    model, data = robot.model, robot.data()
    q, v, a = random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    index = {joint.child: joint.index for joint in robot.joints}
    structure = Structure.of(robot)
    X, V, A, F = (
        {"world": pin.SE3.Identity()},
        {"world": pin.Motion.Zero()},
        {"world": -model.gravity},
        {},
    )
    work = {}
    for link in structure.outward():
        if link is structure.base:
            continue
        k, parent = index[link.name], link.parent.name
        joint = model.joints[k]
        work[link.name] = part = joint.createData()
        joint.calc(part, q, v)
        S, here = part.S, slice(joint.idx_v, joint.idx_v + joint.nv)
        S = np.asarray(S).reshape(6, joint.nv)
        X_PL = model.jointPlacements[k] * part.M
        X[link.name] = X[parent] * X_PL
        rate = pin.Motion(S @ v[here])
        V[link.name] = X_PL.actInv(V[parent]) + rate
        A[link.name] = X_PL.actInv(A[parent]) + pin.Motion(S @ a[here]) + V[link.name].cross(rate)
        inertia = model.inertias[k]
        F[link.name] = inertia * A[link.name] + V[link.name].cross(inertia * V[link.name])
    tau = np.zeros(model.nv)
    for link in structure.inward():
        if link is structure.base:
            continue
        joint, S = model.joints[index[link.name]], np.asarray(work[link.name].S)
        tau[joint.idx_v : joint.idx_v + joint.nv] = S.reshape(6, joint.nv).T @ F[link.name].vector
        if link.parent is not structure.base:
            F[link.parent.name] += (
                model.jointPlacements[index[link.name]] * work[link.name].M
            ).act(F[link.name])
    expected = pin.rnea(model, data, q, v, a)
    np.testing.assert_allclose(tau, expected, atol=1e-11 * (1 + np.abs(expected).max()))
    for name, k in index.items():
        pin.forwardKinematics(model, data, q)
        np.testing.assert_allclose(X[name].homogeneous, data.oMi[k].homogeneous, atol=1e-11)
