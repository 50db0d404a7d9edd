# SPDX-License-Identifier: Apache-2.0
"""Corrections of the filter: contacts from a joint sample, and measured poses."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_dynamics.estimation import contact_kernels, kernels
from humanoid_dynamics.estimation.kinematics import ImuFrameModel
from humanoid_dynamics.estimation.record import CLOSED, HISTORY, LOAD, MEASURED, EstimatorState
from humanoid_dynamics.estimation.settings import EstimatorSettings, EstimatorStatus
from humanoid_dynamics.estimation.start import place_in_world
from humanoid_dynamics.spatial.arrays import Matrix, Vector
from humanoid_dynamics.spatial.compiling import compile_kernel

Deviations = tuple[float | None, float | None]


class Correction:
    """Applies joint samples and poses to the state of an estimator.

    Attributes:
        body: The robot in the frame of its IMU.
        state: The state, changed in place.
        settings: Settings.
    """

    def __init__(
        self, body: ImuFrameModel, state: EstimatorState, settings: EstimatorSettings
    ) -> None:
        self.body, self.state, self.settings = body, state, settings
        self._estimate_wrenches = compile_kernel(contact_kernels.estimate_wrenches)
        self._correct_with_contacts = compile_kernel(contact_kernels.correct_with_contacts)
        self._correct_if_still = compile_kernel(kernels.correct_if_still)
        self._correct_pose = compile_kernel(kernels.correct_pose)
        s = settings
        self._cues = (
            s.contact_force,
            s.contact_force_spread,
            s.lift_height,
            s.lift_spread,
            s.lift_evidence,
            s.schedule_evidence,
            s.close_probability,
            s.open_probability,
        )
        self._stillness = np.array(
            [
                s.still_rate,
                s.still_acceleration,
                s.still_joint,
                s.still_filter,
                s.still_duration,
                (s.still_noise_factor * s.gyro_noise) ** 2,
                s.still_noise**2,
            ]
        )
        self._motion = np.concatenate((self._stillness[:5], [np.inf, np.inf]))
        self._noise = (
            s.edge_height,
            s.contact_scale,
            s.contact_noise**2,
            s.full_load * body.mass * s.gravity,
            s.turn_scale,
            s.turn_noise**2,
            s.flat_height,
            math.nan if s.floor_height is None else float(s.floor_height),
            s.height_scale,
            s.height_noise**2,
            s.slip_filter,
            s.least_probability,
            s.roll_scale,
        )

    def use_joints(self, t: float, q: Vector, v: Vector, tau: Vector | None) -> EstimatorStatus:
        """Estimate the contacts from a joint sample, and correct the filter with them."""
        state, body = self.state, self.body
        back = self._find_past(t)
        if back is None:
            return EstimatorStatus.STAMP_IN_PAST
        row = (state.newest - back) % HISTORY
        dt = t - state.times.get("joints", -math.inf)
        dt = dt if 0.0 < dt < self.settings.longest_gap else 0.0
        frozen = self._is_frozen(t, q, v, row)
        body.update(q, v, state.history_gyro[row] - state.X[5])
        self._estimate_loads(t, tau, state.history_acc[row] - state.X[6], dt)
        self._correct_with_contacts(
            state.X,
            state.P,
            state.history,
            state.newest,
            back,
            body.R,
            body.p,
            body.twists,
            body.corners,
            body.counts,
            state.contacts,
            state.points,
            0.0 if frozen or not state.started else dt,
            self._cues,
            self._noise,
        )
        if state.started and dt > 0.0:
            self._check_stillness(t, row, back, dt)
        state.q[:], state.v[:], state.times["joints"] = body.q, body.v, t
        self._fix_height()
        return EstimatorStatus.JOINTS_FROZEN if frozen else EstimatorStatus.ACCEPTED

    def use_pose(
        self, t: float, position: Vector, R_WB: Matrix | None, deviations: Deviations
    ) -> EstimatorStatus:
        """Correct the filter with a pose of the base; the first one sets place and heading."""
        state, s, body = self.state, self.settings, self.body
        back = self._find_past(t)
        if back is None:
            return EstimatorStatus.STAMP_IN_PAST
        then = state.history[(state.newest - back) % HISTORY]
        estimated = then[:3] @ body.X_BI.rotation.T
        X_WI = pin.SE3(estimated if R_WB is None else R_WB, position) * body.X_BI
        turn = pin.log3(X_WI.rotation @ then[:3].T)
        place_deviation = s.pose_deviation if deviations[0] is None else deviations[0]
        turn_deviation = s.pose_turn_deviation if deviations[1] is None else deviations[1]
        if not state.aligned:
            place_in_world(state, X_WI, float(turn[2]), (place_deviation, turn_deviation))
            return EstimatorStatus.ACCEPTED
        noise = np.array(
            [place_deviation**2, math.inf if R_WB is None else turn_deviation**2, s.pose_scale]
        )
        weight = self._correct_pose(
            state.X, state.P, state.history, state.newest, back, X_WI.translation, turn, noise
        )
        return (
            EstimatorStatus.POSE_OUTLIER if weight < s.outlier_weight else EstimatorStatus.ACCEPTED
        )

    def _check_stillness(self, t: float, row: int, back: int, dt: float) -> None:
        """Correct the filter with zero velocity and rate where IMU and joints have been constant for a while."""
        state, s = self.state, self.settings
        gyro, acc = state.history_gyro[row], state.history_acc[row]
        if not math.isfinite(state.moved):
            state.means[:] = np.concatenate((gyro, acc, self.body.q[7:]))
            state.moved = t
        limits = self._stillness if t - state.moved > s.still_duration else self._motion
        moves = self._correct_if_still(
            state.X,
            state.P,
            state.history,
            state.newest,
            back,
            gyro,
            acc,
            self.body.q,
            state.means,
            dt,
            limits,
        )
        if moves:
            state.moved = t

    def _find_past(self, t: float) -> int | None:
        """Return how many IMU samples ago a time is, or None where it is before all of them."""
        times, newest = self.state.history_times, self.state.newest
        for back in range(HISTORY):
            if times[newest - back] <= t:
                return back
        return None

    def _is_frozen(self, t: float, q: Vector, v: Vector, row: int) -> bool:
        """Return whether joint values have been constant for long while the IMU turns."""
        state, s = self.state, self.settings
        same = q[0] == state.q[7] and bool((q == state.q[7:]).all() and (v == state.v[6:]).all())
        rate = state.history_gyro[row] - state.X[5]
        if not same or float(rate @ rate) < s.frozen_rate**2:
            state.same_since = t
        return t - state.same_since > s.frozen

    def _estimate_loads(self, t: float, tau: Vector | None, acc: Vector, dt: float) -> None:
        """Estimate the contact wrenches; measured normal forces take their place where they are recent."""
        state, body, s = self.state, self.body, self.settings
        self._estimate_wrenches(
            *body.dynamics(acc),
            body.v,
            body.generalized_force(tau),
            state.momentum,
            state.residual,
            s.observer_gain,
            dt,
            body.J,
            body.weights[1 if tau is None else 0],
            body.prior,
            state.wrenches,
        )
        state.contacts[:, LOAD] = state.wrenches[:, 2]
        for i, name in enumerate(body.names):
            if name in state.times and abs(t - state.times[name]) < s.stale:
                state.contacts[i, LOAD] = state.contacts[i, MEASURED]

    def _fix_height(self) -> None:
        """Set the height of the world at the first touch-down, where no place was given.

        Until then the lowest point of all contacts at the start counts as the floor.
        """
        state = self.state
        if state.height_known or not state.started:
            return
        closed = state.contacts[:, CLOSED] > 0.0
        if closed.any() or not state.height_guessed:
            points = state.points[closed] if closed.any() else state.points
            heights = points @ state.X[2] + state.X[4, 2]
            lift = (self.settings.floor_height or 0.0) - float(heights.min())
            state.X[4, 2] += lift
            state.history[:, 4, 2] += lift
            state.height_guessed, state.height_known = True, bool(closed.any())
