"""Finds the program and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, Optional, Sequence, Tuple

# unittest leaves frames of modules with this name out of tracebacks, as pytest does for `__tracebackhide__`.
__unittest = True

SATISFIED, VIOLATED, UNDECIDED = 0, 1, 3


class Error(Exception):
    """The program is missing, or it cannot use the level or read the history: one line says why."""

    __module__ = "isoscope"


class Undecided(Error):
    """Nothing is violated, but a level is undecided or nothing was tested: one line says why."""

    __module__ = "isoscope"


class Source(NamedTuple):
    """A history as the program gets it: a path, or `-` and the bytes of its standard input."""

    path: str
    content: Optional[bytes] = None


def program() -> str:
    """The path of the program: what ISOSCOPE names, else the one in the wheel, else the one on PATH.

    Raises Error if there is none.
    """
    named = os.environ.get("ISOSCOPE")
    if named:
        return named
    bundled = Path(__file__).with_name("bin") / "isoscope"
    found = str(bundled) if bundled.exists() else shutil.which("isoscope")
    if found is None:
        raise Error("no program isoscope: set ISOSCOPE to its path, or put it on PATH")
    return found


def run(arguments: Sequence[str], source: Source, expected: Sequence[int]) -> Tuple[int, str]:
    """Runs the program on a history. Returns the exit code and the standard output.

    Raises Error with the program's own line if the exit code is none of those expected.
    """
    __tracebackhide__ = True
    command = [program(), *arguments, "--", source.path]
    try:
        ended = subprocess.run(command, input=source.content or b"", capture_output=True, check=False)
    except OSError as failure:
        raise Error(f"cannot run {command[0]}: {failure.strerror}") from None
    if ended.returncode not in expected:
        reason = _last_line(ended.stderr) or f"{command[0]} ended with exit code {ended.returncode}"
        raise Error(reason if source.content is None else reason.replace("-: ", "the document: ", 1))
    return ended.returncode, ended.stdout.decode("utf-8")


def _last_line(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].replace("isoscope: ", "", 1) if lines else ""
