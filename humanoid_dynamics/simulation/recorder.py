"""What a world did, sample by sample: in memory, on disk, and as one number that tells two runs apart."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from humanoid_dynamics.simulation.world import World
from humanoid_dynamics.spatial.arrays import Matrix, Vector

SERIES = ("t", "q", "v", "tau", "force", "energy")


class Recorder:
    """Takes a sample after every so many steps of a world.

    Attributes:
        world: The world.
        every: Steps between samples.
    """

    def __init__(self, world: World, every: int = 1) -> None:
        self.world, self.every = world, max(1, every)
        self._samples: dict[str, list[Vector]] = {name: [] for name in (*SERIES, *world.gauges)}
        self._count = 0
        self.take()
        world.add_hook("after_step", self._after_step)

    def __len__(self) -> int:
        return len(self._samples["t"])

    def take(self) -> None:
        """Take a sample now."""
        world = self.world
        sample = {
            "t": np.array(world.t),
            "q": world.q.copy(),
            "v": world.v.copy(),
            "tau": world.tau.copy(),
            "force": world.point_forces(),
            "energy": np.array(world.books.energy),
            **{name: gauge.read() for name, gauge in world.gauges.items()},
        }
        for name, values in sample.items():
            self._samples[name].append(values)

    def series(self, name: str) -> Matrix:
        """Return a series, one row per sample.

        Args:
            name: One of ``SERIES``: time [s], configuration, velocity, motor torque [N·m, N], force on each touch point in the world [N],
                energy [J]; or of the gauges of the world.
        """
        return np.array(self._samples[name])

    def digest(self) -> str:
        """Return the SHA-256 of all series; equal for equal runs, in any process."""
        total = hashlib.sha256()
        for name in self._samples:
            total.update(np.ascontiguousarray(self.series(name)).tobytes())
        return total.hexdigest()

    def save(self, path: Path) -> None:
        """Write all series, and the names of what their columns are, into an npz file.

        Args:
            path: The file; missing folders are made.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        world = self.world
        names = {"coordinates": world.robot.coordinates, "motors": world.actuated, "points": world.point_names}
        names |= {f"{name}_columns": gauge.columns for name, gauge in world.gauges.items()}
        arrays = {name: self.series(name) for name in self._samples} | {
            name: np.array(entries, dtype=np.str_) for name, entries in names.items()
        }
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)

    def _after_step(self, _world: World) -> None:
        self._count += 1
        if self._count % self.every == 0:
            self.take()
