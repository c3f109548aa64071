"""The types in the packed wheel: what type checkers find of it, and of programs that use it."""

# The same tests as of the package in the making, with the packed wheel as what is installed.
from test_installed_types import *  # noqa: F403
