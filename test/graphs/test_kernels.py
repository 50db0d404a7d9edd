# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled ahead of time, in processes of their own."""

import os

import pytest

from humanoid_dynamics.errors import UnknownNameError
from humanoid_dynamics.graphs import kernels
from humanoid_dynamics.graphs.kernels import (
    KernelStatus,
    compile_jobs,
    find_jobs,
    find_stale_jobs,
    is_cached,
)
from humanoid_dynamics.nodes.configs import CONFIGS


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_after_compilation_a_new_process_compiles_nothing(cache):
    (job,) = find_jobs(["solver"])
    assert not is_cached(job)
    shares = []
    (first,) = compile_jobs([job], progress=lambda progress: shares.append(progress.share))
    assert (first.status, first.compiled) == (KernelStatus.COMPILED, 1)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert is_cached(job)
    (second,) = compile_jobs([job])
    assert (second.status, second.compiled, second.loaded) == (KernelStatus.LOADED, 0, 1)
    for path in cache.rglob("*.nbi"):
        path.unlink()
    assert not is_cached(job)


def test_a_changed_file_makes_a_job_stale(cache, tmp_path):
    (job,) = find_jobs(["solver"])
    source, folder = tmp_path / "kernel.py", tmp_path / "cache"
    folder.mkdir()
    source.write_text("x = 1")
    (folder / "kernel.nbi").touch()
    mark = kernels._mark(job, kernels.ROBOT)
    stamp = kernels._stamp(str(source))
    mark.write_text(f'{{"folders": ["{folder}"], "files": {{"{source}": {stamp}}}}}')
    assert is_cached(job)
    os.utime(source, (1.0, 1.0))
    assert not is_cached(job)
    source.unlink()
    assert not is_cached(job)
    mark.write_text("nothing")
    assert not is_cached(job)


def test_a_robot_that_cannot_and_a_process_that_dies_are_reported(cache, monkeypatch):
    (report,) = compile_jobs(find_jobs(["filter"]), "fourbar")
    assert report.status is KernelStatus.UNSUPPORTED
    assert report.reason
    monkeypatch.setattr(kernels, "PROGRAM", "no_such_program")
    (report,) = compile_jobs(find_jobs(["solver"]))
    assert report.status is KernelStatus.FAILED
    assert "No module named" in report.reason


def test_nodes_name_their_jobs(cache):
    named = {node for job in find_jobs() for node in job.nodes}
    assert named - {"state_estimator"} <= set(CONFIGS)
    assert [job.name for job in find_stale_jobs(["simulator", "monitor"])] == ["simulation"]
    with pytest.raises(UnknownNameError, match="kernel job"):
        find_jobs(["simulator"])
