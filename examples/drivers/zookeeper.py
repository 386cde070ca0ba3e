"""A driver program for IsoScope: ZooKeeper 3.4 and later, in its binary protocol. docs/drivers.md has the protocol.

isoscope collect --exec 'python3 zookeeper.py 127.0.0.1:2181' --workload mini -o history.edn

Each key is a node, a list is one whose text grows. Reads are sent at once, writes are buffered; the commit is one `multi`, done
completely or not at all: it writes if no node that was read has another version now. That makes transactions strictly serializable,
although a server answers reads from what it has, which may be old. No operation checks that a node is absent: one that was
read as absent is created, and deleted at once if the transaction does not write it. With the word `local` behind the address,
a transaction that only reads is not checked: it may see old data, and not all of it from one moment.
"""

import contextlib
import json
import re
import socket
import struct
import sys

CREATE, DELETE, GET_DATA, SET_DATA, GET_CHILDREN, SYNC, CHECK, MULTI, CLOSE = 1, 2, 4, 5, 8, 9, 13, 14, -11
NO_NODE, NODE_EXISTS, ANY_VERSION = -101, -110, -1
ROOT = "/isoscope"


def packed(*fields):
    """Numbers of 32 bits, texts behind their lengths, and bytes as they are."""
    one = lambda field: field if isinstance(field, bytes) else struct.pack(">i", field)
    return b"".join(one(len(f)) + f.encode() if isinstance(f, str) else one(f) for f in fields)


def create(path, text):
    # The list of permissions has one entry, everything for everybody; no flags.
    return CREATE, packed(path, text, 1, 31, "world", "anyone", 0)


class Aborted(Exception):
    pass


class Driver:
    def __init__(self, address, local):
        host, port = address.rsplit(":", 1)
        self.address, self.local, self.socket, self.number = (host, int(port)), local, None, 0

    def send(self, frame):
        self.socket.sendall(packed(len(frame)) + frame)

    def receive(self):
        length = self.stream.read(4)
        if not length:
            raise ConnectionError("the server has closed the connection")
        return self.stream.read(int.from_bytes(length, "big"))

    def call(self, kind, body, expected=()):
        """The error code, 0 or an expected one, and the rest of the answer."""
        self.number += 1
        self.send(packed(self.number, kind) + body)
        frame = self.receive()
        number, _, error = struct.unpack_from(">iqi", frame)
        if number != self.number or error and error not in expected:
            raise RuntimeError(f"error {error} in answer {number} to request {self.number}")
        return error, frame[16:]

    def multi(self, operations):
        end = packed(-1) + b"\1" + packed(-1)
        _, answer = self.call(MULTI, b"".join(packed(kind) + b"\0" + packed(-1) + body for kind, body in operations) + end)
        # If one failed, then none was done, and an error is in the place of each result.
        if struct.unpack_from(">i", answer) == (-1,):
            raise Aborted("a key that was read has changed")

    def hello(self, isolation, **_):
        if isolation not in ("serializable", "strict-serializable"):
            raise Aborted("a multi is serializable, ZooKeeper has no other level")
        with socket.create_connection(self.address, timeout=5) as other:
            other.sendall(b"srvr")
            version = re.search(rb"version: ([\d.]+)", other.makefile("rb").read())
        self.socket = socket.create_connection(self.address, timeout=5)
        self.stream = self.socket.makefile("rb")
        # Protocol 0, nothing seen so far, 40 seconds without a request, a new session without a password, not read-only.
        self.send(packed(0, 0, 0, 40000, 0, 0, "\0" * 16, b"\0"))
        self.receive()
        return {"name": "ZooKeeper", "version": version[1].decode() if version else "?", "lists": True}

    def prepare(self, registers):
        self.call(SYNC, packed(ROOT))
        self.call(*create(ROOT, ""), [NODE_EXISTS])
        _, answer = self.call(GET_CHILDREN, packed(ROOT) + b"\0")
        # The names stand between their lengths, which are no letters.
        names = re.findall("(?:register|list)-[0-9]+", answer.decode())
        for first in range(0, len(names), 1000):
            self.multi([(DELETE, packed(f"{ROOT}/{name}", ANY_VERSION)) for name in names[first : first + 1000]])

    def begin(self):
        self.seen, self.texts = {}, {}

    def get(self, path):
        """The text of a node and its version, which is none if there is no such node."""
        error, answer = self.call(GET_DATA, packed(path) + b"\0", [NO_NODE])
        if error:
            return "", None
        length = struct.unpack_from(">i", answer)[0]
        # Behind the data: two transactions and two times of 64 bits each, then the version.
        return answer[4 : 4 + length].decode(), struct.unpack_from(">i", answer, 4 + length + 32)[0]

    def text(self, path):
        if path not in self.texts and path not in self.seen:
            self.seen[path] = self.get(path)
        return self.texts[path] if path in self.texts else self.seen[path][0]

    def read(self, key):
        return int(self.text(f"{ROOT}/register-{key}") or 0)

    def write(self, key, value):
        self.texts[f"{ROOT}/register-{key}"] = str(value)

    def read_list(self, key):
        return [int(element) for element in self.text(f"{ROOT}/list-{key}").split()]

    def append(self, key, value):
        path = f"{ROOT}/list-{key}"
        self.texts[path] = f"{self.text(path)} {value}"

    def commit(self):
        operations = []
        for path in {} if self.local and not self.texts else {**self.seen, **self.texts}:
            text, (_, version) = self.texts.get(path), self.seen.get(path) or self.get(path)
            if version is None:
                operations += [create(path, text or "")] + [(DELETE, packed(path, 0))] * (text is None)
            elif text is None:
                operations.append((CHECK, packed(path, version)))
            else:
                operations.append((SET_DATA, packed(path, text, version if path in self.seen else ANY_VERSION)))
        if operations:
            self.multi(operations)

    def rollback(self):
        self.begin()

    def close(self):
        # Without this the server would keep the session for 40 seconds; nothing depends on it.
        with contextlib.suppress(OSError):
            if self.socket:
                self.send(packed(0, CLOSE))


driver = Driver(sys.argv[1], "local" in sys.argv[2:])
for line in sys.stdin:
    request = json.loads(line)
    operation = request.pop("op").replace("-", "_")
    try:
        answer = {"ok": getattr(driver, operation)(**request)}
    except Aborted as why:
        answer = {"aborted": str(why)}
    except Exception as error:
        # Before a commit nothing has an effect, and IsoScope knows that. After it, no answer says nothing.
        answer = {"unknown": repr(error)}
    print(json.dumps(answer), flush=True)
driver.close()
