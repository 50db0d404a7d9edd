# SPDX-License-Identifier: Apache-2.0
"""Kernels of a step in the form they run: compiled unless the setup selects the interpreter."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from humanoid_dynamics.simulation.contacts import (
    approach_kernel,
    cone_kernel,
    cone_newton,
    contact_build,
    contact_kernel,
    detect_kernel,
    disc_kernel,
    holders,
    limit_rows,
    probe_kernel,
    restrain_kernel,
    slides,
    small_systems,
    thin_kernel,
    wrench_kernel,
    wrench_shares,
    yielding_kernel,
)
from humanoid_dynamics.simulation.steps import (
    bench,
    body_kernel,
    body_table,
    branches,
    joint_kernel,
    loop_kernel,
    momentum_kernel,
    motion_kernel,
    row_kernel,
    step_kernel,
    tree_kernels,
)
from humanoid_dynamics.simulation.steps.lending import teach_lending
from humanoid_dynamics.simulation.steps.shelf import teach_shelves
from humanoid_dynamics.spatial.compiling import Kernel, compile_kernel


class StepKernels(NamedTuple):
    """What a step calls, in this order.

    Attributes:
        take_step: A whole step, where nothing asks for attention.
        sweep_bodies: Poses, Jacobian, inertia and bias.
        evaluate: Factor the inertia; velocity without contacts.
        detect: Points near shapes.
        solve_contacts: Forces of contacts and limits.
        arrive: Velocity, way and work.
        remember: What the next step has to know.
        whiten_rows: Rows for which the inertia is one.
        factor: The factor alone.
        find_velocity: Velocity from its whitened form.
        find_momentum: The other way round.
        measure_energy: Kinetic and potential energy.
        measure_motion: The same, and the momentum of all bodies.
        hold_loops: Rows of closed loops, and a basis of what they hold.
        hold_rows: The basis alone, of any rows.
        find_errors: Position errors of closed loops.
        solve_cones: A contact problem by itself, of an impact or of what is to be pushed out.
    """

    take_step: Kernel
    sweep_bodies: Kernel
    evaluate: Kernel
    detect: Kernel
    solve_contacts: Kernel
    arrive: Kernel
    remember: Kernel
    whiten_rows: Kernel
    factor: Kernel
    find_velocity: Kernel
    find_momentum: Kernel
    measure_energy: Kernel
    measure_motion: Kernel
    hold_loops: Kernel
    hold_rows: Kernel
    find_errors: Kernel
    solve_cones: Kernel


PLAIN = StepKernels(
    step_kernel.take_step,
    body_kernel.sweep_bodies,
    tree_kernels.evaluate,
    detect_kernel.detect,
    step_kernel.solve_alone,
    tree_kernels.arrive,
    step_kernel.remember_alone,
    branches.whiten_rows,
    branches.factor,
    branches.find_velocity,
    branches.find_momentum,
    motion_kernel.measure_energy,
    motion_kernel.measure_motion,
    loop_kernel.hold_loops,
    loop_kernel.hold_rows,
    loop_kernel.find_errors,
    yielding_kernel.solve_problem,
)


@cache
def compile_step() -> StepKernels:
    """Return the kernels of a step, compiled by numba.

    Returns:
        The kernels; each is compiled at its first call and kept on disk.
    """
    homes = (
        bench,
        body_table,
        joint_kernel,
        body_kernel,
        motion_kernel,
        momentum_kernel,
        branches,
        row_kernel,
        loop_kernel,
        tree_kernels,
        probe_kernel,
        approach_kernel,
        disc_kernel,
        detect_kernel,
        small_systems,
        cone_newton,
        cone_kernel,
        yielding_kernel,
        holders,
        limit_rows,
        thin_kernel,
        contact_build,
        restrain_kernel,
        wrench_shares,
        wrench_kernel,
        slides,
        contact_kernel,
        step_kernel,
    )
    teach_lending()
    teach_shelves()
    parts = tuple(part for home in homes for part in home.PARTS)
    return StepKernels(*(compile_kernel(kernel, parts) for kernel in PLAIN))
