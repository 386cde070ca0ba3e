"""A driver program for IsoScope: Tarantool 2, in its binary protocol. docs/drivers.md has the protocol.

tarantool -e "box.cfg{listen = 3301} box.schema.user.grant('guest', 'super', nil, nil, {if_not_exists = true})"
isoscope collect --exec 'python3 tarantool.py 127.0.0.1:3301' --workload mini -o history.edn

Each key is a row with a text, a list is one whose text grows. Reads are sent at once, writes are buffered; the commit is one Lua
program that writes if no text that was read is another one now. A program is interrupted only where it waits, and this one waits for
the log, at its end: that makes transactions strictly serializable. Others already see what is still on its way to the log, and a
crash may undo that; so a transaction that only reads writes a row without a meaning, and waits for the log, too.
With the word `local` behind the address, it ends without asking again: it may see what is old, lost later, or not of one moment.
"""

import json
import re
import socket
import struct
import sys

PREPARE = """
if box.space.isoscope then box.space.isoscope:drop() end
local space = box.schema.space.create('isoscope', {engine = 'memtx'})
space:create_index('primary', {parts = {1, 'string'}})
"""
READ = "local row = box.space.isoscope:get(...) return row and row[2] or ''"
COMMIT = """
local space, seen, texts, ends = box.space.isoscope, ...
local function text(name)
    local row = space:get(name)
    return row and row[2] or ''
end
box.begin()
for name, old in pairs(seen) do
    if text(name) ~= old then
        box.rollback()
        return false
    end
end
space:replace{'', ''}
for name, new in pairs(texts) do space:replace{name, new} end
for name, new in pairs(ends) do space:replace{name, text(name) .. new} end
box.commit()
return true
"""
EVAL, KIND, NUMBER, PROGRAM, ARGUMENTS, DATA, ERROR = 8, 0, 1, 0x27, 0x21, 0x30, 0x31
# Errors of a server that refuses to write, before it has written: it only reads, or transactions are in conflict.
REFUSED = (7, 97)
# Forms of MessagePack by the first byte.
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
NUMBERS = dict(zip((0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD3), "BHIQbhiq"))
TEXTS, LISTS, MAPS = {0xD9: "B", 0xDA: "H", 0xDB: "I"}, {0xDC: "H", 0xDD: "I"}, {0xDE: "H", 0xDF: "I"}


def packed(value):
    if isinstance(value, int):
        return struct.pack(">BQ", 0xCF, value)
    if isinstance(value, str):
        return struct.pack(">BI", 0xDB, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    return struct.pack(">BI", 0xDF, len(value)) + b"".join(packed(part) for pair in value.items() for part in pair)


def unpacked(stream):
    def number(form):
        return struct.unpack(">" + form, stream.read(struct.calcsize(form)))[0]

    first = stream.read(1)
    if not first:
        raise ConnectionError("the server has closed the connection")
    first = first[0]
    if first < 0x80 or first >= 0xE0:
        return first if first < 0x80 else first - 256
    if first in CONSTANTS:
        return CONSTANTS[first]
    if first in NUMBERS:
        return number(NUMBERS[first])
    if 0xA0 <= first < 0xC0 or first in TEXTS:
        return stream.read(first & 31 if first < 0xC0 else number(TEXTS[first])).decode()
    if 0x90 <= first < 0xA0 or first in LISTS:
        return [unpacked(stream) for _ in range(first & 15 if first < 0xC0 else number(LISTS[first]))]
    pairs = range(first & 15 if first < 0xC0 else number(MAPS[first]))
    return {unpacked(stream): unpacked(stream) for _ in pairs}


class Aborted(Exception):
    pass


class Driver:
    def __init__(self, address, local):
        host, port = address.rsplit(":", 1)
        self.address, self.local, self.number = (host, int(port)), local, 0

    def call(self, program, *arguments):
        self.number += 1
        body = packed({PROGRAM: program, ARGUMENTS: list(arguments)})
        frame = packed({KIND: EVAL, NUMBER: self.number}) + body
        self.socket.sendall(packed(len(frame)) + frame)
        _, header, answer = (unpacked(self.stream) for _ in range(3))
        error = header[KIND] & 0x7FFF
        if header[NUMBER] != self.number or error and error not in REFUSED:
            raise RuntimeError(f"error {error} in answer {header[NUMBER]} to {self.number}: {answer.get(ERROR)}")
        if error:
            raise Aborted(answer[ERROR])
        return answer[DATA][0] if answer[DATA] else None

    def hello(self, isolation, **_):
        if isolation not in ("serializable", "strict-serializable"):
            raise Aborted("a Lua program is serializable, this driver has no other level")
        self.socket = socket.create_connection(self.address, timeout=5)
        self.stream = self.socket.makefile("rb")
        greeting = self.stream.read(128).decode()
        return {"name": "Tarantool", "version": re.match(r"Tarantool ([\d.]+)", greeting)[1], "lists": True}

    def prepare(self, registers):
        self.call(PREPARE)

    def begin(self):
        self.seen, self.texts, self.ends = {}, {}, {}

    def text(self, name):
        if name not in self.texts and name not in self.seen:
            self.seen[name] = self.call(READ, name)
        return self.texts[name] if name in self.texts else self.seen[name]

    def read(self, key):
        return int(self.text(f"register {key}") or 0)

    def write(self, key, value):
        self.texts[f"register {key}"] = str(value)

    def read_list(self, key):
        name = f"list {key}"
        return [int(element) for element in (self.text(name) + self.ends.get(name, "")).split()]

    def append(self, key, value):
        name = f"list {key}"
        self.ends[name] = f"{self.ends.get(name, '')} {value}"

    def commit(self):
        if self.local and not self.texts and not self.ends:
            return
        if not self.call(COMMIT, self.seen, self.texts, self.ends):
            raise Aborted("a key that was read has changed")

    def rollback(self):
        self.begin()


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
