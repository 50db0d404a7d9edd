# SPDX-License-Identifier: Apache-2.0
"""Makes the helper modules beside this file importable from every test."""

import gc


def pytest_collection_finish():
    """What was collected stays until the end: nobody looks through it for litter again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish():
    """Whoever looks through it after the last test finds it."""
    gc.unfreeze()
