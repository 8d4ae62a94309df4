"""One private Slurm for all tests here. Where there can be none they are skipped with the reason; in CI they fail."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.slurm.cluster import Cluster, missing


@pytest.fixture(scope="session")
def _cluster() -> Iterator[Cluster]:
    why = missing()
    if why:
        assert not os.environ.get("CI"), why
        pytest.skip(why)
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A Slurm whose nodes take jobs, and to which this process's commands talk."""
    monkeypatch.setenv("SLURM_CONF", str(_cluster.conf))
    return _cluster
