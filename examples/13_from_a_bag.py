# SPDX-License-Identifier: Apache-2.0
"""A bag of ROS 2 goes in, a bag with torques, wrenches and certificates comes out; no ROS needed.

By hand: the feet of a robot of 65 kg that stands bear 65 kg x 9.81 m/s2 = 637.65 N.
"""

import tempfile
from pathlib import Path

import humanoid_dynamics as hd
from humanoid_dynamics.motion import load_measured_motion, solve_motion, write_torque_bag
from humanoid_dynamics.series import open_sink, read_bag
from humanoid_dynamics.simulation import Recorder, build_world, load_scene, run_scene


def record(path: Path) -> hd.RobotModel:
    """Record two seconds of a robot that stands, as a robot's own bag would be."""
    scene = load_scene("standing")
    world = build_world(scene)
    recorder = Recorder(world, every=10, sinks=[open_sink(path, {})])
    run_scene(scene, world, 2.0)
    recorder.close()
    return world.robot


def main() -> float:
    """Return the mean vertical force under both feet in the second half, when it has settled [N]."""
    with tempfile.TemporaryDirectory() as folder:
        recorded, answered = Path(folder) / "recorded.mcap", Path(folder) / "answered.mcap"
        robot = record(recorded)
        clip = load_measured_motion(recorded, robot)
        write_torque_bag(solve_motion(clip, rule="minimum_torque"), answered)
        bag = read_bag(answered)
    for topic, kind in bag.topics.items():
        print(f"{topic:32s} {kind}")
    feet = [bag.series[f"/planned_wrenches/{name}"][0].fields[0][:, 2] for name in robot.stance]
    return float(sum(force[len(force) // 2 :].mean() for force in feet))


if __name__ == "__main__":
    print(f"the feet bear {main():.2f} N")
