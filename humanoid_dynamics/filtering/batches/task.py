# SPDX-License-Identifier: Apache-2.0
"""One clip of a batch, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humanoid_dynamics.errors import HumanoidDynamicsError
from humanoid_dynamics.filtering.batches.parts import WHOLE, Part
from humanoid_dynamics.filtering.batches.store import Store

Facts = dict[str, Any]  # plain data, as JSON holds it
Job = Callable[[Path, "Path | None"], Facts]
"""What is done to a clip: reads the first path, writes its result to the second, and returns what is to be told; can be pickled."""


@dataclass(frozen=True)
class ClipTask:
    """One clip to do.

    Attributes:
        name: Where its result goes below the folder of results, without ending.
        clip: The clip.
        key: Fingerprint of the clip, the robot and the settings.
        part: The part of the file; a job of parts has a method ``select``.
    """

    name: str
    clip: Path
    key: str
    part: Part = WHOLE


@dataclass(frozen=True)
class ClipOutcome:
    """What became of a clip.

    Attributes:
        task: The clip.
        facts: What its job told; nothing where it failed.
        problem: Why it failed; empty where it did not.
        before: Whether it had been done before.
        tries: How many workers it took; more than one where some ended half way.
    """

    task: ClipTask
    facts: Facts = field(default_factory=dict)
    problem: str = ""
    before: bool = False
    tries: int = 1


@dataclass(frozen=True)
class StoredJob:
    """A job that does nothing twice: asked again for what is done, it answers from the store.

    Attributes:
        job: The job.
        store: The folder of results; without one nothing is remembered.
    """

    job: Job
    store: Store | None

    def __call__(self, task: ClipTask) -> ClipOutcome:
        """Do one clip; nothing raises.

        Args:
            task: The clip.

        Returns:
            What became of it.
        """
        try:
            return self._do(task)
        except Exception as cause:  # noqa: BLE001 - whatever is wrong with one clip, the others go on, and the reason is told
            told = str(cause) or "no reason given"
            return ClipOutcome(
                task,
                problem=told
                if isinstance(cause, HumanoidDynamicsError)
                else f"{type(cause).__name__}: {told}",
            )

    def _do(self, task: ClipTask) -> ClipOutcome:
        if self.store is None:
            return ClipOutcome(task, self._select(task)(task.clip, None))
        done = self.store.find(task.name, task.key)
        if done is not None:
            return ClipOutcome(task, done)
        with self.store.part(task.name) as part:
            tries = self.store.count_parts(task.name)
            facts = self._select(task)(task.clip, part)
            self.store.commit(task.name, task.key, part, facts)
        return ClipOutcome(task, facts, tries=tries)

    def _select(self, task: ClipTask) -> Job:
        if task.part == WHOLE:
            return self.job
        selected: Job = getattr(self.job, "select")(task.part)  # noqa: B009 - of jobs that have parts
        return selected
