# SPDX-License-Identifier: Apache-2.0
"""Our world on the page: pulls obey Newton, connections open and close, nonsense is refused."""

import numpy as np
import pytest

from humanoid_dynamics.errors import HumanoidDynamicsError, UnknownNameError

pytest.importorskip("trimesh", reason="the page's extra is not installed")

from humanoid_dynamics.viewer.world_session import WorldSession


def run(session: WorldSession, seconds: float) -> None:
    for _ in range(round(seconds / 0.05)):
        session.advance(0.05)


def test_a_pulled_body_gains_the_momentum_of_the_pull() -> None:
    session = WorldSession("swing")
    session.switch("left_hand", False)
    session.switch("right_hand", False)
    free, pulled = WorldSession("swing"), session
    for name in ("left_hand", "right_hand"):
        free.switch(name, False)
    pulled.pull(
        "figure/trunk"
        if "figure/trunk" in {b.name for b in pulled.bodies}
        else pulled.bodies[0].name,
        np.zeros(3),
        np.array([0.0, 100.0, 0.0]),
    )
    run(free, 0.2)
    run(pulled, 0.2)
    mass = pulled._world.robot.mass  # the swing's bar hangs apart
    moved = (pulled.picture().com - free.picture().com) * mass
    assert moved[1] == pytest.approx(100.0 * 0.2**2 / 2, rel=0.02)
    assert abs(moved[0]) < 0.02
    assert abs(moved[2]) < 0.02


def test_a_standing_humanoid_leans_with_the_pull_and_comes_back() -> None:
    session = WorldSession("standing")
    start = session.picture().com
    session.limit_pull(30.0)
    session.pull("torso", np.array([0.0, 0.0, 0.25]), np.array([30.0, 0.0, 0.0]))
    run(session, 0.4)
    assert session.picture().com[0] - start[0] > 3e-3
    session.pull("torso", np.zeros(3), np.zeros(3))
    run(session, 1.5)
    assert abs(session.picture().com[0] - start[0]) < 3e-3


def test_arrows_carry_the_weight() -> None:
    session = WorldSession("standing")
    run(session, 0.3)
    picture = session.picture()
    weight = session._world.robot.mass * 9.81
    forces = sum(
        value for name, value in picture.numbers.items() if name.startswith("normal force")
    )
    assert forces == pytest.approx(weight, rel=0.02)


def test_a_hand_lets_go_and_grips_again() -> None:
    session = WorldSession("swing")
    run(session, 0.3)
    session.switch("left_hand", False)
    assert session.offer.connections == {"left_hand": False, "right_hand": True}
    run(session, 0.3)
    session.switch("left_hand", True)
    for _ in range(60):
        session.advance(0.05)
        if session.offer.connections["left_hand"]:
            break
    assert session.offer.connections == {"left_hand": True, "right_hand": True}
    assert not session._world.reason


def test_a_scene_waits_for_the_user_and_goes_on() -> None:
    session = WorldSession("swing")
    run(session, 3.0)
    assert session.picture().t == pytest.approx(3.0, abs=2e-3)
    assert session.offer.connections == {"left_hand": True, "right_hand": True}


def test_events_are_played_when_asked_for_and_the_scene_goes_on_after_them() -> None:
    session = WorldSession("swing")
    run(session, 0.5)
    session.switch("left_hand", False)
    run(session, 0.1)
    session.play_events()
    assert session.picture().t == 0.0
    assert "left_hand" in session.picture().status
    run(session, 1.2)
    assert session.offer.connections == {"left_hand": False, "right_hand": True}
    run(session, 1.0)
    assert session.picture().t == pytest.approx(2.2, abs=3e-3)
    assert session.offer.connections == {"left_hand": False, "right_hand": False}
    session.reset()
    assert session.offer.connections == {"left_hand": True, "right_hand": True}
    run(session, 1.2)
    assert session.offer.connections == {"left_hand": True, "right_hand": True}


def test_who_touches_a_scene_ends_its_events() -> None:
    session = WorldSession("swing")
    session.play_events()
    session.pull(session.bodies[0].name, np.zeros(3), np.array([1.0, 0.0, 0.0]))
    run(session, 1.2)
    assert session.offer.connections == {"left_hand": True, "right_hand": True}


def test_a_scene_without_events_offers_none() -> None:
    assert WorldSession("swing").offer.events
    session = WorldSession("standing")
    assert not session.offer.events
    with pytest.raises(HumanoidDynamicsError, match="no events"):
        session.play_events()


def test_a_figure_that_lets_go_lands_on_a_floor_in_view() -> None:
    session = WorldSession("swing")
    floor = session.offer.floor
    assert floor is not None
    start = session.picture().com[2]
    assert floor < start - 1.0
    for hand in ("left_hand", "right_hand"):
        session.switch(hand, False)
    run(session, 3.0)
    picture = session.picture()
    assert floor < picture.com[2] < start - 0.5
    assert picture.poses[:, 2].min() > floor - 0.1
    weight = session._world.robot.mass * 9.81
    assert (
        sum(value for name, value in picture.numbers.items() if name.startswith("normal force"))
        > 0.3 * weight
    )  # the swing hangs on


@pytest.mark.parametrize("scene", ["highbar", "ropes"])
def test_whatever_hangs_has_a_floor_below_it(scene: str) -> None:
    session = WorldSession(scene, simple=True)
    assert session.offer.floor is not None
    run(session, 0.5)
    assert not any(name.startswith("normal force") for name in session.picture().numbers)


def test_paused_time_stands_still_but_steps() -> None:
    session = WorldSession("standing")
    session.pause(True)
    run(session, 0.2)
    assert session.picture().t == 0.0
    session.step()
    assert session.picture().t == pytest.approx(1e-3)


def test_another_scene_is_another_robot() -> None:
    session = WorldSession("standing")
    before = session.bodies
    session.choose_scene("swing")
    assert session.bodies is not before
    assert session.offer.scenes[0] == "swing"


def test_what_makes_no_sense_is_refused() -> None:
    session = WorldSession("standing")
    with pytest.raises(UnknownNameError, match="torso"):
        session.pull("torsoo", np.zeros(3), np.ones(3))
    with pytest.raises(HumanoidDynamicsError, match="not a number"):
        session.pull("torso", np.zeros(3), np.array([np.nan, 0.0, 0.0]))
    with pytest.raises(UnknownNameError):
        session.switch("tail", False)
    with pytest.raises(UnknownNameError):
        session.choose_scene("nowhere")
    for refused in (
        lambda: session.choose_rule("x"),
        lambda: session.seek(1.0),
        lambda: session.lead("head", None),
    ):
        with pytest.raises((HumanoidDynamicsError, AttributeError)):
            refused()


@pytest.mark.slow
def test_a_snake_goes_where_it_is_steered() -> None:
    session = WorldSession("snake")
    assert session.offer.heading is not None
    session.steer(1.2)
    run(session, 12.0)
    early = session.picture().com
    run(session, 8.0)
    way = session.picture().com - early
    assert np.arctan2(way[1], way[0]) == pytest.approx(1.2, abs=0.2)


def test_a_snake_turns_to_where_it_is_steered() -> None:
    session = WorldSession("snake")
    run(session, 0.5)
    session.steer(1.2)
    run(session, 2.0)
    wanted, aim = session._world.gauges["heading"].read()
    assert wanted == 1.2
    assert 0.3 < aim <= 1.2
    assert max(map(abs, session.picture().torques.values())) > 0.0
    with pytest.raises(HumanoidDynamicsError, match="not a number"):
        session.steer(np.nan)
    with pytest.raises(HumanoidDynamicsError, match="steered"):
        WorldSession("standing").steer(0.0)


def test_a_scene_with_a_driver_is_driven() -> None:
    session = WorldSession("biped_step")
    start = session.picture().com
    run(session, 1.0)
    picture = session.picture()
    assert max(map(abs, picture.torques.values())) > 10.0
    assert picture.com[2] > 0.8 * start[2]


def test_what_happens_by_itself_is_told() -> None:
    session = WorldSession("breaking_swing")
    run(session, 2.0)
    assert len(session._summary.phases) > 1


def test_torques_of_drives_are_told() -> None:
    session = WorldSession("standing")
    run(session, 0.5)
    torques = session.picture().torques
    assert set(torques) == set(session.offer.motors)
    assert abs(torques["left_ankle_pitch"]) > 5.0


def test_margins_are_told() -> None:
    session = WorldSession("standing")
    run(session, 0.5)
    numbers = session.picture().numbers
    assert 0.03 < numbers["margin, pressure [m]"] < 0.15
    assert 0.5 < numbers["margin, torque [-]"] < 1.0


def drag_away(
    session: WorldSession, link: str, direction: tuple[float, float, float], seconds: float = 2.0
) -> float:
    """Drag a link as far as the mouse goes, then let go; return how far it went [m]."""
    k = [body.name for body in session.bodies].index(link)
    start, farthest = session.picture().poses[k, :3].copy(), 0.0
    for _ in range(round(seconds / 0.1)):
        session.pull(link, np.zeros(3), 1e6 * np.array(direction))
        session.advance(0.1)
        farthest = max(farthest, float(np.linalg.norm(session.picture().poses[k, :3] - start)))
    session.pull(link, np.zeros(3), np.zeros(3))
    run(session, 1.0)
    return farthest


@pytest.mark.parametrize(
    "direction", [(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, -0.6, 0.5)]
)
@pytest.mark.parametrize(("scene", "link"), [("standing", "torso"), ("g1_drop", "torso_link")])
def test_the_hardest_drag_moves_the_torso_visibly_and_does_not_fell_it(
    scene: str, link: str, direction: tuple[float, float, float]
) -> None:
    session = WorldSession(scene, simple=True)
    run(session, 0.8 if scene == "g1_drop" else 0.2)
    assert 0.04 < drag_away(session, link, direction) < 0.11
    assert not session.picture().fallen


@pytest.mark.parametrize("direction", [(-1.0, 0.0, 0.0), (-0.7, -0.5, 0.5)])
def test_a_drag_at_a_hand_does_not_turn_it_off_its_feet(
    direction: tuple[float, float, float],
) -> None:
    session = WorldSession("standing", simple=True)
    run(session, 0.2)
    drag_away(session, "left_hand", direction)
    assert not session.picture().fallen


def test_a_drag_to_and_fro_does_not_fell_it() -> None:
    session = WorldSession("standing", simple=True)
    run(session, 0.2)
    for _ in range(3):
        for side in (1.0, -1.0):
            session.pull("torso", np.zeros(3), np.array([1e6 * side, 0.0, 0.0]))
            run(session, 0.35)
    session.pull("torso", np.zeros(3), np.zeros(3))
    run(session, 1.0)
    assert not session.picture().fallen


def test_more_is_pulled_where_it_is_asked_for() -> None:
    session = WorldSession("standing", simple=True)
    session.limit_pull(session.offer.strength[1])
    drag_away(session, "torso", (1.0, 0.0, 0.0), 1.0)
    assert session.picture().fallen
    session.reset()
    assert not session.picture().fallen


def test_a_capture_point_at_the_edge_lets_no_pull_beyond_it() -> None:
    session = WorldSession("standing", simple=True)
    robot, strength = session._world.robot, session._strength
    q, v = session._world.q, np.zeros(robot.nv)
    ahead, back = np.array([1e3, 0.0, 0.0]), np.array([-1e3, 0.0, 0.0])
    still = np.linalg.norm(strength.bound("torso", np.zeros(3), ahead, q, v))
    assert 0.05 * strength.weight < still < 0.2 * strength.weight
    v[0] = (
        0.5  # m/s forwards: the capture point is 0.16 m ahead of the centre of mass, beyond the toes
    )
    assert not strength.bound("torso", np.zeros(3), ahead, q, v).any()
    assert np.linalg.norm(strength.bound("torso", np.zeros(3), back, q, v)) == pytest.approx(
        strength.limit
    )


@pytest.mark.parametrize("force", [np.nan, np.inf, -1.0, 0.0, 1e9])
def test_a_limit_of_pulls_is_a_number_within_the_range(force: float) -> None:
    session = WorldSession("standing")
    with pytest.raises(HumanoidDynamicsError, match="at most"):
        session.limit_pull(force)


def test_a_crate_that_tips_about_an_edge_has_no_margin() -> None:
    session = WorldSession("tipping_box")
    session.play_events()
    run(session, 0.05)
    assert session.picture().numbers["margin, pressure [m]"] == pytest.approx(
        0.15, abs=1e-3
    )  # half of its width
    run(session, 0.25)
    assert session.picture().numbers["margin, pressure [m]"] == 0.0
