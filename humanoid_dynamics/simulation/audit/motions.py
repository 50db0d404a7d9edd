# SPDX-License-Identifier: Apache-2.0
"""Motions with an exact answer, run in the world: what the audit prints, and what tests run with other masses, sizes and frictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from scipy.integrate import quad

from humanoid_dynamics.errors import ShapeError
from humanoid_dynamics.model.load import load_robot
from humanoid_dynamics.model.loop import LoopClosure
from humanoid_dynamics.model.state import State
from humanoid_dynamics.simulation.audit.edge import check_edge
from humanoid_dynamics.simulation.audit.setting import (
    GRAVITY,
    HERE,
    STEP,
    Finding,
    build_body,
    build_crate,
    build_state,
    find_crossings,
    list_corners,
    run_world,
    wrap_angle,
    write_link,
)
from humanoid_dynamics.simulation.books import measure_momentum
from humanoid_dynamics.simulation.contacts.terrain import build_plane
from humanoid_dynamics.simulation.contacts.touch_points import TouchPoint
from humanoid_dynamics.simulation.setup import Setup
from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.structure.events import Connect

NEARLY_FLAT = 0.03  # rad; a box that comes to a face still stands on one edge alone here
GRIP = 5.0  # Coulomb coefficient of boxes that turn about an edge


def free_fall(
    dt: float = STEP, *, mass: float = 3.0, seconds: float = 1.0, speed: float = 2.0
) -> tuple[Finding, ...]:
    """Throw a body upwards: g t²/2 is how far it falls below the straight way it began."""
    world = World(
        build_body(mass, (0.1, 0.2, 0.25)),
        Setup(),
        build_state(z=1.0, v=(0.3, 0.0, speed, 0.4, 0.0, 0.0)),
    )
    run_world(world, seconds, dt)
    fallen = 1.0 + speed * seconds - float(world.q[2])
    return (
        Finding("free fall", "way fallen [m]", fallen, 0.5 * GRAVITY * seconds**2, 1e-6),
        Finding(
            "free fall",
            "energy error, as a height [m]",
            world.books.missing / (mass * GRAVITY),
            0.0,
            1e-5,
        ),
    )


def pendulum(
    dt: float = STEP, *, mass: float = 2.0, length: float = 0.7, angle: float = 1.2
) -> tuple[Finding, ...]:
    """Let a point mass swing by a large angle: its period is 4 sqrt(l/g) K(sin(angle/2))."""
    swinging = write_link("bob", mass, (0.0, 0.0, 0.0), (0.0, 0.0, -length))
    hinge = '<joint name="hinge" type="continuous"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/></joint>'
    robot = load_robot(
        f'<robot name="pendulum"><link name="base"/>{swinging}{hinge}</robot>', root="fixed"
    )
    world = World(robot, Setup(), State(np.array([np.cos(angle), np.sin(angle)]), np.zeros(1)))
    elliptic = quad(
        lambda x: 1.0 / np.sqrt(1.0 - (np.sin(angle / 2) * np.sin(x)) ** 2), 0.0, np.pi / 2
    )[0]
    exact = 4.0 * np.sqrt(length / GRAVITY) * elliptic
    crossings = find_crossings(world, lambda: float(world.v[0]), 2.2 * exact, dt)
    period = crossings[2] - crossings[0] if len(crossings) > 2 else np.nan
    return (
        Finding("pendulum", "period [s]", period, exact, 1e-4),
        Finding(
            "pendulum",
            "energy error, share",
            world.books.missing / (mass * GRAVITY * length),
            0.0,
            1e-5,
        ),
    )


def rolling(
    dt: float = STEP,
    *,
    mass: float = 1.5,
    radius: float = 0.2,
    slope: float = 0.2,
    friction: float = 0.6,
) -> tuple[Finding, ...]:
    """Let a ball roll down a slope: a = 5/7 g sin(slope) where friction holds it, and it slips where it does not."""
    moment = 0.4 * mass * radius**2
    ball = TouchPoint("ball", "body", np.zeros(3), radius, friction)
    world = World(
        build_body(mass, (moment,) * 3),
        Setup(terrain=(build_plane(slope=-slope),), points=(ball,)),
        build_state(x=radius * np.sin(slope), z=radius * np.cos(slope)),
    )
    run_world(world, 1.0, dt)
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    along = float(world.q[:3] @ down)
    holds = friction >= 2.0 / 7.0 * np.tan(slope)
    a = (
        5.0 / 7.0 * GRAVITY * np.sin(slope)
        if holds
        else GRAVITY * (np.sin(slope) - friction * np.cos(slope))
    )
    spin = a / radius if holds else 2.5 * friction * GRAVITY * np.cos(slope) / radius
    return (
        Finding("rolling", "way [m]", along, 0.5 * a),
        Finding("rolling", "spin [rad/s]", float(np.linalg.norm(world.v[3:])), spin),
    )


def sliding(
    dt: float = STEP,
    *,
    mass: float = 4.0,
    size: float = 0.3,
    friction: float = 0.4,
    speed: float = 2.0,
) -> tuple[Finding, ...]:
    """Let a box slide to a stop: way v²/(2 mu g), and the heat is all its energy."""
    world = World(
        build_crate(mass, (size, size, 0.5 * size)),
        Setup(terrain=(build_plane(),), points=list_corners((size, size, 0.5 * size), friction)),
        build_state(z=0.25 * size, v=(speed, 0.0, 0.0, 0.0, 0.0, 0.0)),
    )
    run_world(world, 1.2 * speed / (friction * GRAVITY), dt)
    return (
        Finding(
            "sliding to a stop", "way [m]", float(world.q[0]), speed**2 / (2 * friction * GRAVITY)
        ),
        Finding(
            "sliding to a stop", "heat [J]", -world.books.work["contacts"], 0.5 * mass * speed**2
        ),
        Finding("sliding to a stop", "speed left [m/s]", float(np.abs(world.v).max()), 0.0, 1e-8),
    )


def bouncing(
    dt: float = STEP, *, mass: float = 0.5, radius: float = 0.1, height: float = 1.0, e: float = 0.8
) -> tuple[Finding, ...]:
    """Drop a ball: it comes back to e^2 of the height, and to e^4 after the second bounce."""
    moment = 0.4 * mass * radius**2
    ball = TouchPoint("ball", "body", np.zeros(3), radius, 0.5, e)
    world = World(
        build_body(mass, (moment,) * 3),
        Setup(terrain=(build_plane(),), points=(ball,)),
        build_state(z=radius + height),
    )
    fall = np.sqrt(2 * height / GRAVITY)
    run_world(world, fall * (1 + 2 * e + 0.9 * e**2), dt)
    since = world.t - fall * (1 + 2 * e)
    rebound = e**2 * GRAVITY * fall
    exact = radius + rebound * since - 0.5 * GRAVITY * since**2
    return (
        Finding("bouncing", "height after two bounces [m]", float(world.q[2]), exact),
        Finding(
            "bouncing",
            "energy lost [J]",
            -world.books.work["impacts"],
            mass * GRAVITY * height * (1 - e**4),
        ),
    )


def tipping(
    dt: float = STEP,
    *,
    mass: float = 5.0,
    width: float = 0.3,
    height: float = 0.8,
    share: float = 1.1,
) -> tuple[Finding, ...]:
    """Pull a box at its middle: it begins to tip where the pull times half its height is more than its weight times half its width."""
    found = []
    size, limit = (width, width, height), mass * GRAVITY * width / height
    for case, pull in (("tips", share * limit), ("stands", limit / share)):
        world = World(
            build_crate(mass, size),
            Setup(terrain=(build_plane(),), points=list_corners(size, GRIP)),
            build_state(z=height / 2),
        )
        world.push("body", (pull, 0.0, 0.0), 1.0)
        run_world(world, 0.1, dt)
        arm = np.hypot(width, height) / 2
        moment = mass * (width**2 + height**2) / 12 + mass * arm**2
        gained = pull * world.q[0] - mass * GRAVITY * (world.q[2] - height / 2)
        exact = np.sqrt(2 * gained / moment) if case == "tips" else 0.0
        found.append(
            Finding(
                f"box that {case}",
                "turning rate after 0.1 s [rad/s]",
                float(world.v[4]),
                exact,
                1e-3 if exact else 1e-8,
            )
        )
    return tuple(found)


def falling_over(
    dt: float = STEP,
    *,
    mass: float = 5.0,
    width: float = 0.2,
    height: float = 1.0,
    rate: float = 1.0,
) -> tuple[Finding, ...]:
    """Let a box on its edge fall over, or back where it is too slow, until it lies nearly flat again.

    Half omega^2 of its moment is the weight of what its middle has lost in height.

    Raises:
        ShapeError: If it is so fast that it leaves its edge, or slips there.
    """
    size, start = (width, width, height), 0.1
    check_edge((width, height), start, rate, 0.5, gravity=GRAVITY, friction=GRIP)
    edge = np.array([width / 2, 0.0, -height / 2])
    R = pin.exp3(np.array([0.0, start, 0.0]))
    p = -R @ edge
    q = np.concatenate((p, pin.Quaternion(R).coeffs()))
    v = np.concatenate((-np.cross(np.array([0.0, rate, 0.0]), edge), [0.0, rate, 0.0]))
    world = World(
        build_crate(mass, size),
        Setup(terrain=(build_plane(),), points=list_corners(size, GRIP)),
        State(q, v),
    )
    run_world(
        world,
        0.5,
        dt,
        lambda: (
            NEARLY_FLAT
            < pin.log3(pin.Quaternion(world.q[3:7]).matrix())[1]
            < 0.5 * np.pi - NEARLY_FLAT
        ),
    )
    moment = mass * (width**2 + height**2) / 12 + mass * float(edge @ edge)
    speed = np.sqrt(max(0.0, rate**2 + 2 * mass * GRAVITY * (p[2] - world.q[2]) / moment))
    exact = float(np.copysign(speed, world.v[4]))
    moved = world.q[:3] + pin.Quaternion(world.q[3:7]).matrix() @ edge
    return (
        Finding("falling over an edge", "turning rate [rad/s]", float(world.v[4]), exact),
        Finding(
            "falling over an edge", "slip of the edge [m]", float(np.linalg.norm(moved)), 0.0, 1e-4
        ),
    )


def torque_free(
    dt: float = STEP, *, moments: tuple[float, float, float] = (0.1, 0.25, 0.3), rate: float = 6.0
) -> tuple[Finding, ...]:
    """Spin a body about its middle axis: it tumbles, and keeps energy and angular momentum."""
    world = World(
        build_body(2.0, moments),
        Setup(gravity=(0.0, 0.0, 0.0)),
        build_state(v=(0.0, 0.0, 0.0, 0.01, rate, 0.01)),
    )
    before = measure_momentum(world.robot.model, world.robot.data(), world.q, world.v)
    run_world(world, 3.0, dt)
    after = measure_momentum(world.robot.model, world.robot.data(), world.q, world.v)
    return (
        Finding(
            "torque-free rotation",
            "angular momentum, share",
            float(np.linalg.norm(after - before)) / float(np.linalg.norm(before)),
            0.0,
            1e-3,
        ),
        Finding(
            "torque-free rotation",
            "energy error, share",
            world.books.missing / world.books.start,
            0.0,
            1e-3,
        ),
    )


def spinning_top(
    dt: float = STEP, *, mass: float = 0.4, arm: float = 0.05, spin: float = 60.0, tilt: float = 0.3
) -> tuple[Finding, ...]:
    """Let a fast top precess about its tip at the slow rate of steady precession.

    Raises:
        ShapeError: If it spins too slowly to precess steadily.
    """
    about, across = 2e-3, 1.1e-3 + mass * arm**2
    slow = find_slow_precession(spin, about, (across - about) * np.cos(tilt), mass * GRAVITY * arm)
    robot = build_body(
        mass, (across - mass * arm**2, across - mass * arm**2, about), (0.0, 0.0, arm)
    )
    world = World(
        robot,
        Setup(),
        State(
            np.concatenate(
                (np.zeros(3), pin.Quaternion(pin.exp3(np.array([0.0, tilt, 0.0]))).coeffs())
            ),
            np.zeros(6),
        ),
    )
    world.apply([Connect(LoopClosure("tip", "spherical", "body", HERE, "world", HERE))])
    world.set_velocity(
        np.array([0.0, 0.0, 0.0, -slow * np.sin(tilt), 0.0, spin + slow * np.cos(tilt)])
    )
    run_world(world, 0.5, dt)
    axis = pin.Quaternion(world.q[3:7]).matrix()[:, 2]
    return (
        Finding(
            "spinning top",
            "precession in 0.5 s [rad]",
            float(np.arctan2(axis[1], axis[0])),
            wrap_angle(slow * 0.5),
        ),
        Finding("spinning top", "tilt [rad]", float(np.arccos(axis[2])), tilt),
    )


def find_slow_precession(spin: float, about: float, lean: float, weight: float) -> float:
    """Return the slower rate w at which a top can precess without nodding: lean w² - about spin w + weight = 0 [rad/s].

    Args:
        spin: How fast it turns about its axis, seen from the plane in which that precesses [rad/s].
        about: Moment of inertia about its axis [kg·m²].
        lean: What is more across it, seen from the tip, times the cosine of its tilt [kg·m²].
        weight: Weight times distance of the centre of mass from the tip [N·m].

    Raises:
        ShapeError: If there is no such rate.
    """
    inside = (about * spin) ** 2 - 4.0 * lean * weight
    steady = about * spin + np.copysign(np.sqrt(max(inside, 0.0)), spin)
    if not (inside >= 0.0 and steady != 0.0):
        least = 2.0 * np.sqrt(max(lean * weight, 0.0)) / about
        raise ShapeError(
            "spin",
            f"{spin:g} rad/s",
            f"more than {least:.4g} rad/s either way, below which no such top precesses steadily",
        )
    return float(2.0 * weight / steady)


def two_masses(
    *, first: float = 2.0, second: float = 1.0, speed: float = 3.0
) -> tuple[Finding, ...]:
    """Weld two point masses that meet: momentum stays, m1 m2/(m1 + m2) v^2/2 is lost."""
    tiny = (1e-3,) * 3
    ends = '<parent link="first"/><child link="second"/><axis xyz="1 0 0"/>'
    slider = f'<joint name="slider" type="prismatic">{ends}<limit effort="1" velocity="1" lower="-9" upper="9"/></joint>'
    robot = load_robot(
        f'<robot name="pair">{write_link("first", first, tiny)}{write_link("second", second, tiny)}{slider}</robot>',
        root="free_flyer",
    )
    world = World(
        robot,
        Setup(gravity=(0.0, 0.0, 0.0)),
        State(np.array([0, 0, 0, 0, 0, 0, 1.0, 0.0]), np.array([speed, 0, 0, 0, 0, 0, -speed])),
    )
    change = world.apply([Connect(LoopClosure("weld", "fixed", "first", HERE, "second", HERE))])
    lost = -change.impact.energy_change if change.impact is not None else np.nan
    return (
        Finding(
            "two point masses",
            "speed after [m/s]",
            float(world.v[0]),
            first * speed / (first + second),
            1e-9,
        ),
        Finding(
            "two point masses",
            "energy lost [J]",
            lost,
            0.5 * first * second / (first + second) * speed**2,
            1e-9,
        ),
    )


def caught_rod(
    *, mass: float = 3.0, length: float = 1.0, speed: float = 2.0
) -> tuple[Finding, ...]:
    """Catch the end of a rod that flies sideways in a pivot: omega = 3 V/(2 L), and a quarter of the energy is lost."""
    moment = mass * length**2 / 12
    robot = build_body(mass, (moment, moment, 1e-9 * moment + 1e-9))
    world = World(
        robot, Setup(gravity=(0.0, 0.0, 0.0)), build_state(v=(speed, 0.0, 0.0, 0.0, 0.0, 0.0))
    )
    end = pin.SE3(np.eye(3), np.array([0.0, 0.0, length / 2]))
    world.apply([Connect(LoopClosure("pivot", "spherical", "body", end, "world", end))])
    return (
        Finding(
            "pivot-caught rod",
            "turning rate [rad/s]",
            float(abs(world.v[4])),
            1.5 * speed / length,
            1e-6,
        ),
        Finding(
            "pivot-caught rod",
            "share of energy kept",
            world.books.energy / (0.5 * mass * speed**2),
            0.75,
            1e-6,
        ),
    )


CASES: tuple[Callable[[], tuple[Finding, ...]], ...] = (
    free_fall,
    pendulum,
    rolling,
    sliding,
    bouncing,
    tipping,
    falling_over,
    torque_free,
    spinning_top,
    two_masses,
    caught_rod,
)


def run_audit(watch: Callable[[float], None] | None = None) -> tuple[Finding, ...]:
    """Run all cases.

    Args:
        watch: Called with the share that is done, 0 to 1.

    Returns:
        What was found, in order.
    """
    findings: list[Finding] = []
    for done, case in enumerate(CASES):
        if watch is not None:
            watch(done / len(CASES))
        findings += case()
    return tuple(findings)
