"""What is recorded, and what the program reads of it."""

import json
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Dict, List

from common import serial

import isoscope


def outcomes(recorder: isoscope.Recorder) -> Dict[str, List[str]]:
    sessions = recorder.history()["sessions"]
    return {session["name"]: [each["outcome"] for each in session["transactions"]] for session in sessions}


class Recording(unittest.TestCase):
    def setUp(self) -> None:
        self.recorder = isoscope.Recorder()

    def operations(self) -> List[Any]:
        sessions = self.recorder.history()["sessions"]
        return [each["operations"] for session in sessions for each in session["transactions"]]

    def test_operations_are_recorded_in_order(self) -> None:
        with self.recorder.session("alice") as session, session.transaction() as t:
            self.assertEqual(t.read("x", 1), 1)
            self.assertIsNone(t.read("y", None))
            t.write("x", "two")
            t.append("l", 3)
            self.assertEqual(t.read_list("l", (1, 3)), (1, 3))
            t.read_list("m", [])
        items = [["r", "x", 1], ["r", "y", None], ["w", "x", "two"]]
        lists = [["a", "l", 3], ["r", "l", [1, 3]], ["r", "m", []]]
        self.assertEqual(self.operations(), [items + lists])

    def test_times_enclose_the_block(self) -> None:
        with self.recorder.session() as session:
            with session.transaction():
                pass
            with session.transaction():
                pass
        first, second = self.recorder.history()["sessions"][0]["transactions"]
        self.assertLessEqual(first["start"], first["end"])
        self.assertLessEqual(first["end"], second["start"])

    def test_an_exception_is_passed_on_and_leaves_the_outcome_unknown(self) -> None:
        session = self.recorder.session("alice")
        with self.assertRaises(KeyError), session.transaction() as t:
            t.write("x", 1)
            raise KeyError("lost connection")
        with self.assertRaises(KeyboardInterrupt), session.transaction():
            raise KeyboardInterrupt
        with session.transaction():
            pass
        expected = {"alice": ["unknown"], "alice/2": ["unknown"], "alice/3": ["committed"]}
        self.assertEqual(outcomes(self.recorder), expected)

    def test_a_session_that_goes_on_does_not_take_the_name_of_another(self) -> None:
        session = self.recorder.session("alice")
        self.recorder.session("alice/2")
        with self.assertRaises(KeyError), session.transaction():
            raise KeyError
        session.transaction().commit()
        self.assertEqual(list(outcomes(self.recorder)), ["alice", "alice/3", "alice/2"])

    def test_outcomes_can_be_said_before_the_block_ends(self) -> None:
        with self.recorder.session("alice") as session:
            with session.transaction() as t:
                t.abort()
            with self.assertRaises(KeyError), session.transaction() as t:
                t.commit()
                raise KeyError("after the commit")
            session.transaction().commit()
        self.assertEqual(outcomes(self.recorder), {"alice": ["aborted", "committed", "committed"]})

    def test_a_transaction_that_has_ended_takes_nothing_more(self) -> None:
        t = self.recorder.session().transaction()
        t.abort()
        for call in (t.commit, t.abort, lambda: t.write("x", 1)):
            with self.assertRaisesRegex(RuntimeError, "has ended: aborted"):
                call()
        self.assertEqual(self.operations(), [[]])

    def test_what_still_runs_is_of_unknown_outcome(self) -> None:
        with self.recorder.session("alice") as session:
            t = session.transaction()
            t.write("x", 1)
            self.assertEqual(outcomes(self.recorder), {"alice": ["unknown"]})
            self.assertIsNone(t.outcome)
        self.assertEqual(t.outcome, "unknown")

    def test_a_session_runs_one_transaction_at_a_time(self) -> None:
        session = self.recorder.session("alice")
        with session.transaction(), self.assertRaisesRegex(RuntimeError, "'alice' runs another"):
            session.transaction()

    def test_names_of_sessions(self) -> None:
        self.assertIs(self.recorder.session(1), self.recorder.session("1"))
        self.recorder.session()
        self.assertEqual(list(outcomes(self.recorder)), [1, 2])

    def test_what_a_history_cannot_have_is_refused_at_once(self) -> None:
        t = self.recorder.session().transaction()
        unfit: List[Any] = [True, 1.5, b"1", ["a"], None]
        for value in unfit:
            with self.assertRaisesRegex(TypeError, "value is an integer or a string"):
                t.write("x", value)
            with self.assertRaisesRegex(TypeError, "key is"):
                t.read(value, 1)
            with self.assertRaisesRegex(TypeError, "element is"):
                t.read_list("l", [value])
        with self.assertRaisesRegex(TypeError, "sequence of elements"):
            t.read_list("l", "12")
        with self.assertRaisesRegex(ValueError, "64 bits"):
            t.write("x", 2**64)
        self.assertEqual(self.operations(), [[]])

    def test_threads_share_a_recorder(self) -> None:
        def work(name: int) -> None:
            for number in range(200):
                with self.recorder.session(name) as session, session.transaction() as t:
                    t.write(f"key{name}", number)
                if number % 20 == 0:
                    self.recorder.history()

        threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        recorded = outcomes(self.recorder)
        self.assertEqual(sorted(recorded), [0, 1, 2, 3])
        self.assertEqual(list(recorded.values()), [["committed"] * 200] * 4)
        numbers = [operations[0][2] for operations in self.operations()]
        self.assertEqual(numbers, list(range(200)) * 4)


class RoundTrip(unittest.TestCase):
    def check(self, recorder: isoscope.Recorder, level: str) -> isoscope.Result:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "history.json"
            recorder.save(path)
            self.assertEqual(json.loads(path.read_text()), recorder.history())
            result = isoscope.check(path, level)
        self.assertEqual(result.report["history"]["format"], "json")
        return result

    def test_outcomes_arrive(self) -> None:
        recorder = serial()
        session = recorder.session("bob")
        with self.assertRaises(KeyError), session.transaction() as t:
            t.write("y", 1)
            raise KeyError
        with session.transaction() as t:
            t.write("z", 1)
            t.abort()
        history = self.check(recorder, "SER").report["history"]
        expected = {"sessions": 3, "transactions": 4, "committed": 2, "aborted": 1, "unknown": 1}
        self.assertEqual({name: history[name] for name in expected}, expected)

    def test_an_unknown_write_may_take_effect_after_its_session_went_on(self) -> None:
        recorder = isoscope.Recorder()
        session = recorder.session("alice")
        with self.assertRaises(KeyError), session.transaction() as t:
            t.write("x", 1)
            raise KeyError
        for value in (None, 1):
            with session.transaction() as t:
                t.read("x", value)
        self.assertTrue(self.check(recorder, "SSER"))

    def test_a_read_of_an_aborted_write_is_found(self) -> None:
        recorder = isoscope.Recorder()
        with recorder.session("alice") as alice, recorder.session("bob") as bob:
            with alice.transaction() as t:
                t.write("x", 1)
                t.abort()
            with bob.transaction() as t:
                t.read("x", 1)
                t.write("x", 2)
            with bob.transaction() as t:
                t.read("x", 2)
        self.assertEqual(self.check(recorder, "RC").patterns, {"TAP-b": 1})

    def test_real_time_is_recorded(self) -> None:
        recorder = serial()
        with recorder.session("bob") as bob, bob.transaction() as t:
            t.read("x", None)
        self.assertEqual(self.check(recorder, "SER,SSER").verdicts, {"SER": "satisfied", "SSER": "violated"})

    def test_lists(self) -> None:
        for last, verdict in (([1, 2], "satisfied"), ([2, 1], "violated")):
            recorder = isoscope.Recorder()
            with recorder.session("alice") as session:
                for element in (1, 2):
                    with session.transaction() as t:
                        t.append("l", element)
                for values in ([1, 2], last):
                    with session.transaction() as t:
                        t.read_list("l", values)
            self.assertEqual(self.check(recorder, "SER").verdicts, {"SER": verdict})

    def test_initial_values(self) -> None:
        for initial, holds in ((0, True), (None, False)):
            recorder = isoscope.Recorder(initial=initial)
            with recorder.session() as session:
                with session.transaction() as t:
                    t.read("x", 0)
                    t.write("x", 1)
                with session.transaction() as t:
                    t.read("x", 1)
            self.assertEqual(self.check(recorder, "RC").holds, holds)

    def test_names_of_all_kinds(self) -> None:
        recorder = isoscope.Recorder()
        with recorder.session('q"uo te\n\u202e') as session:
            for key, value in (("", ""), ("1", 1), (1, "1"), (-(2**63), 2**64 - 1), ("ü", "\U0001f600")):
                with session.transaction() as t:
                    t.write(key, value)
                with session.transaction() as t:
                    t.read(key, value)
        self.assertTrue(self.check(recorder, "SER"))


if __name__ == "__main__":
    unittest.main()
