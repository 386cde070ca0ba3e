"""Record the transactions of a test and check them against isolation levels.

    recorder = isoscope.Recorder()
    with recorder.session("alice") as session:
        with session.transaction() as t:
            t.read("x", 1)
            t.write("x", 2)
    isoscope.assert_holds(recorder, "SI")

The program `isoscope` decides and draws; this package records, runs it, and reads its report.
"""

from ._check import History, Result, Violation, assert_holds, check
from ._program import Error, Undecided, program
from ._record import Outcome, Recorder, Session, Transaction

__all__ = ["Recorder", "Session", "Transaction", "Outcome", "History", "Result", "Violation"]
__all__ += ["check", "assert_holds", "program", "Error", "Undecided"]
