"""What the tests share: the package, and small recordings."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
SAMPLES = ROOT / "sample_histories"
sys.path.insert(0, str(PACKAGE))

import isoscope  # noqa: E402


def lost_update() -> isoscope.Recorder:
    """Two transactions that read the initial version of x and overwrite it."""
    recorder = isoscope.Recorder()
    with recorder.session("alice") as alice, recorder.session("bob") as bob:
        with alice.transaction() as first, bob.transaction() as second:
            first.read("x", None)
            second.read("x", None)
            first.write("x", 1)
            second.write("x", 2)
    return recorder


def serial() -> isoscope.Recorder:
    """A write and a read of it."""
    recorder = isoscope.Recorder()
    with recorder.session("alice") as alice:
        with alice.transaction() as t:
            t.write("x", 1)
        with alice.transaction() as t:
            t.read("x", 1)
    return recorder


def environment(**changes: str) -> "dict[str, str]":
    """This environment with the package importable and some variables changed; an empty one is removed."""
    changed = {**os.environ, "PYTHONPATH": str(PACKAGE), **changes}
    return {name: value for name, value in changed.items() if value}
