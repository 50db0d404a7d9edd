# SPDX-License-Identifier: Apache-2.0
"""Thermal model: closed forms of steady state and heating, time to limit, bad input."""

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.estimation import MotorData, ThermalModel

LIMITS = np.array([88.0, 139.0, 50.0])


@pytest.fixture
def model() -> ThermalModel:
    return ThermalModel(MotorData.from_torque_limits(LIMITS))


def test_continuous_torque_ends_at_the_limit(model: ThermalModel) -> None:
    model.update(0.3 * LIMITS, 20000.0)
    np.testing.assert_allclose(model.winding, 120.0, atol=0.1)
    assert model.find_share() == pytest.approx(np.ones(3), abs=1e-3)


def test_time_to_limit_is_reached_with_constant_loss() -> None:
    data = MotorData(np.ones(1), winding_resistance=1.0, housing_resistance=2.0)
    model = ThermalModel(data)
    tau = np.array([8.0])
    (expected,) = model.find_time_to_limit(tau)
    loss = float(data.compute_loss(tau, model.winding)[0])
    warm, housing, dt, t = 25.0, 25.0, 0.01, 0.0
    while warm < 120.0:
        flow = (warm - housing) / 1.0
        warm, housing = (
            warm + dt * (loss - flow) / 40.0,
            housing + dt * (flow - (housing - 25.0) / 2.0) / 350.0,
        )
        t += dt
    assert expected == pytest.approx(t, rel=2e-3)


def test_small_torques_never_reach_the_limit(model: ThermalModel) -> None:
    assert np.isinf(model.find_time_to_limit(0.1 * LIMITS)).all()
    model.reset(130.0)
    assert (model.find_time_to_limit(0.1 * LIMITS) == 0.0).all()


def test_steps_of_any_size_agree(model: ThermalModel) -> None:
    for _ in range(1000):
        model.update(0.5 * LIMITS, 0.01)
    fine = model.winding.copy()
    model.reset()
    model.update(0.5 * LIMITS, 10.0)
    np.testing.assert_allclose(model.winding, fine, rtol=2e-3)


def test_measured_temperatures_replace_estimates_and_bad_torques_do_not_count(
    model: ThermalModel,
) -> None:
    model.update(np.array([np.nan, np.inf, 1.0]), 0.1)
    assert np.isfinite(model.winding).all()
    model.update(np.zeros(3), 0.1, measured=np.array([80.0, np.nan, np.nan]))
    assert model.winding[0] == 80.0
    assert np.isfinite(model.winding).all()


def test_impossible_motor_data_are_refused() -> None:
    with pytest.raises(hd.ShapeError, match="positive"):
        ThermalModel(MotorData(np.zeros(2)))
