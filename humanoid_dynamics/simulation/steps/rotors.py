# SPDX-License-Identifier: Apache-2.0
"""Hinges that cross on links without mass: a little rotor, so that no pose leaves them without inertia.

Where three hinges stand for one ball joint, with links of no mass in between, the first and the third turn about one axis when the second
stands across.  Turned against one another they move nothing then: the inertia is singular, their speeds are without bound, though the body
behind them moves gently.  What passes there is moved by a rotor so small that nothing else feels it.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

SHARE = 1e-5  # of what the joint moves


def add_rotors(model: pin.Model) -> None:
    """Give hinges a rotor where they have none, and two links without mass follow one another.

    Args:
        model: The model, which is changed.
    """
    light = {j for j in range(1, model.njoints) if _is_light_hinge(model, j)}
    crossing = {j for j in light if model.parents[j] in light}
    idle = [model.idx_vs[j] for j in sorted(crossing | {model.parents[j] for j in crossing})]
    if not idle:
        return
    armature = np.array(model.armature)
    moved = np.diagonal(pin.crba(model, model.createData(), pin.neutral(model)))
    armature[idle] = np.maximum(armature[idle], SHARE * moved[idle])
    model.armature = armature


def _is_light_hinge(model: pin.Model, j: int) -> bool:
    return (
        model.joints[j].shortname().startswith("JointModelR")
        and model.nvs[j] == 1
        and not model.inertias[j].mass > 0.0
    )
