"""What is said of a history: results, failed assertions, pictures, errors."""

import base64
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from common import PACKAGE, SAMPLES, environment, lost_update, serial

import isoscope

TITLE = "One of two updates was lost"


class Results(unittest.TestCase):
    def test_verdicts_patterns_and_violations(self) -> None:
        result = isoscope.check(lost_update(), "PC,SI")
        self.assertFalse(result)
        self.assertEqual(result.verdicts, {"PC": "satisfied", "SI": "violated"})
        self.assertEqual(result.patterns, {"Divergence": 1, "LostUpdate": 1})
        (violation,) = result.violations
        self.assertEqual((violation.id, violation.pattern, violation.title), ("LostUpdate/1", "LostUpdate", TITLE))
        self.assertEqual(violation.levels, ("SI", "SER"))
        self.assertIn("each overwrote it", violation.text)
        self.assertIn(violation.text, result.explain())
        self.assertEqual(repr(result), "<isoscope.Result: PC satisfied, SI violated>")

    def test_a_level_that_holds(self) -> None:
        result = isoscope.check(serial(), "SER")
        self.assertTrue(result)
        self.assertEqual((result.patterns, result.violations, result.undecided), ({}, [], None))
        isoscope.assert_holds(serial(), "SER")

    def test_paths_and_documents(self) -> None:
        sample = SAMPLES / "web-shop.txt"
        for history in (sample, str(sample)):
            result = isoscope.check(history, "SI")
            weakest = [violation.levels[0] for violation in result.violations]
            self.assertEqual(weakest, ["RA", "RA", "TCC", "PC", "SI", "SI"])
        self.assertFalse(isoscope.check(lost_update().history(), "SI"))
        sessions = [{"transactions": [{"operations": [["w", "x", 1]]}, {"operations": [["r", "x", 1]]}]}]
        self.assertTrue(isoscope.check({"schema": "isoscope.history/1", "sessions": sessions}, "SER"))

    def test_a_line_of_an_explanation_is_a_transaction_of_the_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.json"
            lost_update().save(path)
            places = re.findall(r"(\S+)#1 read .* \(line (\d+)\)", isoscope.check(path, "SI").explain())
            lines = path.read_text().splitlines()
        self.assertEqual(len(places), 2)
        for session, line in places:
            self.assertIn('["r", "x", null]', lines[int(line) - 1])
            self.assertIn(f'"name": "{session}"', lines[int(line) - 2])

    def test_pictures(self) -> None:
        result = isoscope.check(SAMPLES / "web-shop.txt", "SI")
        for picture in (result.svg(), result.svg("LongFork/1"), result.svg("TAP-k/2", view="lanes")):
            self.assertEqual(ElementTree.fromstring(picture).tag, "{http://www.w3.org/2000/svg}svg")
        self.assertIn("LongFork/1", result.explain("LongFork/1"))
        with self.assertRaisesRegex(isoscope.Error, "TAP-z/9"):
            result.svg("TAP-z/9")
        with self.assertRaisesRegex(isoscope.Error, "no violation is listed"):
            isoscope.check(serial(), "SI").svg()

    def test_a_notebook_shows_verdicts_and_the_picture(self) -> None:
        result = isoscope.check(lost_update(), "PC,SI")
        shown = result._repr_html_()
        self.assertIn("<td>SI</td><td>violated</td>", shown)
        self.assertIn(TITLE, shown)
        found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
        assert found is not None
        self.assertEqual(base64.b64decode(found.group(1)).decode(), result._repr_svg_())
        ElementTree.fromstring(f"<div>{shown}</div>".replace("<br>", "<br/>").replace('">', '"/>'))
        held = isoscope.check(serial(), "SER")
        self.assertIsNone(held._repr_svg_())
        self.assertEqual(held._repr_html_(), "<table><tr><td>SER</td><td>satisfied</td></tr></table>")


class Assertions(unittest.TestCase):
    def failure(self, history: isoscope.History, level: str, folder: str) -> str:
        with self.assertRaises(AssertionError) as caught:
            isoscope.assert_holds(history, level, folder=folder)
        return str(caught.exception)

    def test_the_message_explains_and_names_what_was_kept(self) -> None:
        with tempfile.TemporaryDirectory(prefix="with blank ") as folder:
            message = self.failure(lost_update(), "PC,SI,SER", folder)
            self.assertEqual(message.splitlines()[0], f"SI, SER violated: {TITLE}")
            self.assertIn("snapshot isolation must abort one of them", message)
            picture, history, command = message.splitlines()[-3:]
            self.assertTrue(Path(picture.replace("picture: ", "")).read_text().startswith("<svg"))
            path = history.replace("history: ", "")
            self.assertEqual(Path(path).parent.parent, Path(folder))
            self.assertFalse(isoscope.check(path, "SI"))
            self.assertEqual(shlex.split(command.replace("open it: ", ""))[1:], [path])

    def test_the_command_is_short_if_the_program_is_on_the_path(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(isoscope.program(), Path(folder) / "isoscope")
            with mock.patch.dict(os.environ, PATH=folder):
                message = self.failure(lost_update(), "SI", folder)
        self.assertRegex(message, r"\nopen it: isoscope \S+/history.json$")

    def test_a_history_with_a_path_stays_where_it_is(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            message = self.failure(SAMPLES / "web-shop.txt", "RC,SI", folder)
            self.assertIn(f"\nhistory: {SAMPLES / 'web-shop.txt'}\n", message)
            self.assertIn("\n5 more with other causes: TAP-k/2, ", message)
            self.assertEqual([path.suffix for path in Path(folder).glob("*/*")], [".svg"])

    def test_what_cannot_be_explained_again_is_told_from_the_report(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            limited = Path(folder) / "limited"
            script = f'[ "$1" != check ] || exec {isoscope.program()} "$@"\necho "isoscope: time limit" >&2\nexit 2\n'
            limited.write_text(f"#!/bin/sh\n{script}")
            limited.chmod(0o755)
            with mock.patch.dict(os.environ, ISOSCOPE=str(limited)):
                message = self.failure(lost_update(), "SI", folder)
                shown = isoscope.check(lost_update(), "SI")._repr_html_()
        self.assertTrue(message.startswith(f"SI violated: {TITLE}\n\n"), message)
        self.assertRegex(message, "each overwrote it.*\nNo picture: time limit\n\nhistory: ")
        self.assertIn("each overwrote it", shown)
        self.assertNotIn("<img", shown)

    def test_the_environment_says_where_failures_stay(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, ISOSCOPE_FOLDER=f"{folder}/new"), self.assertRaises(AssertionError):
                isoscope.assert_holds(lost_update(), "SI")
            self.assertEqual(len(list(Path(folder).glob("new/*/history.json"))), 1)

    def test_what_was_not_tested_is_undecided(self) -> None:
        self.assertRegex(str(isoscope.check(isoscope.Recorder(), "SI").undecided), "nothing was tested")
        with self.assertRaisesRegex(isoscope.Undecided, "^No transaction committed.*nothing was tested.$"):
            isoscope.assert_holds(isoscope.Recorder(), "SI")

    def test_what_cannot_be_decided_is_undecided(self) -> None:
        with self.assertRaisesRegex(isoscope.Undecided, "^SSER is undecided: no timestamps$"):
            isoscope.assert_holds(SAMPLES / "ok-serial.txt", "SER,SSER")

    def test_options_go_to_the_program(self) -> None:
        with self.assertRaisesRegex(isoscope.Undecided, "SSER is undecided"):
            isoscope.assert_holds(serial(), "SSER", options=["--times=ignore"])
        with self.assertRaisesRegex(AssertionError, "\nTested: MyStore 1.2 at SI"):
            isoscope.assert_holds(lost_update(), "SI", options=["--tested=MyStore 1.2 at SI"])


class Errors(unittest.TestCase):
    def test_one_line_says_what_is_wrong(self) -> None:
        bad = {"schema": "isoscope.history/1", "sessions": [{"transactions": [{"operations": [["r", 1.5, 1]]}]}]}
        cases: "list[tuple[isoscope.History, str, str]]" = [
            (serial(), "FOO", "unknown level `FOO`"),
            ("nosuch.json", "SI", "^nosuch.json: no such file$"),
            ("-nosuch", "SI", "^-nosuch: no such file$"),
            ({}, "SI", "^the document: "),
            ({"schema": "isoscope.history/1", "sessions": 1}, "SI", "expected"),
            ({"schema": "isoscope.history/1", "sessions": [{"transactions": 1}]}, "SI", "expected"),
            (bad, "SI", "^the document: line 3, column 25: "),
        ]
        for history, level, reason in cases:
            with self.subTest(reason=reason), self.assertRaisesRegex(isoscope.Error, reason) as caught:
                isoscope.assert_holds(history, level)
            self.assertNotIn("\n", str(caught.exception))
            self.assertNotIsInstance(caught.exception, isoscope.Undecided)

    def test_one_history_at_a_time(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one.json", "two.json"):
                serial().save(Path(folder) / name)
            with self.assertRaisesRegex(isoscope.Error, "has 2 histories, expected one"):
                isoscope.check(folder, "SI")

    def test_a_program_that_is_not_there(self) -> None:
        with mock.patch.dict(os.environ, ISOSCOPE="/nosuch/isoscope"):
            with self.assertRaisesRegex(isoscope.Error, "^cannot run /nosuch/isoscope: No such file or directory$"):
                isoscope.check(serial(), "SI")
        with mock.patch.dict(os.environ, ISOSCOPE="", PATH=""), self.assertRaisesRegex(isoscope.Error, "set ISOSCOPE"):
            isoscope.check(serial(), "SI")

    def test_a_program_that_fails_otherwise(self) -> None:
        with mock.patch.dict(os.environ, ISOSCOPE=shutil.which("false") or "false"):
            with self.assertRaises(isoscope.Error):
                isoscope.check(serial(), "SI")


class Commands(unittest.TestCase):
    def run_python(self, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment(**changes), capture_output=True, text=True, check=False)

    def test_the_module_becomes_the_program(self) -> None:
        ended = self.run_python("-m", "isoscope", "check", str(SAMPLES / "write-skew.hist"), "--level", "SER")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("SER   violated", ended.stdout)
        ended = self.run_python("-m", "isoscope", ISOSCOPE="", PATH="")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertRegex(ended.stderr, "^isoscope: no program isoscope: .*\n$")

    def test_the_example_finds_its_bug_every_time(self) -> None:
        example = str(PACKAGE / "examples" / "store.py")
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(5):
                ended = self.run_python(example, ISOSCOPE_FOLDER=folder)
                self.assertEqual(ended.returncode, 1)
                self.assertIn(f"AssertionError: SI violated: {TITLE}\n", ended.stderr)
                self.assertRegex(ended.stderr, "read the initial version of key stock")
        self.assertEqual(self.run_python(example, "--fixed").stdout, "SI holds\n")


if __name__ == "__main__":
    unittest.main()
