"""The table: what goes wrong, when, over which transport, and what must come of it.

Everything a drill expects is written here; drill.py only compares. `{victim}` stands for a rank,
`{host}` for its address. Times are from the fault until the last rank that lives on knows, on a
loaded machine; the limits in SETTINGS are part of them.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import Iterator

MOMENTS = {
    "launch": "the process runs, the engine is not yet loaded",
    "init": "in hvd.init(), which one rank is late for",
    "negotiation": "the others have submitted and wait for this rank",
    "collective": "somewhere in rounds of large and small allreduces, plans switched off",
    "planned": "the same, while steps run by a plan",
    "idle": "nothing is under way; the next operation tells",
    "shutdown": "as the others call hvd.shutdown()",
}
TRANSPORTS = {
    "shm": {"HOROVODX_TRANSPORT": "auto"},
    "tcp": {"HOROVODX_TRANSPORT": "tcp"},
    "mpi": {"HOROVODX_TRANSPORT": "mpi"},  # started by mpirun
    "mpi+shm": {"HOROVODX_TRANSPORT": "auto"},  # mpirun with what is its default
}
# Of every drill, so that none takes long: silence, connecting, missing tensors.
SETTINGS = {
    "HOROVODX_HEARTBEAT_SECONDS": "3",
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "8",
    "HOROVOD_STALL_CHECK_TIME_SECONDS": "2",
    "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "5",
    "HOROVOD_LOG_HIDE_TIME": "1",
}


ANY_ERROR = -1  # a code: the launcher's own, but not 0


@dataclass(frozen=True)
class Expect:
    """What must come of a fault.

    `survivors`: "lost" (HorovodInternalError from a collective), "noted" (the step fails, the next
    one works), "ok", "ended" (ValueError from init(), unless the launcher ended it before).
    `says`: in the error of each. `code` and `launcher`: what the launcher returns and prints.
    `victim`: in the victim's own error, if it can still have one.
    """

    survivors: str
    within: float
    code: int
    says: str = ""
    launcher: str = ""
    victim: str = ""
    why_not: str = ""  # there is no such cell
    resume: bool = False  # the victim is continued once the others have ended
    settings: dict[str, str] = field(default_factory=dict)


def no(why: str) -> Expect:
    """A cell that cannot be."""
    return Expect("", 0, 0, why_not=why)


_LOST = r"Horovod has been shut down: .*rank {victim}\b"
_BEFORE = r"Horovod initialization failed: .*rank {victim}\b"
# Who, where, what it has not done, and in how long; no key of the rendezvous.
_MISSING = (
    r"Horovod initialization failed: rank {victim} on {host} is missing: it has (not called|begun)"
    r" hvd\.init\(\)[^/]* within \d+(\.\d)? s\. "
)
_OK = Expect("ok", 60, 0)
_LATER = ("negotiation", "collective", "planned", "idle")
Row = dict[str, Expect]


def _later(expect: Expect) -> Row:
    return dict.fromkeys(_LATER, expect)


def _dies(launcher: str) -> Row:
    """The process is gone at once."""
    ended = Expect("ended", 15, 1, says=_BEFORE, launcher=launcher)
    lost = Expect("lost", 8, 1, says=_LOST, launcher=launcher)
    return {
        "launch": ended,
        "init": ended,
        **_later(lost),
        "shutdown": Expect("ok", 15, 1, launcher=launcher),
    }


def _in_submissions(expect: Expect) -> Row:
    nothing = no("no tensor is submitted then")
    return {
        "launch": nothing,
        "init": nothing,
        "negotiation": expect,
        "collective": no("what ranks disagree about is found before any data moves"),
        "planned": expect,
        "idle": nothing,
        "shutdown": nothing,
    }


def _always(expect: Expect, **other: Expect) -> Row:
    return {**dict.fromkeys(MOMENTS, expect), **other}


_killed = r"Rank {victim} \(local rank \d\) on host \S+ was killed by signal "
_silent = Expect(
    "lost", 20, 1, says=_LOST + r".*silent for 3 s", launcher=r"rank {victim}\b.*silent for 3 s"
)
# Who waits in init() longest says so; by then the launcher has ended the others.
_late = Expect("ended", 20, 1, says=_MISSING, launcher=_MISSING)
_left = r"Horovod has been shut down: rank {victim} called hvd\.shutdown\(\) or ended its script"
_mistake = "something of my own went wrong"
_stopped = r"\[{victim}\]<stderr>:horovodrun: process \d+ on host \S+ was stopped by signal 19"
_nobody = no("init() is one native call, in which no line of the script runs")
_reserved = no("memory is reserved during init(); later nothing more is asked for")
_stalled = Expect(
    "lost", 20, 1,
    says=r"Horovod has been shut down: stalled ranks: .*rank {victim} has not submitted \[odd\]",
    launcher=r"Missing ranks:[\s\S]*{victim}!?: \[odd\]",
)  # fmt: skip
_no_stall = {"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "0"}
_no_store = r"rendezvous: lost the server \S+ \(horovodrun\): connection closed"
_other_secret = r"no handshake with the rendezvous \S+: .* HOROVODX_SECRET of this process is not"
_unreachable = Expect("", 0, 1, launcher=r"Timed out waiting for an answer from {host}")
_cut_off = {
    "launch": _unreachable,
    "init": _late,
    **_later(_silent),
    "shutdown": Expect(
        "ok", 20, 1, launcher=r"Rank {victim} .* on host {host} was lost with its host"
    ),
}

MATRIX: dict[str, Row] = {
    "SIGKILL": _dies(_killed + r"9 \(SIGKILL\), perhaps because memory ran out"),
    "SIGSTOP": {
        "launch": replace(_late, launcher=_stopped),
        "init": replace(_late, launcher=_stopped),
        **_later(replace(_silent, launcher=_stopped)),
        "shutdown": replace(_OK, within=20, launcher=_stopped, resume=True),
    },
    # All of the job, launcher included, for longer than every limit; they wake up one by one.
    "suspended": _always(
        _OK,
        launch=replace(_OK, settings={"HOROVOD_GLOO_TIMEOUT_SECONDS": "60"}),
        init=replace(_OK, settings={"HOROVOD_GLOO_TIMEOUT_SECONDS": "60"}),
    ),
    "segfault": _dies(_killed + r"11 \(SIGSEGV\)"),
    "exception": {
        "launch": Expect("ended", 15, 1, says=_BEFORE, launcher=_mistake),
        "init": _nobody,
        **_later(Expect("lost", 8, 1, says=_left, launcher=_mistake)),
        "shutdown": Expect("ok", 15, 1, launcher=_mistake),
    },
    "sys.exit(0)": {
        "launch": _late,
        "init": _nobody,
        **_later(Expect("lost", 8, 1, says=_left, launcher=_left)),
        "shutdown": replace(_OK, within=15),
    },
    "GIL held": _always(
        replace(_OK, settings={"HOROVOD_GLOO_TIMEOUT_SECONDS": "60", **_no_stall}),
        negotiation=replace(_OK, launcher=r"Missing ranks:[\s\S]*{victim}", settings=_no_stall),
    ),
    "socket closed": {
        "launch": no("there is no connection yet"),
        "init": Expect("ended", 20, 1, says=_BEFORE, launcher=_no_store, victim=_no_store),
        **_later(Expect("lost", 20, 1, says=r"Horovod has been shut down: .*rank \d",
                        launcher=r"Horovod has been shut down: .*rank \d",
                        victim=r"Horovod has been shut down: .*rank \d")),
        "shutdown": replace(_OK, within=20),
    },
    "link down": _cut_off,
    "host gone": _cut_off,
    "link at 1 Mbit/s": _always(replace(_OK, within=120)),
    "/dev/shm full": {**dict.fromkeys(MOMENTS, _reserved), "launch": _OK},
    "no shared memory": {
        **dict.fromkeys(MOMENTS, _reserved),
        "launch": replace(
            _OK,
            launcher=r"cannot share memory and talk over TCP instead.*: memfd fails on rank 0 on ",
        ),
    },
    "segment truncated": _always(
        _OK,
        launch=no("there is no segment yet"),
        init=no("a rank that is late keeps the others from making one"),
    ),
    "other shape": _in_submissions(Expect("noted", 20, 0, says="Mismatched.*shape")),
    "other type": _in_submissions(Expect("noted", 20, 0, says="Mismatched data types")),
    "other order": _in_submissions(_OK),
    "other name": _in_submissions(_stalled),
    "never submits": _in_submissions(_stalled),
    # At launch a rank has another secret than the others; later, strangers knock at every port.
    "wrong secret": _always(
        _OK,
        launch=Expect("ended", 20, 1, says=_BEFORE, launcher=_other_secret, victim=_other_secret),
    ),
    "garbage": _always(_OK),
    "half-open": _always(_OK),
}  # fmt: skip

# How ranks that share memory learn of these depends on who started them.
_OF_EACH_LAUNCHER = ("SIGKILL", "SIGSTOP", "exception", "segment truncated")
BETWEEN_HOSTS = ("link down", "link at 1 Mbit/s", "host gone")
_INIT_FAILED = "Horovod initialization failed: MPI_Init has not come back"


def _by_mpirun(fault: str, moment: str, expect: Expect) -> Expect:
    """Where mpirun is the launcher: it ends all ranks a second after one has died, in its words.

    Before MPI_Init has come back nobody can tell who is missing.
    """
    early = moment in ("launch", "init")
    if fault in ("link down", "host gone") and moment == "launch":
        return no("mpirun cannot start anybody: nothing of ours runs")
    if fault == "wrong secret" and moment == "launch":
        return no("the secret comes by MPI")
    if fault in ("garbage", "half-open", "wrong secret", "socket closed") and early:
        return no("nobody listens before MPI_Init has come back")
    if expect.why_not or (expect.code == 0 and fault != "SIGSTOP"):
        return expect
    if expect.code == 0:  # MPI's own end would wait for the one that was stopped, so it has none
        return Expect("", expect.within, ANY_ERROR)
    # By which of its connections mpirun learns of it first decides what it says.
    gone = "lost communication with a remote|exited with non-zero status|unable to reliably start"
    words = {"SIGKILL": "exited on signal 9", "segfault": "exited on signal 11"}
    words |= {"link down": gone, "host gone": gone}
    said = words.get(fault, "" if fault in ("SIGSTOP", "sys.exit(0)") else expect.launcher)
    expect = replace(expect, code=ANY_ERROR, launcher=said)
    if early:
        return replace(expect, says=_INIT_FAILED)
    return replace(expect, survivors="") if moment == "shutdown" else expect


# Ranks, and who of them is the victim. Rank 0 coordinates the others.
WORLDS = ((2, 1), (3, 1), (3, 0), (2, 0))


@dataclass(frozen=True)
class Cell:
    """One drill."""

    fault: str
    moment: str
    transport: str
    size: int
    victim: int

    @property
    def expect(self) -> Expect:
        """What must come of it here."""
        expect = MATRIX[self.fault][self.moment]
        if self.fault in BETWEEN_HOSTS and self.transport == "shm":
            return no("ranks on one host have no link between them")
        if self.transport == "mpi+shm" and self.fault not in _OF_EACH_LAUNCHER:
            return no("as over shm and over mpi, which have it")
        if self.transport in ("tcp", "mpi"):
            if self.fault == "segment truncated":
                return no("there is no segment")
            if self.fault == "no shared memory":
                expect = _OK  # and nothing to warn of
        return _by_mpirun(self.fault, self.moment, expect) if self.by_mpirun else expect

    @property
    def by_mpirun(self) -> bool:
        """Who launches it."""
        return self.transport.startswith("mpi")

    @property
    def lacks_memory(self) -> bool:
        """There is none to share, also for MPI."""
        return self.fault in ("/dev/shm full", "no shared memory")

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.fault}, {self.moment}, {self.transport}, rank {self.victim} of {self.size}"


def cells(worlds_each: int = 1) -> Iterator[Cell]:
    """All that can be; each with so many of the worlds, a different choice for each."""
    for fault in MATRIX:
        for moment in MOMENTS:
            for transport in TRANSPORTS:
                start = zlib.crc32(f"{fault}{moment}{transport}".encode())
                for number in range(worlds_each):
                    size, victim = WORLDS[(start + number) % len(WORLDS)]
                    if fault in BETWEEN_HOSTS:
                        victim = size - 1  # the one that is alone on the last host
                    if fault == "no shared memory":
                        victim = 0  # the one that makes what the others open
                    cell = Cell(fault, moment, transport, size, victim)
                    if not cell.expect.why_not:
                        yield cell
