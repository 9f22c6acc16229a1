"""Those who try: at the ports of a job that works meanwhile, and at its secret. See SECURITY.md."""

from __future__ import annotations

import os
import re
import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import outside  # noqa: E402
import stranger  # noqa: E402
from steady import Steady, as_nobody, nobodys_python  # noqa: E402

_SECONDS = 20.0
_IDLE = 10_000
_OTHER_FILES = 500  # that this process has open
_REFUSED_REPLAY, _REFUSED_PROOF = 4, 6


@pytest.fixture(scope="module")
def job() -> Iterator[Steady]:
    """It must end well, whatever these tests did."""
    with Steady(3, "tcp") as running:
        yield running


def verdict(sock: socket.socket, hello: bytes) -> bytes:
    sock.sendall(hello)
    return stranger.read_exactly(sock, stranger.VERDICT_BYTES)


def is_shut(sock: socket.socket) -> bool:
    """Whether the other end hangs up, soon."""
    sock.settimeout(_SECONDS)
    try:
        while sock.recv(4096):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


def resident(pid: int) -> int:
    """Bytes of memory a process has."""
    text = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(re.findall(r"VmRSS:\s+(\d+) kB", text)[0])


def nobody_runs(program: str) -> subprocess.CompletedProcess[str]:
    """A Python program of another user; not on a command line, which everybody can read."""
    python = nobodys_python()
    if not python:
        pytest.skip("another user cannot run this Python")
    return subprocess.run(
        as_nobody([*python, "-"]),
        input=program, capture_output=True, text=True, check=False, timeout=60, cwd="/",
    )  # fmt: skip


# --- at the door ---


def test_without_the_secret_nobody_gets_in_and_learns_nothing(job: Steady) -> None:
    job_id = job.variable("HOROVODX_JOB_ID")
    for door in job.doors:
        for purpose in (stranger.STORE, stranger.COURIER, stranger.LINK):
            sock, challenge = stranger.knock(door)
            with sock:
                said = verdict(sock, stranger.hello(challenge, os.urandom(32), job_id, purpose))
                assert said[6] != 0
                assert said[8:] == bytes(32), "a proof is for those who have given one"
                assert is_shut(sock)


def test_with_the_secret_one_does(job: Steady) -> None:
    """Else the other tests here would prove nothing."""
    sock, challenge = stranger.knock(job.store)
    with sock:
        hello = stranger.hello(challenge, job.secret, job.variable("HOROVODX_JOB_ID"))
        assert verdict(sock, hello)[6] == 0


def test_a_replayed_handshake_is_refused(job: Steady) -> None:
    sock, challenge = stranger.knock(job.store)
    hello = stranger.hello(challenge, job.secret, job.variable("HOROVODX_JOB_ID"))
    with sock:
        assert verdict(sock, hello)[6] == 0
    sock, _ = stranger.knock(job.store)
    with sock:
        said = verdict(sock, hello)
        assert said[6] == _REFUSED_REPLAY and is_shut(sock)
    sock, challenge = stranger.knock(job.store)
    with sock:  # with the new nonce put in, the proof is wrong
        said = verdict(sock, hello[:40] + challenge[8:40] + hello[72:])
        assert said[6] == _REFUSED_PROOF and is_shut(sock)


def test_a_proof_for_one_port_is_none_for_another(job: Steady) -> None:
    """Somebody in the middle cannot lead a rank's connection to another purpose."""
    sock, challenge = stranger.knock(job.doors[0])
    with sock:
        hello = stranger.hello(challenge, job.secret, job.variable("HOROVODX_JOB_ID"))
        assert verdict(sock, hello)[6] != 0  # the store's, at a rank's door
        assert is_shut(sock)


# --- an insider who has gone mad ---


@pytest.mark.parametrize(
    "frame",
    [
        stranger.frame(1, b"", claimed=0xFFFFFFFF),
        stranger.frame(1, b"", claimed=(1 << 20) + 2048),
        stranger.frame(1, struct.pack("<I", 5000) + b"key"),
        stranger.frame(1, b"\x01"),
        stranger.frame(77, b"what is this"),
    ],
    ids=["4 GiB", "a little too long", "key beyond the end", "truncated", "unknown tag"],
)
def test_frames_that_make_no_sense_end_their_connection(job: Steady, frame: bytes) -> None:
    sock, challenge = stranger.knock(job.store)
    with sock:
        hello = stranger.hello(challenge, job.secret, job.variable("HOROVODX_JOB_ID"))
        assert verdict(sock, hello)[6] == 0
        sock.sendall(frame)
        sock.shutdown(socket.SHUT_WR)
        assert is_shut(sock)
    assert resident(job.launcher.pid) < 512 << 20


def test_half_a_frame_holds_nobody_up(job: Steady) -> None:
    hello_of = job.variable("HOROVODX_JOB_ID")
    slow, challenge = stranger.knock(job.store)
    with slow:
        assert verdict(slow, stranger.hello(challenge, job.secret, hello_of))[6] == 0
        slow.sendall(stranger.frame(1, b"ab", claimed=1000))
        quick, challenge = stranger.knock(job.store)
        with quick:
            assert verdict(quick, stranger.hello(challenge, job.secret, hello_of))[6] == 0
            quick.sendall(stranger.frame(1, struct.pack("<I", 3) + b"keyvalue"))
            assert stranger.read_exactly(quick, 8) == struct.pack("<II", 0, 16)  # done


# --- many ---


def room_for(count: int) -> int:
    """Lets this process have so many sockets; how many it may have. Root may have as many."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = max(hard, count + _OTHER_FILES)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
    except (ValueError, OSError):
        wanted = hard
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(count, wanted - _OTHER_FILES)


def test_ten_thousand_idle_connections(job: Steady) -> None:
    """A stranger costs a descriptor for five seconds at most, and only 256 of them at a time."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = room_for(_IDLE)
    held: list[socket.socket] = []
    try:
        for number in range(count):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(job.doors[number % len(job.doors)])
            held.append(sock)
            if number % 1000 == 999:
                # A friend gets in all the while.
                friend, challenge = stranger.knock(job.store)
                with friend:
                    hello = stranger.hello(challenge, job.secret, job.variable("HOROVODX_JOB_ID"))
                    assert verdict(friend, hello)[6] == 0
        for pid in [*job.pids, job.launcher.pid]:
            assert len(os.listdir(f"/proc/{pid}/fd")) < 400
        assert job.launcher.poll() is None
    finally:
        for sock in held:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    if count < _IDLE:
        pytest.skip(f"well with {count} connections; for {_IDLE} this process may not open enough")


# --- other users of the same machine ---

_LOOK = """
import os
secret, pids = {secret!r}, {pids!r}
found, closed = [], 0
for pid in pids:
    for name in ("environ", "maps", "mem", "auxv", "stack"):
        try:
            with open(f"/proc/{{pid}}/{{name}}", "rb") as file: file.read(1)
            found.append((pid, name))
        except OSError: closed += 1
    try:
        found.append((pid, os.listdir(f"/proc/{{pid}}/fd")))
    except OSError: closed += 1
for pid in os.listdir("/proc"):
    if pid.isdigit():
        for name in ("cmdline", "comm", "status", "stat"):
            try:
                if secret in open(f"/proc/{{pid}}/{{name}}", "rb").read(): found.append((pid, name))
            except OSError: pass
print(found, closed)
"""


def test_another_user_cannot_read_the_secret(job: Steady) -> None:
    pids = [*job.pids, job.launcher.pid]
    secret = job.variable("HOROVODX_SECRET").encode()
    done = nobody_runs(_LOOK.format(secret=secret, pids=pids))
    assert done.stdout.strip() == f"[] {6 * len(pids)}", done.stderr
    told = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, check=False).stdout
    assert secret not in told


def test_another_users_rank_is_refused_and_told_why(job: Steady) -> None:
    program = (
        "import os; os.environ.update(HOROVOD_RANK='1', HOROVOD_SIZE='3', "
        "HOROVODX_SECRET='cd' * 32, HOROVOD_HOSTNAME='localhost', "
        f"HOROVODX_JOB_ID={job.variable('HOROVODX_JOB_ID')!r}, "
        f"HOROVOD_GLOO_RENDEZVOUS_ADDR='127.0.0.1', "
        f"HOROVOD_GLOO_RENDEZVOUS_PORT='{job.store[1]}', HOROVOD_GLOO_TIMEOUT_SECONDS='10')\n"
        "from horovod.common.basics import HorovodBasics; HorovodBasics(None).init()"
    )
    done = nobody_runs(program)
    assert done.returncode == 1
    assert "secret" in done.stderr.splitlines()[-1], done.stderr


def test_jobs_of_two_users_do_not_notice_each_other(job: Steady) -> None:
    if not nobodys_python():
        pytest.skip("another user cannot run this Python")
    with Steady(2, "shm", nobody=True) as other:
        assert os.stat(f"/proc/{other.pids[0]}").st_uid != os.stat(f"/proc/{job.pids[0]}").st_uid
        outside.false_friends(other.doors)
        outside.false_friends(job.doors)


_TAKE = """
import socket
taken = []
for address in {doors!r}:
    for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        for host in (address[0], "0.0.0.0"):
            with socket.socket() as sock:
                if option: sock.setsockopt(socket.SOL_SOCKET, option, 1)
                try:
                    sock.bind((host, address[1]))
                    sock.listen()
                    taken.append(address)
                except OSError: pass
print(taken)
"""


def test_another_user_cannot_listen_on_the_same_ports(job: Steady) -> None:
    """Nor get a part of what is meant for us."""
    done = nobody_runs(_TAKE.format(doors=job.doors))
    assert done.stdout.strip() == "[]", done.stderr


_PRETEND = """
import os, socket, sys
with socket.create_server(("127.0.0.1", 0)) as server:
    print(server.getsockname()[1], flush=True)
    server.settimeout(60)
    peer = server.accept()[0]
    peer.sendall(b"HVDX" + (1).to_bytes(2, "little") + bytes(2) + os.urandom(32))
    hello = b""
    while len(hello) < 136:
        piece = peer.recv(136 - len(hello))
        if not piece: sys.exit("it said " + repr(hello))
        hello += piece
    peer.sendall(b"HVDX" + (1).to_bytes(2, "little") + bytes(2) + {proof})
    print(hello.hex(), peer.recv(1), flush=True)
"""


@pytest.mark.parametrize("proof", ["os.urandom(32)", "hello[104:136]"], ids=["random", "our own"])
def test_another_user_on_a_port_where_the_launcher_was_learns_nothing(proof: str) -> None:
    """A job has ended, and somebody else listens where a late rank of it looks for the launcher."""
    python = nobodys_python()
    if not python:
        pytest.skip("another user cannot run this Python")
    secret = os.urandom(32)
    words = as_nobody([*python, "-c", _PRETEND.format(proof=proof)])
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd="/") as server:
        assert server.stdout
        late = {
            **os.environ,
            "HOROVOD_RANK": "1", "HOROVOD_SIZE": "2", "HOROVODX_JOB_ID": "late",
            "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1", "HOROVODX_SECRET": secret.hex(),
            "HOROVOD_GLOO_RENDEZVOUS_PORT": server.stdout.readline().strip(),
        }  # fmt: skip
        rank = subprocess.run(
            [sys.executable, "-c",
             "from horovod.common.basics import HorovodBasics; HorovodBasics(None).init()"],
            env=late, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        heard = server.stdout.read().split()
    assert rank.returncode == 1
    assert re.search("does not know this job's secret|reflection", rank.stderr), rank.stderr
    assert heard[1] == "b''", "after the handshake nothing more is said to it"
    assert secret.hex() not in heard[0]


# --- shared memory ---


def test_shared_memory_has_no_name_and_is_its_owners_alone() -> None:
    with Steady(2, "shm") as running:
        names = [name for name in os.listdir("/dev/shm") if f"hvdx-{running.pids[0]}" in name]
        assert names == []
        maps = Path(f"/proc/{running.pids[1]}/maps").read_text()
        segments = [line.split()[0] for line in maps.splitlines() if "/memfd:horovodx" in line]
        assert segments
        for addresses in segments:
            link = f"/proc/{running.pids[1]}/map_files/{addresses}"
            done = nobody_runs(f"open({link!r}, 'rb')")
            assert "PermissionError" in done.stderr
            with open(link, "rb") as file, pytest.raises(OSError):
                os.ftruncate(file.fileno(), 0)
        for pid in running.pids:  # the doors are closed: nobody else can come in
            files = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
            assert not any("memfd:horovodx" in name for name in files)


def test_every_port_is_bound_to_one_address(job: Steady) -> None:
    ports = {port for _, port in job.doors}
    with open(f"/proc/{job.pids[0]}/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in list(file)[1:]]
    listening = {
        int(row[1].partition(":")[2], 16): row[1].partition(":")[0]
        for row in rows
        if row[3] == "0A"
    }
    assert {listening[port] for port in ports} == {"0100007F"}  # 127.0.0.1
