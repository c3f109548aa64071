"""The fixture `plugin_home` for tests of plugins. pytest finds it once the package is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator

import pytest

if TYPE_CHECKING:
    from .testing import TestHome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "warpline_plugins",
        "the folder of plugins, from where the configuration file of pytest lies",
        default=".warpline/plugins",
    )


@pytest.fixture
def plugin_home(pytestconfig: pytest.Config) -> Iterator[TestHome]:
    """A home of its own for each test, for the plugins in `warpline_plugins`."""
    # Imported here, so that a test run which uses no plugin starts no engine.
    from .testing import open_test_home

    with open_test_home(pytestconfig.rootpath / pytestconfig.getini("warpline_plugins")) as home:
        yield home
