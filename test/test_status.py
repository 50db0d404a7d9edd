# SPDX-License-Identifier: Apache-2.0
"""Status values of all components."""

import importlib
import io
import json
import pickle
import pkgutil
import re

import numpy as np
import pytest

import humanoid_dynamics as hd
from humanoid_dynamics.resolution import AnswerStatus
from humanoid_dynamics.status import StatusEnum


def find_enums():
    """Return every enum of statuses of the package."""
    for module in pkgutil.walk_packages(hd.__path__, "humanoid_dynamics."):
        source = module.module_finder.find_spec(module.name).loader.get_source(module.name)
        if "(StatusEnum)" in source:
            importlib.import_module(module.name)
    return StatusEnum.__subclasses__()


@pytest.mark.parametrize("statuses", find_enums(), ids=lambda statuses: statuses.__name__)
def test_every_status_is_upper_snake_and_described(statuses):
    for status in statuses:
        assert status.name == status.value
        assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", status)
        assert len(status.description) > 10
        assert not status.description.endswith(".")
    assert statuses.__name__.endswith("Status")
    assert [other.__name__ for other in find_enums()].count(statuses.__name__) == 1


def test_a_status_is_written_as_its_value():
    status = AnswerStatus.INFEASIBLE_CONTACT
    assert (
        f"{status} {status:>20} {[status]}"
        == "INFEASIBLE_CONTACT   INFEASIBLE_CONTACT ['INFEASIBLE_CONTACT']"
    )
    for indent in (None, 2):
        assert json.loads(json.dumps({"status": status, "counts": {status: 3}}, indent=indent)) == {
            "status": "INFEASIBLE_CONTACT",
            "counts": {"INFEASIBLE_CONTACT": 3},
        }
    file = io.BytesIO()
    np.savez(file, status=np.array([status]))
    file.seek(0)
    assert np.load(file, allow_pickle=False)["status"].tolist() == ["INFEASIBLE_CONTACT"]


def test_a_status_stays_one_member():
    assert pickle.loads(pickle.dumps(AnswerStatus.OK)) is AnswerStatus.OK
    assert AnswerStatus("OK") is AnswerStatus.OK
    assert {"OK": 1}[AnswerStatus.OK] == 1
