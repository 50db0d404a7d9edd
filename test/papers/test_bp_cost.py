# SPDX-License-Identifier: Apache-2.0
"""The biped paper: what it claims about cost, continuity and impact."""

from time import perf_counter

import numpy as np
import pinocchio as pin

# BP-24: cost


def test_newton_euler_is_cheaper_than_lagrange():
    """Torques of a long chain by recursion against M, C and g one by one, in the same compiled library; the gain grows with the chain."""

    def gain(links):
        model = pin.Model()
        for i in range(links):
            joint = model.addJoint(
                i,
                pin.JointModelRZ(),
                pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0])),
                f"joint_{i + 1}",
            )
            model.appendBodyToJoint(joint, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
        data, q, v = model.createData(), np.full(links, 0.1), np.full(links, 0.2)

        def lagrange():
            M = pin.crba(model, data, q)
            M = np.triu(M) + np.triu(M, 1).T
            return (
                M @ v
                + pin.computeCoriolisMatrix(model, data, q, v) @ v
                + pin.computeGeneralizedGravity(model, data, q)
            )

        assert np.abs(lagrange() - pin.rnea(model, data, q, v, v)).max() < 1e-9 * links**3
        return fastest(lagrange) / fastest(lambda: pin.rnea(model, data, q, v, v))

    assert gain(40) > 2.0
    assert gain(160) > 1.5 * gain(40)


def fastest(function):
    times = []
    for _ in range(50):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return min(times)
