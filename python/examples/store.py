"""A multi-version store that promises snapshot isolation and loses updates; four threads find out.

usage: python store.py [--fixed]
"""

import itertools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, Iterator, List, Optional, Tuple

import isoscope

CLIENTS, ROUNDS = 4, 5


class Conflict(Exception):
    """Another transaction committed one of the keys first; nothing was written."""


class Store:
    """Keeps all versions of each key. The first of two concurrent writers of a key should win."""

    def __init__(self, fixed: bool) -> None:
        self.fixed = fixed
        self.lock = threading.Lock()
        self.clock = 0
        self.versions: Dict[str, List[Tuple[int, int]]] = {}

    def newest(self, key: str, snapshot: int) -> Tuple[int, Optional[int]]:
        visible = [version for version in self.versions.get(key, []) if version[0] <= snapshot]
        return visible[-1] if visible else (0, None)

    def commit(self, snapshot: int, writes: Dict[str, int]) -> None:
        with self.lock:
            # The bug: only the first key is compared.
            compared = list(writes) if self.fixed else list(writes)[:1]
            if any(self.newest(key, self.clock)[0] > snapshot for key in compared):
                raise Conflict
            self.clock += 1
            for key, value in writes.items():
                self.versions.setdefault(key, []).append((self.clock, value))


def sell(store: Store, session: isoscope.Session, till: str, values: Iterator[int], meet: threading.Barrier) -> None:
    """Changes the client's own till, then the stock that all share; in each round, all transactions overlap."""
    for _ in range(ROUNDS):
        with session.transaction() as t:
            snapshot, writes = store.clock, {}
            for key in (till, "stock"):
                t.read(key, store.newest(key, snapshot)[1])
                writes[key] = next(values)
                t.write(key, writes[key])
            meet.wait(timeout=60)
            try:
                store.commit(snapshot, writes)
            except Conflict:
                t.abort()
        meet.wait(timeout=60)


def main() -> None:
    store, recorder = Store(fixed="--fixed" in sys.argv), isoscope.Recorder()
    values, meet = itertools.count(1), threading.Barrier(CLIENTS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        runs = []
        for client in range(1, CLIENTS + 1):
            session = recorder.session(f"client{client}")
            runs.append(pool.submit(sell, store, session, f"till{client}", values, meet))
        for run in runs:
            run.result()
    isoscope.assert_holds(recorder, "SI")
    print("SI holds")


if __name__ == "__main__":
    main()
