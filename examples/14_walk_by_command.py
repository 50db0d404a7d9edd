# SPDX-License-Identifier: Apache-2.0
"""A humanoid walks where velocity commands send it: forward, then in a curve, then to a stop.

By hand: 0.3 m/s for 6 s, with 0.6 s to speed up and 0.6 s to slow down, is a way of about 1.8 m.
"""

import numpy as np

import humanoid_dynamics as hd

COMMANDS = (
    ((0.3, 0.0, 0.0), 4.0),
    ((0.3, 0.0, 0.3), 2.0),
    ((0.0, 0.0, 0.0), 3.0),
)  # forward and sideways [m/s], turning [rad/s]; time [s]


def main() -> float:
    """Return the way of the base over the ground [m]."""
    walking = hd.WalkingFilter(hd.load_robot("g1"))
    places, inside = [], True
    for velocity, duration in COMMANDS:
        for _ in range(round(duration / walking.dt)):
            frame = walking.step(velocity)
            inside = inside and frame.certificate.holds
            places.append(frame.q[:2])
        print(f"{walking.status}, capture margin {frame.plan.capture_margin:.3f} m")
    print(f"all limits in every frame: {inside}, {walking.steps} steps")
    strides = np.array(places)[:: round(2.0 * walking.step_time / walking.dt)]
    return float(np.hypot(*np.diff(strides, axis=0).T).sum())


if __name__ == "__main__":
    print(f"way {main():.3f} m")
