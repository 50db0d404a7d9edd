# SPDX-License-Identifier: Apache-2.0
"""The joint subsystem: friction dissipates, and is what the corrected equation says."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.papers.vdc.joint import (
    JointParameters,
    build_joint_regressor,
    compute_friction,
    compute_joint_torque,
)

RATES = np.concatenate((-np.logspace(-5, 2, 60), np.logspace(-5, 2, 60)))


def joints(count, k_c=2.0, k_v=0.5, k_s=1.0, eta=0.1, k_o=0.1, inertia=0.0):
    return JointParameters(*(np.full(count, value) for value in (inertia, k_c, k_v, k_s, eta, k_o)))


@pytest.mark.parametrize("shape", ["square", "absolute"])
def test_friction_takes_power(shape):
    friction = compute_friction(joints(RATES.size), RATES, shape) - 0.1
    assert (friction * RATES >= 0.0).all()
    assert np.abs(friction).max() < 2.0 + 1.0 + 0.5 * 100.0


@pytest.mark.parametrize("shape", ["square", "absolute"])
def test_friction_is_odd_but_for_the_offset(shape):
    there, back = (
        compute_friction(joints(RATES.size), rate, shape) - 0.1 for rate in (RATES, -RATES)
    )
    assert np.abs(there + back).max() < 1e-12


def test_at_rest_nothing_but_the_offset():
    assert compute_friction(joints(1), np.zeros(1))[0] == 0.1
    assert compute_friction(joints(1), np.zeros(1), smooth=0.0)[0] == 0.1


def test_regressor_times_parameters_is_the_torque():
    rng = np.random.default_rng(0)
    parameters = JointParameters(*rng.uniform(0.1, 1.0, size=(6, 9)))
    rate, acceleration = rng.normal(size=(2, 9))
    rows = build_joint_regressor(parameters, rate, rate, acceleration)
    torque = compute_joint_torque(parameters, rate, acceleration, np.zeros(9))
    assert np.abs(np.sum(rows * parameters.as_matrix(), axis=1) - torque).max() < 1e-14


def test_parameters_come_from_the_robot():
    inertial = '<inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/>'
    joint += '<dynamics friction="0.3" damping="0.2"/></joint>'
    text = f'<robot name="m"><link name="world"/><link name="a">{inertial}</link>{joint}</robot>'
    parameters = JointParameters.of(hd.load_robot(text), stribeck=0.7)
    assert (
        parameters.coulomb[0],
        parameters.viscous[0],
        parameters.stribeck[0],
        parameters.offset[0],
    ) == (0.3, 0.2, 0.7, 0.0)


def test_unknown_shape():
    with pytest.raises(
        UnknownNameError,
        match=r"no shape of the Stribeck term named 'linear'. Known: square, absolute",
    ):
        compute_friction(joints(1), np.ones(1), shape="linear")
