# SPDX-License-Identifier: Apache-2.0
"""A snake of wheeled links: two equations of motion, whatever its length.

By hand: wheels that may not slip sideways do no work, so the kinetic energy grows by the work of the motors alone.
"""

import numpy as np

from humanoid_dynamics.papers import snake


def main() -> float:
    """Return the largest error of the energy balance [J]."""
    n = 5
    model = snake.SnakeModel.uniform(n)
    run = snake.simulate_snake(
        model, snake.build_paper_state(n), snake.build_paper_torques(n), duration=1.0
    )
    print(f"{n} links, {len(run.t)} instants, speeds at the end {np.round(run.u[-1], 4)}")
    return float(np.abs(run.energy - run.energy[0]).max())


if __name__ == "__main__":
    print(f"energy error {main():.1e} J")
