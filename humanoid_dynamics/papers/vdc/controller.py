# SPDX-License-Identifier: Apache-2.0
"""Adaptive control by subsystems: required velocities outward, wrenches inward, parameters link by link [BP, remark 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from traceback import format_exception_only
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_dynamics.errors import HumanoidDynamicsError, ShapeError
from humanoid_dynamics.model.state import State
from humanoid_dynamics.papers.vdc.adaptation import ParameterBounds, update_parameters
from humanoid_dynamics.papers.vdc.adaptive_gains import AdaptiveGains, check_array, check_gains
from humanoid_dynamics.papers.vdc.decomposition import Decomposition
from humanoid_dynamics.papers.vdc.inverse import NO_CONTACTS, SubsystemAnswer
from humanoid_dynamics.papers.vdc.joint import JOINT_PARAMETERS, build_joint_regressor
from humanoid_dynamics.papers.vdc.motion import (
    FrameFinder,
    Frames,
    LinkMotion,
    compute_link_motion,
    compute_required_motion,
)
from humanoid_dynamics.papers.vdc.regressor import build_local_regressors
from humanoid_dynamics.papers.vdc.wrench import compute_cut_wrenches, compute_loads, shift_contacts
from humanoid_dynamics.spatial.arrays import Matrix, Vector, check_vector, read_only
from humanoid_dynamics.spatial.records import Sealed
from humanoid_dynamics.status import StatusEnum

Contacts: TypeAlias = Mapping[str, ArrayLike] | Callable[[SubsystemAnswer], Mapping[str, ArrayLike]]
"""Required contact wrenches, or who chooses them from the required wrenches of the robot without contacts."""


@dataclass(frozen=True, eq=False)
class Desired(Sealed):
    """What is to be tracked at one instant.

    Attributes:
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
    """

    q: Vector
    v: Vector
    a: Vector


class AdaptationStatus(StatusEnum):
    """Whether torques of the adaptive controller follow from its input."""

    OK = "OK", "torques track the motion and the estimates are updated"
    INVALID_INPUT = (
        "INVALID_INPUT",
        "an argument was rejected or too large; torques are zero and the estimates stay",
    )


@dataclass(frozen=True, eq=False)
class AdaptiveAnswer(Sealed):
    """What the controller sends, and what it thinks.

    Attributes:
        tau: (nv,) motor torques; rows no motor drives hold what contacts would have to give in addition [N·m or N].
        link_parameters: (n, 10) estimates the torques were made with.
        joint_parameters: (nv, 5) the same of the joints.
        missing_power: (V_r - V)'K(V_r - V) summed over links, the rate at which the error is worked off [W].
        status: ``OK``, or ``INVALID_INPUT`` where a number, size, quaternion or contact made no sense, or numbers are too large to compute
            with: torques are then zero and nothing is learnt.
        reason: What made no sense; empty where all did.
    """

    tau: Vector
    link_parameters: Matrix
    joint_parameters: Matrix
    missing_power: float
    status: AdaptationStatus = AdaptationStatus.OK
    reason: str = ""


class AdaptiveController:
    """Tracks a motion of a robot whose masses are known only within bounds; owns the estimates."""

    def __init__(
        self,
        decomposition: Decomposition,
        gains: AdaptiveGains,
        link_bounds: ParameterBounds,
        joint_bounds: ParameterBounds | None = None,
        link_parameters: Matrix | None = None,
    ) -> None:
        """Prepare; the estimates start at the parameters of the robot, or at others, moved into their bounds.

        Args:
            decomposition: The robot, cut.
            gains: Of tracking and learning.
            link_bounds: (n, 10) bounds of the link parameters.
            joint_bounds: (nv, 5) bounds of the joint parameters; known exactly where None.
            link_parameters: (n, 10) first guess; that of the robot where None.

        Raises:
            ShapeError: If gains, bounds or the first guess do not fit the robot.
        """
        self._body = decomposition
        self._model = decomposition.robot.model
        self._frames = FrameFinder(decomposition)
        self._gains = check_gains(gains, len(decomposition.links), decomposition.robot.nv)
        joints = decomposition.joint_parameters.as_matrix()
        self._link_bounds = link_bounds
        self._joint_bounds = (
            ParameterBounds(joints, joints) if joint_bounds is None else joint_bounds
        )
        self._check_bounds()
        known = decomposition.link_parameters()
        first = (
            known
            if link_parameters is None
            else check_array("link_parameters", link_parameters, known.shape)
        )
        self._links = np.clip(first, self._link_bounds.lower, self._link_bounds.upper)
        self._joints = np.clip(joints, self._joint_bounds.lower, self._joint_bounds.upper)

    def _check_bounds(self) -> None:
        for field, bounds, expected in (
            ("link_bounds", self._link_bounds, (len(self._body.links), 10)),
            ("joint_bounds", self._joint_bounds, (self._body.robot.nv, len(JOINT_PARAMETERS))),
        ):
            if not isinstance(bounds, ParameterBounds):
                raise ShapeError(field, type(bounds).__name__, ParameterBounds.__name__)
            if bounds.lower.shape != expected:
                raise ShapeError(field, f"shape {bounds.lower.shape}", f"{expected}")

    @property
    def link_parameters(self) -> Matrix:
        """Estimates of the link parameters, (n, 10), in the order of ``LINK_PARAMETERS``."""
        return read_only(self._links)

    def tick(
        self, q: Vector, v: Vector, desired: Desired, dt: float, contacts: Contacts = NO_CONTACTS
    ) -> AdaptiveAnswer:
        """Send torques for one instant, then learn for the time until the next; input that makes no sense is a status, no exception.

        Args:
            q: (nq,) measured configuration.
            v: (nv,) measured velocity.
            desired: What is to be tracked.
            dt: Time until the next tick, not negative [s].
            contacts: Required contact wrenches, as in ``solve_subsystems``; or a function that finds them from the required wrenches of
                the robot without contacts, such as one that shares between two feet what ``build_double_support`` leaves open.

        Returns:
            Torques and estimates.
        """
        try:
            with np.errstate(all="ignore"):
                state, goal, step = self._check(q, v, desired, dt)
                answer, links, joints = self._answer(state, goal, step, contacts)
        except HumanoidDynamicsError as fault:
            return self._refuse(str(fault))
        except Exception as fault:  # noqa: BLE001 - what a caller hands over may raise anything at all, and a robot is running
            return self._refuse(
                f"the arguments, or the function that chooses contacts, raised {format_exception_only(fault)[-1].strip()}"
            )
        if not all(
            np.isfinite(values).all()
            for values in (answer.tau, answer.missing_power, links, joints)
        ):
            return self._refuse("values are too large for computation")
        self._links, self._joints = links, joints
        return answer

    def _check(
        self, q: Vector, v: Vector, desired: Desired, dt: float
    ) -> tuple[State, Desired, float]:
        """Return what came in as numbers of the right sizes."""
        robot = self._body.robot
        state = State(check_vector("q", q, robot.nq), check_vector("v", v, robot.nv)).check(robot)
        if not isinstance(desired, Desired):
            raise ShapeError("desired", type(desired).__name__, Desired.__name__)
        q_d, v_d = (
            check_vector("desired.q", desired.q, robot.nq),
            check_vector("desired.v", desired.v, robot.nv),
        )
        goal = Desired(
            State(q_d, v_d).check(robot).q, v_d, check_vector("desired.a", desired.a, robot.nv)
        )
        step = float(check_vector("dt", [dt], 1)[0])
        if not step >= 0.0:
            raise ShapeError("dt", f"{step} s", "a time that is not negative")
        return state, goal, step

    def _refuse(self, reason: str) -> AdaptiveAnswer:
        nothing = read_only(np.zeros(self._model.nv))
        return AdaptiveAnswer(
            nothing,
            read_only(self._links),
            read_only(self._joints),
            0.0,
            AdaptationStatus.INVALID_INPUT,
            reason,
        )

    def _answer(
        self, state: State, desired: Desired, dt: float, contacts: Contacts
    ) -> tuple[AdaptiveAnswer, Matrix, Matrix]:
        """Return the answer, and the estimates of links and joints for the next tick."""
        body, gains, q, v = self._body, self._gains, state.q, state.v
        v_r, a_r = self._require(q, v, desired)
        frames = self._frames.at(q)
        motion = compute_link_motion(body, frames, v, np.zeros_like(v))
        required = compute_required_motion(body, frames, v, v_r, a_r)
        error, rate_error = required.V - motion.V, v_r - v
        Y = build_local_regressors(body, frames, motion, required)
        Y_joint = build_joint_regressor(body.joint_parameters, v, v_r, a_r)
        net = (Y @ self._links[..., None])[..., 0] + gains.link * error
        own = np.sum(Y_joint * self._joints, axis=1) + gains.joint * rate_error
        tau = own + self._compute_loads(frames, required, net, contacts)
        power = float(np.sum(gains.link * error**2) + gains.joint @ rate_error**2)
        answer = AdaptiveAnswer(
            read_only(tau), read_only(self._links), read_only(self._joints), power
        )
        links = update_parameters(
            self._links,
            np.einsum("nij,ni->nj", Y, error),
            gains.link_learning,
            self._link_bounds,
            dt,
        )
        drive = Y_joint * rate_error[:, None]
        return (
            answer,
            links,
            update_parameters(self._joints, drive, gains.joint_learning, self._joint_bounds, dt),
        )

    def _compute_loads(
        self, frames: Frames, required: LinkMotion, net: Matrix, contacts: Contacts
    ) -> Vector:
        """Return z'f_r of all joints, after contacts have taken their part."""
        body = self._body
        f = compute_cut_wrenches(body, frames, net)
        loads = compute_loads(body, frames, f)
        with np.errstate():  # what a function sets there ends with it
            chosen = (
                contacts(SubsystemAnswer(body, frames, required, net, f, loads))
                if callable(contacts)
                else contacts
            )
        if not isinstance(chosen, Mapping) or not all(isinstance(name, str) for name in chosen):
            raise ShapeError(
                "contacts", f"{type(chosen).__name__} {chosen!r:.60}", "a wrench for each name"
            )
        if not chosen:
            return loads
        return compute_loads(
            body,
            frames,
            compute_cut_wrenches(body, frames, net, shift_contacts(body, frames, chosen)),
        )

    def _require(self, q: Vector, v: Vector, desired: Desired) -> tuple[Vector, Vector]:
        """Return v_r = v_d + Lambda (q_d - q) and its derivative; the difference lives in the tangent space at q."""
        model, gain = self._model, self._gains.tracking
        difference = pin.difference(model, q, desired.q)
        at_q, at_q_d = pin.dDifference(model, q, desired.q)
        return desired.v + gain * difference, desired.a + gain * (at_q @ v + at_q_d @ desired.v)
