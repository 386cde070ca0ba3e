"""A driver program for IsoScope: SQLite, by Python's standard library. docs/drivers.md has the protocol.

isoscope collect --exec 'python3 sqlite.py FILE' -o history.edn
"""

import json
import sqlite3
import sys

TABLES = """
DROP TABLE IF EXISTS isoscope; DROP TABLE IF EXISTS isoscope_list;
CREATE TABLE isoscope (k INTEGER PRIMARY KEY, v INTEGER NOT NULL);
CREATE TABLE isoscope_list (n INTEGER PRIMARY KEY AUTOINCREMENT, k INTEGER NOT NULL, v INTEGER NOT NULL);
"""


class Driver:
    def __init__(self, path):
        # Transactions are begun and ended by this program, not by the module.
        self.db = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = OFF")

    def hello(self, isolation, **_):
        if isolation != "serializable":
            raise sqlite3.OperationalError("SQLite is serializable, it has no other level")
        return {"name": "SQLite", "version": sqlite3.sqlite_version, "lists": True}

    def prepare(self, registers):
        self.db.executescript(TABLES)

    def begin(self):
        self.db.execute("BEGIN")

    def read(self, key):
        row = self.db.execute("SELECT v FROM isoscope WHERE k = ?", (key,)).fetchone()
        return row and row[0]

    def write(self, key, value):
        self.db.execute("INSERT OR REPLACE INTO isoscope VALUES (?, ?)", (key, value))

    def read_list(self, key):
        return [v for v, in self.db.execute("SELECT v FROM isoscope_list WHERE k = ? ORDER BY n", (key,))]

    def append(self, key, value):
        self.db.execute("INSERT INTO isoscope_list (k, v) VALUES (?, ?)", (key, value))

    def commit(self):
        self.db.execute("COMMIT")

    def rollback(self):
        # Some errors have rolled back already.
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")


driver = Driver(sys.argv[1])
for line in sys.stdin:
    request = json.loads(line)
    operation = request.pop("op").replace("-", "_")
    try:
        answer = {"ok": getattr(driver, operation)(**request)}
    except (sqlite3.OperationalError, sqlite3.IntegrityError) as error:
        # Locked, busy or refused: what was not committed has no effect.
        answer = {"aborted": str(error)}
    except Exception as error:
        answer = {"unknown": repr(error)}
    print(json.dumps(answer), flush=True)
