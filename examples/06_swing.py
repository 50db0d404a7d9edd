# SPDX-License-Identifier: Apache-2.0
"""A figure hangs on a swing by both hands and lets go of one, then of the other.

By hand: a ball joint takes three freedoms, so 22 become 25 and then 28; letting go takes no energy.
"""

from humanoid_dynamics.simulation import build_world, load_scene, run_scene


def main() -> float:
    """Return the energy error after two seconds, as a share of the energy at the start."""
    scene = load_scene("swing")
    world = build_world(scene)
    summary = run_scene(scene, world)
    for phase in summary.phases:
        print(
            f"{phase.t:5.2f} s  {phase.label:28s} {phase.mobility} freedoms, energy change {phase.energy_change:.1e} J"
        )
    return abs(world.books.missing / world.books.start)


if __name__ == "__main__":
    print(f"energy error {main():.1e} of the whole")
