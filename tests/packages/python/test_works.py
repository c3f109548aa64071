"""The packed wheel does the work that the package in the making does."""

from test_packaging import *  # noqa: F403
