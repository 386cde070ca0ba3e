"""Records transactions while a test runs them."""

from __future__ import annotations

import json
import os
import threading
import time
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Set, Type, TypeVar, Union

Name = Union[int, str]
Outcome = Literal["committed", "aborted", "unknown"]
Value = TypeVar("Value", bound=Optional[Name])
Values = TypeVar("Values", bound=Sequence[Name])


class Transaction:
    """A transaction that runs. Made by `Session.transaction`; belongs to one thread.

    As a context manager it commits where its block ends. An exception leaves its outcome unknown and is passed on.
    """

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock
        self._operations: List[List[Any]] = []
        self._outcome: Optional[Outcome] = None
        self._end = 0
        self._start = time.monotonic_ns()

    @property
    def outcome(self) -> Optional[Outcome]:
        """What became of it; None while it runs."""
        return self._outcome

    def read(self, key: Name, value: Value) -> Value:
        """Records a read, and returns the value that it returned; None is the initial version."""
        self._add("r", key, None if value is None else _name("value", value))
        return value

    def read_list(self, key: Name, values: Values) -> Values:
        """Records a read of a whole list, and returns the list; an empty one is the initial version."""
        if isinstance(values, str):
            raise TypeError(f"a list is read as a sequence of elements, not as {values!r}")
        self._add("r", key, [_name("element", element) for element in values])
        return values

    def write(self, key: Name, value: Name) -> None:
        """Records a write. Give every write of a key another value."""
        self._add("w", key, _name("value", value))

    def append(self, key: Name, element: Name) -> None:
        """Records that an element was appended to the list that the key holds."""
        self._add("a", key, _name("element", element))

    def commit(self) -> None:
        """It is known to have committed. Raises RuntimeError if it has ended."""
        self._finish("committed")

    def abort(self) -> None:
        """It is known to have aborted: nothing of it takes effect. Raises RuntimeError if it has ended."""
        self._finish("aborted")

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *_: object) -> None:
        if self._outcome is None:
            self._finish("committed" if kind is None else "unknown")

    def _add(self, letter: str, key: Name, value: Any) -> None:
        operation = [letter, _name("key", key), value]
        with self._lock:
            self._must_run()
            self._operations.append(operation)

    def _finish(self, outcome: Outcome) -> None:
        with self._lock:
            self._must_run()
            self._end = time.monotonic_ns()
            self._outcome = outcome

    def _must_run(self) -> None:
        if self._outcome is not None:
            raise RuntimeError(f"the transaction has ended: {self._outcome}")

    def _document(self) -> Dict[str, Any]:
        end = time.monotonic_ns() if self._outcome is None else self._end
        outcome = self._outcome or "unknown"
        return {"outcome": outcome, "start": self._start, "end": end, "operations": list(self._operations)}


class Session:
    """What one client does, one transaction after the other. Made by `Recorder.session`.

    A transaction of unknown outcome may take effect later than its session goes on. So the recording continues
    after it as another session: `alice`, then `alice/2`.
    """

    def __init__(self, lock: threading.Lock, name: Name) -> None:
        self._lock = lock
        self._name = name
        self._transactions: List[Transaction] = []

    def transaction(self) -> Transaction:
        """Starts a transaction. Raises RuntimeError while another one of the session runs."""
        with self._lock:
            if self._transactions and self._transactions[-1].outcome is None:
                raise RuntimeError(f"session {self._name!r} runs another transaction: give each thread its own")
            started = Transaction(self._lock)
            self._transactions.append(started)
            return started

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """A transaction that still runs ends with an unknown outcome."""
        if self._transactions and self._transactions[-1].outcome is None:
            self._transactions[-1]._finish("unknown")

    def _documents(self, taken: Set[str]) -> List[Dict[str, Any]]:
        parts: List[Dict[str, Any]] = [{"name": self._name, "transactions": []}]
        for transaction in self._transactions:
            recorded = parts[-1]["transactions"]
            if recorded and recorded[-1]["outcome"] == "unknown":
                parts.append({"name": self._free_name(taken), "transactions": []})
            parts[-1]["transactions"].append(transaction._document())
        return parts

    def _free_name(self, taken: Set[str]) -> str:
        number = 2
        while f"{self._name}/{number}" in taken:
            number += 1
        taken.add(f"{self._name}/{number}")
        return f"{self._name}/{number}"


class Recorder:
    """Records what the clients of a test did. All threads may share one.

    `initial` is the value that a key has before it is written, if reads return one; a read of None is always
    the initial version.
    """

    def __init__(self, initial: Optional[Name] = None) -> None:
        self._initial = None if initial is None else _name("initial value", initial)
        self._lock = threading.Lock()
        self._sessions: Dict[str, Session] = {}

    def session(self, name: Optional[Name] = None) -> Session:
        """The session of this name, which goes on if it is there; without a name, a new one."""
        with self._lock:
            if name is None:
                numbers = range(1, len(self._sessions) + 2)
                name = next(number for number in numbers if str(number) not in self._sessions)
            return self._sessions.setdefault(str(_name("name", name)), Session(self._lock, name))

    def history(self) -> Dict[str, Any]:
        """The recording so far as a document (isoscope.history/1). What still runs is of unknown outcome."""
        with self._lock:
            taken = set(self._sessions)
            sessions = [part for session in self._sessions.values() for part in session._documents(taken)]
        return {"schema": "isoscope.history/1", "initial": self._initial, "sessions": sessions}

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the recording so far to a file, a transaction per line. Raises OSError if that fails."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(text(self.history()))


def text(document: Mapping[str, Any]) -> str:
    """A history as JSON with a transaction per line, so that `line 12` in an explanation names one.

    Raises TypeError if the document has values that JSON lacks.
    """
    fields = dict(document)
    sessions = fields.pop("sessions", None)
    if not isinstance(sessions, list) or not all(isinstance(session, Mapping) for session in sessions):
        return json.dumps(document)
    lines = ",\n".join(_session_text(session) for session in sessions)
    return f'{json.dumps(fields)[:-1]}{", " if fields else ""}"sessions": [\n{lines}]}}\n'


def _session_text(session: Mapping[str, Any]) -> str:
    fields = dict(session)
    transactions = fields.pop("transactions", None)
    if not isinstance(transactions, list):
        return json.dumps(dict(session))
    lines = "".join(f"\n{json.dumps(transaction)}," for transaction in transactions)
    return f'{json.dumps(fields)[:-1]}{", " if fields else ""}"transactions": [{lines[:-1]}]}}'


def _name(what: str, name: Any) -> Name:
    """Refuses what a history cannot have as a name, a key or a value."""
    if isinstance(name, bool) or not isinstance(name, (int, str)):
        raise TypeError(f"a {what} is an integer or a string, not {name!r}")
    if isinstance(name, int) and not -(2**63) <= name < 2**64:
        raise ValueError(f"the {what} {name} needs more than 64 bits: record it as a string")
    return name
