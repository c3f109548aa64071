"""Runs the fleet of WARPLINE_HOME once."""

from warpline import run_advance

print(run_advance().status)
