from __future__ import annotations

import json
from pathlib import Path
from typing import Iterator

import pytest
from warpline.testing import TestHome, open_test_home


@pytest.fixture
def home() -> Iterator[TestHome]:
    """A home of its own: neither the configuration nor the records of the live one take part."""
    with open_test_home(Path(__file__).parents[1]) as home:
        yield home


def test_the_defaults_of_the_manifest_are_enough(home: TestHome) -> None:
    result = home.run("plugin-name", now="2029-12-30T08:00:00Z").result
    assert result["status"] == "success", result
    assert result["summary"] == "2 days left"


def test_a_date_that_is_none_is_refused_by_name_without_its_value(home: TestHome) -> None:
    result = home.run("plugin-name", {"date": "tomorrow"}).result
    assert result["status"] == "failed"
    assert "`date`" in result["errors"][0]["message"]
    assert "tomorrow" not in json.dumps(result)
