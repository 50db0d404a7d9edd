# SPDX-License-Identifier: Apache-2.0
"""The same laws on a cluster of two processes of which one is killed."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from batch_jobs import Fake, count, kill_who_begins, write_clips

from humanoid_dynamics.errors import BatchError
from humanoid_dynamics.filtering.batches.batch import run_batch
from humanoid_dynamics.filtering.batches.store import Store

distributed = pytest.importorskip("distributed", reason="the extra 'batch' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster, about its own sockets


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path):
    tasks, log, store = (
        write_clips(tmp_path / "clips", 60),
        tmp_path / "log",
        Store(tmp_path / "out"),
    )
    tasks[7].clip.unlink()
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, ThreadPoolExecutor() as pool:
        killed = pool.submit(kill_who_begins, log, "clip30")
        outcomes = run_batch(
            Fake(log, waits="clip30"), tasks, cluster=cluster.scheduler_address, store=store
        )
        killed.result()
    assert [outcome.task for outcome in outcomes] == tasks
    assert [outcome.problem for outcome in outcomes if outcome.problem] == [
        f"{tasks[7].clip}: no such file"
    ]
    assert count(log, "end") == {task.clip.name: 1 for task in tasks if task is not tasks[7]}
    assert count(log, "begin")["clip30"] == 2
    assert {outcome.task.clip.name: outcome.tries for outcome in outcomes if outcome.tries > 1} == {
        "clip30": 2
    }
    assert sum(count(log, "begin").values()) - count(log, "begin")["clip7"] == 60
    assert all(
        store.find(task.name, task.key) is not None for task in tasks if task is not tasks[7]
    )


def test_no_cluster_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("humanoid_dynamics.filtering.batches.cluster.PATIENCE", 0.5)
    with pytest.raises(BatchError, match="no cluster at"):
        run_batch(
            Fake(tmp_path / "log"), write_clips(tmp_path / "clips", 1), cluster="tcp://127.0.0.1:1"
        )


@pytest.mark.parametrize(
    "address", ["nowhere", "tcp://127.0.0.1", "foo://127.0.0.1:8786", "tcp://:8786"]
)
def test_an_address_that_is_none_is_refused_at_once(tmp_path, monkeypatch, address):
    monkeypatch.setattr("distributed.Client", None)
    with pytest.raises(
        BatchError, match="expected the address of a scheduler, such as tcp://host:8786"
    ):
        run_batch(Fake(tmp_path / "log"), write_clips(tmp_path / "clips", 1), cluster=address)
