# SPDX-License-Identifier: Apache-2.0
"""The clips of a batch on a cluster of dask.distributed: the same job, the same answers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any
from uuid import uuid4

from humanoid_dynamics.errors import BatchError, MissingExtraError
from humanoid_dynamics.filtering.batches.task import ClipOutcome, ClipTask

PATIENCE = 10  # s to find the scheduler
SCHEMES = frozenset({"", "tcp", "tls", "ws", "wss", "ucx"})


def run_on_cluster(
    job: Callable[[ClipTask], ClipOutcome],
    tasks: Sequence[ClipTask],
    address: str,
    beat: Callable[[], None] | None = None,
) -> Generator[ClipOutcome, None, None]:
    """Do tasks on a cluster; where a worker ends half way its tasks are done by another.

    Args:
        job: What is done to each; can be pickled.
        tasks: The tasks.
        address: The scheduler, such as ``tcp://host:8786``.
        beat: Called whenever a task has ended.

    Yields:
        What became of each task, as they end.

    Raises:
        BatchError: If there is no scheduler at the address.
    """
    distributed = _import()
    _check_address(address)
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as cause:
        raise BatchError(f"no cluster at {address!r}: {cause}") from cause
    with client:
        run = uuid4().hex
        keys = {f"{task.name}-{run}": task for task in tasks}
        futures = client.map(job, tasks, key=list(keys), pure=False)
        try:
            for future in distributed.as_completed(futures, loop=client.loop):
                yield _take(future, keys[future.key])
                future.release()
                if beat is not None:
                    beat()
        finally:
            client.cancel(futures)


def _take(future: Any, task: ClipTask) -> ClipOutcome:
    """Return the outcome of a task that ended; what the cluster itself could not do is a failure.

    An outcome that was held by a worker which was killed is asked for again: this waits for the answer.
    """
    try:
        cause = future.exception()
        if cause is None:
            outcome: ClipOutcome = future.result()
            return outcome
    except CancelledError:
        cause = "it was cancelled"
    return ClipOutcome(task, problem=f"the cluster gave it up: {cause}")


def _check_address(address: str) -> None:
    """Refuse what no scheduler can be at; a client that is made with it does not go away for 20 s."""
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if scheme not in SCHEMES or not host or not port.isdigit():
        raise BatchError(
            f"no cluster at {address!r}: expected the address of a scheduler, such as tcp://host:8786"
        )


def _import() -> Any:
    try:
        return import_module("distributed")
    except ImportError as cause:
        raise MissingExtraError("distributed", "batch", "a batch on a cluster") from cause
