# SPDX-License-Identifier: BSD-2-Clause
"""bpfmon in Python: spans, marks and metrics of the run that this process is part of, and runs to record and to read.

It needs only the standard library. A copy of this file, as bpfmon.py, has everything except the magics and plugins.
Outside a run spans, marks and metrics do nothing and print nothing. docs/STUDY.md has examples.
"""

from __future__ import annotations

import functools
import json
import operator
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, overload

if TYPE_CHECKING:
    import socket

__version__ = "0.1.0"
__all__ = ["BpfmonError", "BpfmonMissing", "MemoryNeeded", "Run", "RunNotFound", "in_run", "load", "mark", "metric", "run", "runs", "span", "track"]

# executed by load() and run(); in a virtual environment that of the wheel, as a notebook's PATH lacks its bin
_wheel_program = os.path.join(sys.prefix, "bin", "bpfmon") if sys.prefix != sys.base_prefix else ""
PROGRAM = os.environ.get("BPFMON_PROGRAM") or (_wheel_program if os.path.exists(_wheel_program) else "bpfmon")
NAME_BYTES, TAG_BYTES, MARK_BYTES, ANSWER_BYTES = 255, 255, 1024, 256
PATIENCE_SECONDS = 10  # limit, for a stopped run or a loaded machine
CANNOT = "cannot reach the run: "  # prefix of an answer if a later attempt may succeed

Row = Dict[str, Any]
Function = TypeVar("Function", bound=Callable[..., Any])
Number = Union[bool, int, float, str]

# Read once: a process is in a run from its start, and frequent calls should cost nothing outside a run.
_address: Optional[str] = os.environ.get("BPFMON_SPAN_SOCKET") or None
_mark_path: Optional[str] = os.environ.get("BPFMON_MARK_SOCKET") or None
_said: set[str] = set()  # warnings that were logged; each is logged once


def in_run() -> bool:
    """Returns True if this process is in a run, according to its environment."""
    return _address is not None


def _say(text: str) -> None:
    """Logs a warning, once. A job must not fail because of its measurement."""
    if text not in _said and len(_said) < 20:
        try:
            import logging
        except OSError:  # for example, no free descriptor
            return
        _said.add(text)
        logging.getLogger("bpfmon").warning("%s", text)


def _ask(message: bytes, undo: bytes = b"") -> str:
    """Sends a message to the run. Returns a number on success, else the reason; "" if the run has ended.

    If a signal handler raises an exception before the answer arrives, sends `undo` as well.
    """
    global _address
    import socket
    import struct

    address, patience = _address, struct.pack("@ll", PATIENCE_SECONDS, 0)
    if address is None:
        return ""
    try:
        # not settimeout(): a non-blocking connect() fails at once while others wait
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(None)  # nor the default timeout of the job
            s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, patience)
            s.connect("\0" + address[1:])
            s.send(message)
            try:
                answer = s.recv(ANSWER_BYTES).decode(errors="replace")
            except OSError:
                raise
            except BaseException:
                if undo:
                    _ask(undo)
                raise
        return answer or "the run sent no answer"
    except ConnectionRefusedError:
        _address = None  # it has ended, or cannot be reached from here
        return ""
    except BlockingIOError:
        _address = None  # do not wait again
        return "the run does not answer; nothing more is sent to it"
    except OSError as error:
        return CANNOT + (error.strerror or str(error))


def _cut(text: str, most: int) -> str:
    """Cuts a text to `most` bytes of UTF-8. Lone surrogates become question marks."""
    data = text.encode("utf-8", "replace")
    return data.decode() if len(data) <= most else data[:most].decode("utf-8", "ignore")


# Spans of this process, the innermost last. A span covers all threads of the process, so only the
# thread and the task that began the innermost span may begin another inside it.

Owner = Tuple[int, Any]
_lock = threading.RLock()
_open: List[span] = []
_unended: List[bytes] = []  # messages that end spans and have not reached the run yet


def _forget() -> None:
    """Clears the state in a child of fork(), because the spans are those of its parent."""
    global _lock
    _lock = threading.RLock()
    _open.clear()
    _unended.clear()


os.register_at_fork(after_in_child=_forget)


def _catch_up() -> str:
    """Ends spans that could not be ended before. Returns the reason if the run still cannot be reached."""
    while _unended:
        said = _ask(_unended[0])
        if said.startswith(CANNOT):
            return said
        del _unended[0]
    return ""


def _owner() -> Owner:
    """Returns this thread and its current task."""
    task = None
    current_task = getattr(sys.modules.get("asyncio"), "current_task", None)
    if current_task:
        try:
            task = current_task()
        except RuntimeError:  # no loop is running
            pass
    return threading.get_ident(), task


class span:
    """A block that is measured separately: `with bpfmon.span("load", file="a.csv"):`.

    `id` is its number in the run; None outside a run, or if the run refused the span: `refused` has the reason.
    """

    __slots__ = ("name", "tags", "id", "refused", "_owner")

    def __init__(self, name: str, /, **tags: object) -> None:
        self.name, self.tags = name, tags
        self.id: Optional[int] = None
        self.refused = ""
        self._owner: Optional[Owner] = None

    def __enter__(self) -> span:
        if _address is not None:
            self._begin()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._owner is not None:
            self._end()

    def _message(self, what: str) -> bytes:
        said: Row = {"span": what, "name": _cut(str(self.name), NAME_BYTES), "in_place": True}
        if self.tags and what == "begin":
            room = {key: max(TAG_BYTES - 1 - len(key.encode("utf-8", "replace")), 0) for key in self.tags}
            said["tags"] = {key: _cut(str(value), room[key]) for key, value in self.tags.items()}
        return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")

    def _begin(self) -> None:
        owner = _owner()
        with _lock:
            if self._owner is not None:
                raise RuntimeError(f"span {self.name!r} has already begun; use a new span for each block")
            self.id, self.refused = None, ""
            said = self._why_not(owner)
            if not said:
                try:
                    begin, end = self._message("begin"), self._message("end")
                except Exception as error:  # str() failed: the job continues without the span
                    said = f"its name or tags cannot be converted to text: {error}"
                else:
                    said = _catch_up() or _ask(begin, end)
            if said.isdigit():
                self.id, self._owner = int(said), owner
                _open.append(self)
            elif said:
                self.refused = said
        if self.refused:  # without the lock, because a logging handler may use spans
            _say(f"no span {_name_of(self.name)}: {self.refused}")

    def _why_not(self, owner: Owner) -> str:
        above = _open[-1]._owner if _open else None
        if not above or (above[0] == owner[0] and above[1] in (None, owner[1])):
            return ""
        other = "thread" if above[0] != owner[0] else "task"
        return f"the process is in span {_open[-1].name!r} of another {other}, and can be in only one span at a time"

    def _end(self) -> None:
        """Ends the spans inside it first, such as those left open by a generator: the run ends only the innermost span."""
        refused = []
        with _lock:
            self._owner = None
            while self in _open:
                inner = _open.pop()
                inner._owner = None
                message = inner._message("end")
                said = _catch_up() or _ask(message)
                if said.startswith(CANNOT):
                    _unended.append(message)
                if said and not said.isdigit():
                    refused.append(f"span {inner.name!r} has not ended: {said}")
        for text in refused:
            _say(text)


def _name_of(name: object) -> str:
    try:
        return repr(name)
    except Exception:
        return "without a name"


@overload
def track(name: Function, /) -> Function: ...
@overload
def track(name: Optional[str] = None, /, **tags: object) -> Callable[[Function], Function]: ...
def track(name: Any = None, /, **tags: object) -> Any:
    """Decorator that makes each call of a function a span: `@bpfmon.track`, or `@bpfmon.track("name", key="value")`."""
    if callable(name) or isinstance(name, (staticmethod, classmethod)):
        return _tracked(name, None, {})
    return lambda function: _tracked(function, name, tags)


def _tracked(function: Any, name: Optional[str], tags: Mapping[str, object]) -> Any:
    import inspect

    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_tracked(function.__func__, name, tags))
    label = name or str(function.__qualname__)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"bpfmon.track: {label} is a generator, and other code runs between its values; use bpfmon.span around the code that reads it")
    if _address is None:
        return function
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with span(label, **tags):
                return await function(*args, **kwargs)

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with span(label, **tags):
            return function(*args, **kwargs)

    return called


# Marks and metrics

_mark_socket: Optional[socket.socket] = None


def _push(message: bytes) -> bool:
    """Sends a message to the socket of --marks, which does not answer; if it is full or missing, to the socket for spans."""
    global _mark_path, _mark_socket
    path = _mark_path  # another thread may set it to None
    if path is not None:
        import socket

        try:
            if _mark_socket is None:
                _mark_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            _mark_socket.sendto(message, socket.MSG_DONTWAIT, path)
            return True
        except (ConnectionRefusedError, FileNotFoundError, PermissionError):
            _mark_path = None  # the run has ended, or the folder belongs to another user
        except OSError:
            pass  # the socket is full, or the message too large for it
    said = _ask(message)
    if said and not said.isdigit():
        _say(f"the run refused {message[:40].decode(errors='replace')!r}: {said}")
    return said.isdigit()


def mark(text: str, /) -> bool:
    """Begins a phase of the run. The text is cut to 1024 bytes. Returns True if it was sent."""
    if _address is None and _mark_path is None:
        return False
    try:
        message = _cut(str(text), MARK_BYTES).encode()
    except Exception as error:
        return _not_sent(f"no mark: {error}")
    return _push(b"mark " + message) if message else _not_sent("no mark: its text is empty")


def _not_sent(why: str) -> bool:
    _say(why)
    return False


def _escaped(text: object, of: str) -> str:
    """Writes a name or tag in line protocol, which cannot express control characters or a backslash before a separator."""
    name = "".join(" " if c < " " else c for c in str(text))
    if not name or (of == "name" and name[0] == "#"):
        raise ValueError(f"a {of} cannot be {name!r}")
    if name.endswith("\\"):
        name = name[:-1] + "/"
    for c in (",", "=", " "):
        name = name.replace("\\" + c, "/" + c).replace(c, "\\" + c)
    return name


def _field(value: Any) -> str:
    """Writes a value in line protocol. Returns "" for None and numbers that line protocol cannot express."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    try:
        whole = operator.index(value)
    except TypeError:  # not an integer; for example, an array with one number
        number = float(value)
        return repr(number) if number - number == 0 else ""  # neither infinite nor NaN
    return f"{whole}i" if -(1 << 63) <= whole < 1 << 63 else f"{whole}u" if 0 < whole < 1 << 64 else ""


def _line(name: object, fields: Mapping[str, Any], tags: Mapping[str, object], time_ns: Optional[int]) -> str:
    """Writes a line of line protocol. Returns "" if no field has a value."""
    parts = {key: _field(field) for key, field in fields.items()}
    written = ",".join(f"{_escaped(key, 'field')}={text}" for key, text in parts.items() if text)
    labels = "".join(f",{_escaped(key, 'tag')}={_escaped(tag, 'tag')}" for key, tag in tags.items() if str(tag))
    return f"{_escaped(name, 'name')}{labels} {written}{'' if time_ns is None else f' {time_ns:d}'}" if written else ""


def metric(name: str, value: Optional[Number] = None, /, *, tags: Optional[Mapping[str, object]] = None, time_ns: Optional[int] = None, **fields: Number) -> bool:
    """Adds a metric to the run: `metric("loss", 0.5, step=7, tags={"phase": "train"})`. Returns True if it was sent.

    Values that are None, infinite or NaN are left out, because line protocol cannot express them.
    """
    if _address is None and _mark_path is None:
        return False
    if value is not None:
        fields = {"value": value, **fields}
    try:
        line = _line(name, fields, tags or {}, time_ns).encode("utf-8", "replace")
    except Exception as error:
        return _not_sent(f"no metric {_name_of(name)}: {error}")
    return bool(line) and _push(b" " + line)  # the blank distinguishes it from a mark


# Runs


class BpfmonError(Exception):
    """bpfmon refused a request, or failed."""


class BpfmonMissing(BpfmonError):
    """The program bpfmon was not found."""


class RunNotFound(BpfmonError, LookupError):
    """There is no run with that name or number, and no such file."""


_KINDS = {"sample": "samples", "process": "processes", "process_sample": "process_samples", "span": "spans", "event": "events", "metric": "metrics"}


class MemoryNeeded(NamedTuple):
    """The memory to request, without a margin (docs/RUN.md)."""

    bytes: int
    witness: str  # its source: "cgroup", "pss" or "rss"
    bound: str  # "equal" (within a tenth), "at_most" or "at_least"


class Run:
    """A recorded run, with the keys and units of docs/METRICS.md. Lists contain a dictionary per row, as for pandas.DataFrame."""

    def __init__(self, lines: Iterable[Row]) -> None:
        self.meta: Row = {}
        self.summary: Row = {}  # empty if the run has none and no bpfmon is installed to make it
        self.samples: List[Row] = []
        self.processes: List[Row] = []
        self.process_samples: List[Row] = []
        self.spans: List[Row] = []
        self.events: List[Row] = []
        self.metrics: List[Row] = []
        self.stdout: Any = None  # of run(), if requested
        self.stderr: Any = None
        for line in lines:
            kind = line.get("kind")
            if kind == "meta":
                self.meta = line
            elif kind == "summary":
                self.summary = line
            elif kind in _KINDS:
                getattr(self, _KINDS[kind]).append(line)

    @property
    def id(self) -> str:
        """The UUID, which is the same in every store."""
        return str(self.meta["run"])

    @property
    def name(self) -> Optional[str]:
        return self.meta.get("name")

    @property
    def tags(self) -> Dict[str, str]:
        return self.meta.get("tags") or {}

    @property
    def command(self) -> List[str]:
        return self.meta.get("command") or []

    @property
    def exit_code(self) -> Optional[int]:
        """None if a signal ended the command, it has not ended, or the run was attached to it."""
        return self.summary.get("exit_code")

    @property
    def signal(self) -> Optional[int]:
        return self.summary.get("signal")

    @property
    def complete(self) -> bool:
        """True if no data was lost."""
        return bool(self.summary.get("complete"))

    @property
    def memory_needed(self) -> Optional[MemoryNeeded]:
        """None if unknown: in a run of an earlier bpfmon, or before its end."""
        s = self.summary
        if "memory_needed_bytes" not in s:
            return None
        return MemoryNeeded(s["memory_needed_bytes"], s["memory_needed_witness"], s["memory_needed_bound"])

    @property
    def marks(self) -> List[Row]:
        return [event for event in self.events if event.get("event") == "mark"]

    def __repr__(self) -> str:
        return f"<bpfmon.Run {self.name or self.id[:8]}: {' '.join(self.command)[:60]}>"


def _lines(file: Iterable[bytes], source: str) -> Iterable[Row]:
    """Reads the lines of a run. Ignores a last line that was cut off."""
    for number, text in enumerate(file, 1):
        if not text.endswith(b"\n"):
            break
        try:
            line = json.loads(text)
        except ValueError as error:
            raise BpfmonError(f"{source}: line {number} is not JSON: {error}") from None
        if number == 1 and not (isinstance(line, dict) and line.get("kind") == "meta"):
            raise BpfmonError(f"{source} is not a run of bpfmon: its first line is not a meta line")
        yield line


def _is_run(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return any(line["kind"] == "meta" for line in _lines([file.readline(1 << 24)], path))
    except (OSError, BpfmonError):
        return False


def _execute(*words: str) -> bytes:
    """Returns what bpfmon prints, for example a run or a page."""
    import subprocess

    try:
        done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise BpfmonMissing(f"cannot execute {PROGRAM}: {error.strerror}; install bpfmon, or set BPFMON_PROGRAM to its path") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or f"{PROGRAM} {words[0]} ended with {done.returncode}"
        raise (RunNotFound if said.startswith("bpfmon: no run ") else BpfmonError)(said)
    return done.stdout


def load(run: Union[int, str, os.PathLike[str], None] = None, *, store: Union[str, os.PathLike[str], None] = None) -> Run:
    """Reads a run of the store, named as for `bpfmon show` (42, "align", "align~1"; None: the last), or a file of JSON Lines.

    A file is read without bpfmon. Raises RunNotFound if there is no such run, BpfmonMissing if bpfmon is not installed.
    """
    word = "the last run" if run is None else os.fspath(run) if isinstance(run, os.PathLike) else str(run)
    words = [] if run is None else [word]
    options = ["--store", os.fspath(store)] if store is not None else []
    if isinstance(run, str) and word.startswith("-"):
        raise RunNotFound(f"no run is named {word!r}; to read a file of that name, use './{word}'")
    if isinstance(run, os.PathLike) and not os.path.exists(word):
        raise RunNotFound(f"there is no file {word!r}")
    if isinstance(run, os.PathLike) or (isinstance(run, str) and not word.isdigit() and _is_run(word)):
        words = [word if "/" in word else "./" + word]
        with open(word, "rb") as file:
            found = Run(_lines(file, word))
    else:
        found = Run(_lines(_execute("export", *words, "-q", "-f", "jsonl", *options).splitlines(keepends=True), word))
    if not found.meta:
        raise BpfmonError(f"{word} is not a run of bpfmon: it is empty")
    if not found.summary:  # the file was cut off: bpfmon makes a summary of the rest
        try:
            found.summary = json.loads(_execute("show", *words, "--json", *options))["summary"]
        except BpfmonMissing:
            pass
    return found


def _filters(filters: Mapping[str, object]) -> List[str]:
    """Returns options of `bpfmon list`. A list repeats the option, a dictionary becomes KEY=VALUE, None is left out."""
    words = []
    for key, value in filters.items():
        if isinstance(value, Mapping):
            value = [f"{name}={text}" for name, text in value.items()]
        for one in [] if value is None else value if isinstance(value, (list, tuple)) else [value]:
            words.append(f"--{key.replace('_', '-')}={one}")
    return words


def runs(
    name: Optional[str] = None, *, tag: Union[Mapping[str, object], Sequence[str], str, None] = None,
    store: Union[str, os.PathLike[str], None] = None, **filters: object,
) -> Any:
    """Returns the runs that `bpfmon list` lists, the newest first, as a pandas.DataFrame with the keys of its JSON.

    `name` may contain wildcards. Other filters are options of `bpfmon list`: command, host, job, since, state, user, ...
    """
    import importlib

    pandas: Any = importlib.import_module("pandas")
    chosen: Dict[str, object] = {"name": name, "tag": tag, "store": None if store is None else os.fspath(store), **filters}
    rows = [json.loads(line) for line in _execute("list", "--json", *_filters(chosen)).splitlines()]
    for row in rows:
        del row["schema"]
    return pandas.DataFrame(rows)


def run(
    command: Sequence[Union[str, os.PathLike[str]]], *, name: Optional[str] = None, tags: Optional[Mapping[str, object]] = None,
    interval: Union[float, str, None] = None, options: Sequence[str] = (), sudo: bool = False, check: bool = False, **popen: Any,
) -> Run:
    """Records a command and returns its run, which is also saved in the store unless `options` contains "--no-store".

    `options` are further options of bpfmon, `popen` those of subprocess.Popen. With sudo=True bpfmon runs by sudo, and the
    command as root unless `options` contains "--user". With check=True an exit status other than 0 raises CalledProcessError.
    """
    import contextlib
    import subprocess
    import tempfile

    if isinstance(command, (str, bytes)) or not command:
        raise TypeError('bpfmon.run: the command is a list of words, as in ["make", "-j8"]')
    with tempfile.TemporaryDirectory(prefix="bpfmon-") as folder:
        path = os.path.join(folder, "run.jsonl")
        argv = [*(["sudo"] if sudo else []), PROGRAM, "-q", "-o", path]
        argv += ["--name", name] if name is not None else []
        argv += [word for key, value in (tags or {}).items() for word in ("--tag", f"{key}={value}")]
        argv += ["-i", str(interval)] if interval is not None else []
        argv += [*options, "--", *(os.fspath(word) for word in command)]
        try:
            process = subprocess.Popen(argv, **popen)
        except (FileNotFoundError, PermissionError) as error:
            if error.filename not in (argv[0], None):
                raise  # the working directory is missing
            raise BpfmonMissing(f"cannot execute {argv[0]}: {error.strerror}; install bpfmon, or set BPFMON_PROGRAM to its path") from None
        try:
            said = process.communicate()
        except BaseException:
            with contextlib.suppress(PermissionError):  # of sudo, which also got the signal from the terminal
                process.terminate()  # also sent to the command
            process.wait()
            raise
        if not os.path.exists(path) or not os.path.getsize(path):
            why = f": {said[1].decode(errors='replace') if isinstance(said[1], bytes) else said[1]}".rstrip() if said[1] else "; its reason is on stderr"
            raise BpfmonError(f"bpfmon recorded nothing and exited with {process.returncode}{why}")
        found = load(path)
    found.stdout, found.stderr = said
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), *said)
    return found


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics %bpfmon and %%bpfmon for `%load_ext bpfmon`."""
    from .magic import register  # not part of a copy of this file alone

    register(shell)
