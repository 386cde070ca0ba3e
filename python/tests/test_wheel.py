"""The wheel that .ci/wheel builds of the program."""

import base64
import csv
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Mapping

from common import ROOT, SAMPLES, lost_update

import isoscope


def run(*command: str, expected: int = 0, variables: Mapping[str, str] = {}) -> str:
    """The standard output of a command that knows no other program than its own."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("ISOSCOPE", "PYTHONPATH")}
    ended = subprocess.run(command, env={**inherited, **variables}, capture_output=True, text=True, check=False)
    if ended.returncode != expected:
        raise AssertionError(f"{command} ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
    return ended.stdout


@unittest.skipUnless(platform.system() == "Linux" and shutil.which("strip"), "needs Linux and binutils")
class Wheel(unittest.TestCase):
    folder: Path
    wheel: Path

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.wheel = cls.build("first")

    @classmethod
    def build(cls, name: str, **variables: str) -> Path:
        (cls.folder / name).mkdir()
        builder = str(ROOT / ".ci" / "wheel")
        return Path(run(sys.executable, builder, isoscope.program(), str(cls.folder / name), variables=variables).strip())

    def test_the_name_has_the_version_and_the_oldest_system(self) -> None:
        version = run(isoscope.program(), "--version").split()[1]
        tag = rf"py3-none-manylinux_2_\d+_{platform.machine()}"
        self.assertRegex(self.wheel.name, rf"^isoscope-{version}-{tag}\.whl$")

    def test_twice_the_same_bytes(self) -> None:
        again = self.build("again", TZ="Asia/Tokyo")
        self.assertEqual(self.wheel.name, again.name)
        self.assertEqual(self.wheel.read_bytes(), again.read_bytes())
        later = self.build("later", SOURCE_DATE_EPOCH="1800000000")
        self.assertEqual({entry.date_time for entry in zipfile.ZipFile(later).infolist()}, {(2027, 1, 15, 8, 0, 0)})

    def test_the_record_lists_every_file_with_its_hash(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
            (record,) = [name for name in names if name.endswith("/RECORD")]
            rows = {row[0]: row[1:] for row in csv.reader(archive.read(record).decode().splitlines())}
            self.assertEqual(sorted(rows), sorted(names))
            self.assertEqual(rows.pop(record), ["", ""])
            for name, (digest, size) in rows.items():
                content = archive.read(name)
                encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((digest, size), (f"sha256={encoded}", str(len(content))))
        self.assertTrue({"isoscope/__init__.py", "isoscope/py.typed", "isoscope/bin/isoscope"} <= set(names))

    def test_it_works_where_nothing_else_is_installed(self) -> None:
        home = self.folder / "environment"
        run(sys.executable, "-m", "venv", str(home))
        run(str(home / "bin/pip"), "install", "--no-index", "--disable-pip-version-check", str(self.wheel))
        command, python = str(home / "bin/isoscope"), str(home / "bin/python")
        printed = run(command, "check", str(SAMPLES / "write-skew.hist"), "--level", "SI,SER", expected=1)
        self.assertIn("SER   violated", printed)
        self.assertRegex(run(command, "check", "--help"), "Usage: isoscope check")
        self.assertEqual(run(python, "-m", "isoscope", "--version"), run(command, "--version"))
        found = run(python, "-c", "import isoscope; print(isoscope.program())").strip()
        self.assertTrue(Path(found).samefile(next(home.glob("lib/python*/site-packages/isoscope/bin/isoscope"))))
        history = self.folder / "history.json"
        lost_update().save(history)
        checked = f"import isoscope; print(isoscope.check({str(history)!r}, 'PC,SI'))"
        self.assertEqual(run(python, "-c", checked), "<isoscope.Result: PC satisfied, SI violated>\n")
        run(str(home / "bin/pip"), "uninstall", "--yes", "isoscope")
        self.assertFalse(Path(command).exists() or Path(found).exists())


if __name__ == "__main__":
    unittest.main()
