"""Checks histories and says what a failed check means."""

from __future__ import annotations

import base64
import html
import json
import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._program import SATISFIED, UNDECIDED, VIOLATED, Error, Source, Undecided, program, run
from ._record import Recorder, text

__unittest = True

Location = Union[str, "os.PathLike[str]"]
History = Union[Recorder, Location, Mapping[str, Any]]


@dataclass(frozen=True)
class Violation:
    """One cause of a violated level, told by its simplest proof."""

    id: str
    """`LostUpdate/1`: other commands of the program and the window find it by this."""
    pattern: str
    """The id of its pattern: `LostUpdate`."""
    levels: Tuple[str, ...]
    """The codes of the levels that it breaks, the weakest first."""
    title: str
    """What happened, in a few words."""
    text: str
    """Who did what, in a sentence."""


class Result:
    """What the program says about one history. True if every level asked for holds."""

    def __init__(self, report: Dict[str, Any], code: int, source: Source, options: Sequence[str]) -> None:
        self.report = report
        """The whole report (isoscope.report/1)."""
        self.holds = code == SATISFIED
        """Whether every level asked for holds, and something was tested."""
        self.verdicts: Dict[str, str] = {level["level"]: level["verdict"] for level in report["levels"]}
        """`satisfied`, `violated` or `undecided`, by the code of the level."""
        self.patterns: Dict[str, int] = {name: count for name, count in report["patterns"].items() if count}
        """How many instances each pattern has that occurs; at least so many if the report has a field `cut`."""
        self.violations = _causes(report)
        """One for each cause, the weakest level first."""
        self._source = source
        self._options = options

    @property
    def undecided(self) -> Optional[str]:
        """Why a level is undecided, or why nothing was tested, in one line; None if neither is so."""
        for level in self.report["levels"]:
            if level["verdict"] == "undecided":
                return f"{level['level']} is undecided: {level.get('reason', 'no reason is given')}"
        if self.report.get("tested", True):
            return None
        reasons = [str(found["text"]) for found in self.report["health"] if found["kind"] == "nothing-tested"]
        return reasons[0] if reasons else "Nothing was tested."

    def explain(self, id: Optional[str] = None) -> str:
        """A violation in words, by default the first. Raises Error if there is none."""
        return run(["explain", "--plain", *self._choose(id)], self._source, [0])[1].strip()

    def svg(self, id: Optional[str] = None, view: str = "graph") -> str:
        """The picture of a violation, by default of the first: `graph`, `lanes`, `matrix` or `key`.

        Raises Error if there is none.
        """
        with tempfile.TemporaryDirectory(prefix="isoscope-") as folder:
            picture = Path(folder) / "picture.svg"
            run(["export", "--output", str(picture), "--view", view, *self._choose(id)], self._source, [0])
            return picture.read_text(encoding="utf-8")

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        words = ", ".join(f"{level} {verdict}" for level, verdict in self.verdicts.items())
        return f"<isoscope.Result: {words}{f' ({self.undecided})' if self.undecided else ''}>"

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg()
        except Error:
            return None

    def _repr_html_(self) -> str:
        rows = [f"<tr><td>{level}</td><td>{verdict}</td></tr>" for level, verdict in self.verdicts.items()]
        parts = [f"<table>{''.join(rows)}</table>"]
        if self.undecided:
            parts.append(f"<p>{html.escape(self.undecided)}</p>")
        for first in self.violations[:1]:
            parts.append(f"<p><b>{html.escape(first.title)}</b><br>{html.escape(first.text)}</p>")
        picture = self._repr_svg_()
        if picture:
            # As an image, so that its style sheet does not reach the notebook.
            data = base64.b64encode(picture.encode("utf-8")).decode("ascii")
            parts.append(f'<img alt="" src="data:image/svg+xml;base64,{data}">')
        return "".join(parts)

    def _choose(self, id: Optional[str]) -> List[str]:
        if id is None:
            if not self.violations:
                raise Error("no violation is listed")
            id = self.violations[0].id
        return [f"--violation={id}", f"--level={','.join(self.verdicts)}", *self._options]


def check(history: History, level: str, *, options: Sequence[str] = ()) -> Result:
    """Checks a history, which is a recorder, a path or a document, against a level or several: `SI,SER`.

    `options` are options of the program that `check`, `explain` and `export` have, such as `--time-limit=60`.
    Raises Error if the history cannot be read, or there is no such level or no program. What is undecided is no
    error here: see `Result.undecided`.
    """
    __tracebackhide__ = True
    source = _source(history)
    arguments = ["check", "--json", f"--level={level}", *options]
    code, printed = run(arguments, source, [SATISFIED, VIOLATED, UNDECIDED])
    reports = printed.splitlines()
    if len(reports) != 1:
        raise Error(f"{source.path} has {len(reports)} histories, expected one")
    return Result(json.loads(reports[0]), code, source, options)


def assert_holds(
    history: History, level: str, *, options: Sequence[str] = (), folder: Optional[Location] = None
) -> None:
    """Passes if every level holds. Arguments are those of `check`.

    Raises AssertionError if one is violated. The message explains the first violation in words and names its picture
    and the history, which stay in a new folder: in `folder`, else in that of the environment variable
    ISOSCOPE_FOLDER, else among the temporary files. Raises Undecided if nothing is violated but a level is undecided
    or nothing was tested, and Error as `check` does.
    """
    __tracebackhide__ = True
    result = check(history, level, options=options)
    if "violated" in result.verdicts.values():
        raise AssertionError(_message(result, folder))
    if not result:
        raise Undecided(result.undecided or "undecided")


def _source(history: History) -> Source:
    if isinstance(history, Recorder):
        history = history.history()
    if isinstance(history, Mapping):
        return Source("-", text(history).encode("utf-8"))
    return Source(os.fspath(history))


def _causes(report: Mapping[str, Any]) -> List[Violation]:
    """The listed violations that contain no simpler one. Those that break the most levels come first."""
    found = []
    for entry in report["violations"]:
        if "contains" not in entry:
            claim = entry.get("claim", {})
            title, sentence = claim.get("title", entry["name"]), claim.get("text", "")
            found.append(Violation(entry["id"], entry["pattern"], tuple(entry["levels"]), title, sentence))
    return sorted(found, key=lambda violation: -len(violation.levels))


def _message(result: Result, folder: Optional[Location]) -> str:
    """Saves the history and a picture, and says what is violated, why, and where they are."""
    kept = Path(_new_folder(folder))
    path = result._source.path
    if result._source.content is not None:
        path = str(kept / "history.json")
        Path(path).write_bytes(result._source.content)
    violated = ", ".join(level for level, verdict in result.verdicts.items() if verdict == "violated")
    opener = "isoscope" if shutil.which("isoscope") else shlex.quote(program())
    lines = [f"history: {path}", f"open it: {opener} {shlex.quote(path)}"]
    if not result.violations:
        return "\n".join([f"{violated} violated", "", *lines])
    first = result.violations[0]
    picture = kept / f"{first.id.replace('/', '-')}.svg"
    try:
        explained = result.explain()
        picture.write_text(result.svg(), encoding="utf-8")
        lines.insert(0, f"picture: {picture}")
    except Error as failure:
        # With limits among the options, the program may not come as far again.
        explained = f"{first.text}\nNo picture: {failure}"
    if len(result.violations) > 1:
        lines.insert(0, f"{len(result.violations) - 1} more with other causes: {_listed(result.violations[1:])}\n")
    return "\n".join([f"{violated} violated: {first.title}", "", explained, "", *lines])


def _listed(violations: Sequence[Violation]) -> str:
    return ", ".join(violation.id for violation in violations[:5]) + (", …" if len(violations) > 5 else "")


def _new_folder(folder: Optional[Location]) -> str:
    parent = folder or os.environ.get("ISOSCOPE_FOLDER")
    if parent:
        os.makedirs(parent, exist_ok=True)
    return tempfile.mkdtemp(prefix="isoscope-", dir=parent)
