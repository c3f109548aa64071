"""What the tests of the packed Python package share."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed import Installed
from packed import one


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The packed wheel."""
    return one("warpline_runtime-*.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    """The packed source distribution."""
    return one("warpline_runtime-*.tar.gz")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    """An environment with the packed wheel."""
    return Installed(tmp_path_factory.mktemp("installed"), wheel)
