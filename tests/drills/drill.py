"""Runs one drill and compares what came of it with the table."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator

from matrix import ANY_ERROR, BETWEEN_HOSTS, SETTINGS, TRANSPORTS, Cell

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # support/

import leftovers  # noqa: E402
import outside  # noqa: E402
from launchers import command  # noqa: E402
from support.ssh_hosts import SshHosts  # noqa: E402

LARGE = 1 << 20  # elements of the largest tensor
LARGE_BETWEEN_HOSTS = 1 << 15
SUSPENDED_SECONDS = 11.0  # more than any of the limits in SETTINGS
_PATIENCE = 150.0  # for a whole drill; only a hang takes so long
_AFTERWARDS = 20.0  # for all to be gone
_MPIRUN_ALONE = 20.0  # for mpirun to end when its ranks have
_BETWEEN_LOOKS = 0.2  # at the sockets of its processes
# Once: pytest changes the environment while drills run beside it in threads.
_ENVIRON = {k: v for k, v in os.environ.items() if not k.startswith(("HOROVOD", "DRILL_"))}
_one_network = threading.Lock()  # hosts of one process have the same names


@dataclass
class Outcome:
    """What came of a drill."""

    cell: Cell
    seconds: float = 0.0  # until the last survivor knew
    problems: list[str] = field(default_factory=list)
    mpirun_hung: bool = False  # after all that is ours had ended; README.md says why
    message: str = ""  # what a survivor, or else the launcher, says
    output: str = ""
    pids: list[int] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """As the table has it."""
        return not self.problems


class Drill:
    """One launch of horovodrun in a folder of its own."""

    def __init__(self, cell: Cell, seed: int, folder: str, hosts: SshHosts | None) -> None:
        self.cell = cell
        self.folder = Path(folder)
        self._hosts = hosts
        self._mark = f"DRILL_MARK=d{os.getpid()}x{time.monotonic_ns()}"
        self._outcome = Outcome(cell)
        self._held: list[Any] = []
        self._sockets = leftovers.SocketWatch(self._mark)
        self._own = not (
            cell.fault in (*outside.NETWORK, "garbage", "half-open", "/dev/shm full", "suspended")
            or (cell.fault == "wrong secret" and cell.moment != "launch")
        )
        count = LARGE_BETWEEN_HOSTS if cell.fault in BETWEEN_HOSTS else LARGE
        name, value = self._mark.split("=")
        own = (
            {"PATH": f"{hosts.folder}/bin:{_ENVIRON['PATH']}", "HOME": hosts.folder}
            if hosts
            else {}
        )
        self._env = {
            **_ENVIRON,
            **own,
            **SETTINGS,
            **TRANSPORTS[cell.transport],
            **cell.expect.settings,
            "HOROVODX_PLANS": "0" if cell.moment == "collective" else "1",
            "DRILL_FOLDER": folder,
            "DRILL_FAULT": cell.fault,
            "DRILL_MOMENT": cell.moment,
            "DRILL_VICTIM": str(cell.victim),
            "DRILL_COUNT": str(count),
            "DRILL_SEED": str(seed),
            "DRILL_FROM_OUTSIDE": "0" if self._own else "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            name: value,
        }

    # --- one after the other ---

    def run(self) -> Outcome:
        """All of it."""
        with open(self.folder / "output", "wb") as output:
            launcher = self._start(output)
            try:
                self._go_wrong(launcher)
                self._await_end(launcher)
            finally:
                self._clean_up(launcher)
        self._outcome.output = (self.folder / "output").read_text(errors="replace")
        self._compare(launcher.returncode)
        return self._outcome

    def _words(self) -> list[str]:
        """The command line."""
        own = [name for name in self._env if name.startswith(("HOROVOD", "DRILL_", "PYTHON"))]
        return command(self.cell, self._hosts, own)

    def _start(self, output: Any) -> subprocess.Popen[bytes]:
        words = self._words()
        if self.cell.fault == "/dev/shm full":
            full = "mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/x"
            words = ["unshare", "-m", "sh", "-c", full + ' && exec "$@"', "sh", *words]
        if self._hosts:
            if self.cell.moment == "launch":
                outside.NETWORK[self.cell.fault](self._hosts)
            words = self._hosts.inside(0, words)
        return self._launch(words, output)

    def _launch(self, words: list[str], output: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _go_wrong(self, launcher: subprocess.Popen[bytes]) -> None:
        """What comes from outside, once all ranks have come to the moment."""
        if self._own:
            if self._await(launcher, "about"):
                self._sockets.look()
                (self.folder / "looked").touch()
            return
        if self._hosts and self.cell.moment == "launch":
            return self._say_struck()
        if not self._await(launcher, *(f"ready.{rank}" for rank in range(self.cell.size))):
            return
        self._sockets.look()  # the job may be over before the next look
        time.sleep(0.5 if self.cell.moment == "init" else 0.1)
        moment = time.monotonic()
        if self.cell.fault in outside.STRANGERS:
            if self.cell.moment == "shutdown":
                self._say_struck()
            try:
                self._held += outside.STRANGERS[self.cell.fault](self._doors())
            except ConnectionError:  # the ranks were quicker
                if self.cell.moment != "shutdown":
                    raise
        elif self.cell.fault == "suspended":
            outside.suspend(leftovers.processes_with(self._mark), SUSPENDED_SECONDS, 0.3)
        elif self._hosts:
            outside.NETWORK[self.cell.fault](self._hosts)
        self._say_struck(moment)
        time.sleep(0.5)
        (self.folder / "stop").touch()

    def _say_struck(self, moment: float | None = None) -> None:
        if not (self.folder / "struck").exists():
            (self.folder / "struck.new").write_text(str(moment or time.monotonic()))
            (self.folder / "struck.new").rename(self.folder / "struck")

    def _doors(self) -> list[outside.Address]:
        """Every port at which this job listens."""
        ports = [port for rank in range(self.cell.size) for port, _ in self._ready(rank)["ports"]]
        pid = self._ready(0)["pid"]
        environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        store = dict(entry.split(b"=", 1) for entry in environ if b"=" in entry)
        if b"HOROVOD_GLOO_RENDEZVOUS_PORT" in store:  # else it is in rank 0
            ports.append(int(store[b"HOROVOD_GLOO_RENDEZVOUS_PORT"]))
        return [("127.0.0.1", port) for port in ports]

    def _ready(self, rank: int) -> dict[str, Any]:
        path = self.folder / f"ready.{rank}"
        return dict(json.loads(path.read_text())) if path.exists() else {"ports": [], "pid": 0}

    def _await(self, launcher: subprocess.Popen[bytes], *names: str) -> bool:
        looked = time.monotonic()
        deadline = looked + _PATIENCE
        while not all((self.folder / name).exists() for name in names):
            if launcher.poll() is not None:
                return False
            if time.monotonic() > looked + _BETWEEN_LOOKS:
                self._sockets.look()
                looked = time.monotonic()
            if time.monotonic() > deadline:
                self._outcome.problems.append(f"waited {_PATIENCE:g} s for {names}")
                return False
            time.sleep(0.01)
        return True

    def _await_end(self, launcher: subprocess.Popen[bytes]) -> None:
        if self.cell.expect.resume:
            others = [f"report.{r}" for r in range(self.cell.size) if r != self.cell.victim]
            if self._await(launcher, *others):
                time.sleep(0.5)
                if launcher.poll() is not None:
                    self._outcome.problems.append("the launcher did not wait for the stopped rank")
                os.kill(self._ready(self.cell.victim)["pid"], signal.SIGCONT)
        deadline = time.monotonic() + _PATIENCE
        last = leftovers.LastOne(self._mark, launcher.pid)
        while launcher.poll() is None:
            self._sockets.look()
            if self.cell.by_mpirun and last.seconds() > _MPIRUN_ALONE:
                self._outcome.mpirun_hung = True
                return  # its own end has a bug; the ranks are judged all the same
            if time.monotonic() > deadline:
                problem = f"HANGS: the launcher still runs after {_PATIENCE:g} s"
                return self._outcome.problems.append(problem)
            with contextlib.suppress(subprocess.TimeoutExpired):
                launcher.wait(_BETWEEN_LOOKS)

    def _clean_up(self, launcher: subprocess.Popen[bytes]) -> None:
        for sock in self._held:
            sock.close()
        if self._hosts and self.cell.fault == "link down":
            self._hosts.set_link(1, True)
        if launcher.poll() is None:
            launcher.kill()
            launcher.wait()
        self._outcome.pids = [self._ready(rank)["pid"] for rank in range(self.cell.size)]
        deadline = time.monotonic() + _AFTERWARDS
        while left := leftovers.processes_with(self._mark):
            if time.monotonic() > deadline:
                commands = [Path(f"/proc/{pid}/cmdline").read_bytes()[:80] for pid in left]
                self._outcome.problems.append(f"left running: {commands}")
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.02)
        self._look_for_rests()

    def _look_for_rests(self) -> None:
        problems = self._outcome.problems
        if files := leftovers.in_shared_memory(self._outcome.pids):
            problems.append(f"left in /dev/shm: {files}")
        if not self._hosts:
            left = self._sockets.left()
            if not self._sockets.count:
                problems.append("no socket of the job was seen, so none could be looked for")
        else:
            left = self._await_no_sockets(self._hosts)
        if left:
            problems.append(f"sockets left: {left}")

    def _await_no_sockets(self, hosts: SshHosts) -> list[str]:
        """What is left on the hosts when connections have had time to close."""
        deadline = time.monotonic() + _AFTERWARDS
        while (left := leftovers.sockets_on(hosts)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    # --- the judgement ---

    def _compare(self, code: int) -> None:
        expect, outcome = self.cell.expect, self._outcome
        if outcome.mpirun_hung:
            pass  # it was killed: its code says nothing
        elif code != expect.code and (expect.code != ANY_ERROR or code == 0):
            wanted = "an error" if expect.code == ANY_ERROR else expect.code
            outcome.problems.append(f"the launcher returned {code}, not {wanted}")
        self._search(expect.launcher, outcome.output, "the launcher's output")
        struck = self.folder / "struck"
        if not struck.exists():
            outcome.problems.append("it never went wrong")
            return
        begin = float(struck.read_text())
        for rank in range(self.cell.size):
            report = self._report(rank)
            if rank != self.cell.victim or self.cell.expect.survivors == "ok":
                self._judge_survivor(rank, report, begin)
            elif expect.victim:
                said = report["errors"][0]["message"] if report and report["errors"] else "nothing"
                self._search(expect.victim, said, "the victim's error")
        if outcome.seconds > expect.within:
            outcome.problems.append(f"took {outcome.seconds:.1f} s, more than {expect.within:g}")
        if not outcome.message:
            found = re.search(r"(?m)^(Rank \d+ .*|RuntimeError: .*)$", outcome.output)
            outcome.message = found.group(0) if found else ""

    def _report(self, rank: int) -> dict[str, Any] | None:
        path = self.folder / f"report.{rank}"
        return dict(json.loads(path.read_text())) if path.exists() else None

    def _judge_survivor(self, rank: int, report: dict[str, Any] | None, begin: float) -> None:
        kind, problems = self.cell.expect.survivors, self._outcome.problems
        if not kind or (kind == "ended" and report is None):
            return
        if report is None:
            if self._killed_by_fault(rank):
                return
            problems.append(f"rank {rank} has not reported")
            return
        ends = {"lost": "raised", "ended": "raised", "noted": "ok", "ok": "ok"}
        if report["end"] != ends[kind] and not self._killed_by_fault(rank):
            problems.append(f"rank {rank}: {report['end']} {report['errors']}, not {ends[kind]}")
        if kind == "ok" or not report["errors"]:
            self._took(report["at"] - begin)
            return
        first = report["errors"][0]
        self._took(first["at"] - begin)
        wanted = "HorovodInternalError" if kind in ("lost", "noted") else "ValueError"
        if first["type"] != wanted:
            problems.append(f"rank {rank}: {first['type']}, not {wanted}")
        self._search(self.cell.expect.says, first["message"], f"rank {rank}'s error")
        self._outcome.message = self._outcome.message or first["message"]

    def _killed_by_fault(self, rank: int) -> bool:
        """The victim of a fault that nobody survives, though the others end well."""
        deadly = ("SIGKILL", "segfault", "exception", "host gone", "link down", "sys.exit(0)")
        return rank == self.cell.victim and self.cell.fault in deadly

    def _took(self, seconds: float) -> None:
        self._outcome.seconds = max(self._outcome.seconds, seconds)

    def _search(self, pattern: str, text: str, where: str) -> None:
        host = self._hosts.address(1) if self._hosts else "localhost"
        pattern = pattern.replace("{victim}", str(self.cell.victim))
        if not re.search(pattern.replace("{host}", re.escape(host)), text):
            self._outcome.problems.append(f"{where} has no /{pattern}/: {text[-1500:]}")


@contextlib.contextmanager
def _hosts_for(cell: Cell) -> Iterator[SshHosts | None]:
    if cell.fault not in BETWEEN_HOSTS:
        yield None
        return
    with _one_network, SshHosts(2) as hosts:
        if cell.moment == "shutdown" or cell.by_mpirun:
            _impatient_ssh(hosts)  # nobody but ssh is left to notice
        if cell.by_mpirun:
            _impatient_kernel(hosts)
        yield hosts


def _impatient_ssh(hosts: SshHosts) -> None:
    """A dead host is noticed after four seconds, not two minutes: what ssh is told first counts."""
    path = Path(hosts.folder, "bin", "ssh")
    quick = "-o ServerAliveInterval=1 -o ServerAliveCountMax=4"
    path.write_text(path.read_text().replace(' "$@"', f' {quick} "$@"'))


def _impatient_kernel(hosts: SshHosts) -> None:
    """What is never acknowledged ends a connection after 13 seconds, not 15 minutes: mpirun has no
    other way to learn that a host is gone to which it has just sent something."""
    for host in range(hosts.count):
        words = ["sysctl", "-q", "-w", "net.ipv4.tcp_retries2=5"]
        subprocess.run(hosts.inside(host, words), check=True, timeout=20)


def run_drill(cell: Cell, seed: int = 0) -> Outcome:
    """One drill, from nothing to nothing."""
    folder = tempfile.mkdtemp(prefix="hvdx-drill-")
    try:
        with _hosts_for(cell) as hosts:
            return Drill(cell, seed, folder, hosts).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
