"""A driver program for IsoScope: etcd 3.4 and later, through its HTTP gateway. docs/drivers.md has the protocol.

isoscope collect --exec 'python3 etcd.py http://127.0.0.1:2379' --workload mini -o history.edn

Reads are sent at once, writes are buffered; the commit writes them if no key that was read has changed (its mod_revision
is the same). That makes transactions strictly serializable. With the word `local` behind the address, reads are answered by this
member alone, all of a transaction from one revision. It may be behind: a commit that writes notices that, one that only reads does not ask.
"""

import base64
import json
import sys
import urllib.error
import urllib.request

PREFIX = "isoscope/"


def coded(text):
    return base64.b64encode(text.encode()).decode()


class Aborted(Exception):
    pass


class Driver:
    def __init__(self, url, local):
        self.url, self.local = url, local

    def call(self, path, **body):
        request = urllib.request.Request(f"{self.url}{path}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)

    def hello(self, isolation, **_):
        if isolation not in ("serializable", "strict-serializable"):
            raise Aborted("etcd's transactions are serializable")
        with urllib.request.urlopen(f"{self.url}/version", timeout=5) as answer:
            return {"name": "etcd", "version": json.load(answer)["etcdserver"]}

    def prepare(self, registers):
        # From the prefix to the text after it: all keys of earlier runs.
        self.call("/v3/kv/deleterange", key=coded(PREFIX), range_end=coded(PREFIX[:-1] + "0"))

    def begin(self):
        self.seen, self.writes, self.revision = {}, {}, {}

    def read(self, key):
        if key in self.writes:
            return self.writes[key]
        if key not in self.seen:
            answer = self.call("/v3/kv/range", key=coded(f"{PREFIX}{key}"), serializable=self.local, **self.revision)
            if self.local and not self.revision:
                self.revision = {"revision": answer["header"]["revision"]}
            found = answer.get("kvs")
            value = int(base64.b64decode(found[0]["value"])) if found else None
            self.seen[key] = (value, found[0]["mod_revision"] if found else "0")
        return self.seen[key][0]

    def write(self, key, value):
        self.writes[key] = value

    def commit(self):
        if self.local and not self.writes:
            return
        name = lambda key: coded(f"{PREFIX}{key}")
        compare = [
            {"key": name(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision}
            for key, (_, revision) in self.seen.items()
        ]
        puts = [{"request_put": {"key": name(key), "value": coded(str(value))}} for key, value in self.writes.items()]
        if not self.call("/v3/kv/txn", compare=compare, success=puts, failure=[]).get("succeeded"):
            raise Aborted("a key that was read has changed")

    def rollback(self):
        self.begin()


driver = Driver(sys.argv[1].rstrip("/"), "local" in sys.argv[2:])
for line in sys.stdin:
    request = json.loads(line)
    operation = request.pop("op")
    try:
        answer = {"ok": getattr(driver, operation)(**request)}
    except Aborted as why:
        answer = {"aborted": str(why)}
    except Exception as error:
        # Before a commit nothing has an effect, and IsoScope knows that. After it, no answer says nothing.
        answer = {"unknown": repr(error)}
    print(json.dumps(answer), flush=True)
