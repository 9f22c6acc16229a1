"""Launchers that are not ours: they start processes themselves, and use our parts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from typing import Any

import pytest
from conftest import PROGRAMS, SECONDS

from horovod.runner import gloo_run
from horovod.runner.common.util import safe_shell_exec
from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
from horovod.runner.common.util.settings import Settings
from horovod.runner.http import http_client
from horovod.runner.http.http_server import KVStoreServer, RendezvousServer

PROGRAM = [sys.executable, str(PROGRAMS / "allreduce.py")]
SUMS = [f"rank {r} of 2 local {r}/2 cross 0/1 sum 3" for r in range(2)]


@pytest.fixture(autouse=True)
def no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOROVODX_SECRET", raising=False)
    monkeypatch.delenv("HOROVODX_JOB_ID", raising=False)


def test_own_launcher_with_our_rendezvous() -> None:
    slots = get_host_assignments(parse_hosts("localhost:2"), 2)
    server = RendezvousServer(verbose=0)
    port = server.start()
    assert server.init(slots) == port
    assert len(os.environ["HOROVODX_SECRET"]) == 64
    workers = [
        subprocess.Popen(
            PROGRAM,
            env={
                **os.environ,
                **gloo_run.create_slot_env_vars(slot),
                **gloo_run.create_run_env_vars("127.0.0.1", ["lo"], port),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for slot in slots
    ]
    said = [worker.communicate(timeout=SECONDS)[0].strip() for worker in workers]
    server.stop()
    assert said == SUMS
    assert "HOROVODX_SECRET" not in os.environ


def test_a_rendezvous_can_be_started_again() -> None:
    for _ in range(2):
        server = RendezvousServer()
        assert server.start() > 0
        server.stop()
        server.stop()
    with pytest.raises(RuntimeError, match="start"):
        RendezvousServer().init([])


def test_launch_gloo_calls_back_for_each_rank(capfd: pytest.CaptureFixture[str]) -> None:
    def execute(command: str, slot: Any, events: list[threading.Event]) -> int:
        return safe_shell_exec.execute(command, index=slot.rank, events=events)

    settings = Settings(num_proc=2, hosts="localhost:2")
    command = " ".join(PROGRAM)
    gloo_run.launch_gloo(command, execute, settings, ["lo"], {}, "127.0.0.1")
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == [f"[{r}]<stdout>:{SUMS[r]}" for r in range(2)]


def test_launch_gloo_ends_all_when_one_fails() -> None:
    def execute(command: str, slot: Any, events: list[threading.Event]) -> int:
        return safe_shell_exec.execute(command, index=slot.rank, events=events)

    settings = Settings(num_proc=2, hosts="localhost:2")
    command = "sh -c '[ $HOROVOD_RANK = 1 ] && exit 9; exec sleep 1000'"
    with pytest.raises(RuntimeError, match="Process name: 1\nExit code: 9"):
        gloo_run.launch_gloo(command, execute, settings, ["lo"], {}, "127.0.0.1")


def test_gloo_run_takes_a_line_for_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(num_proc=1, hosts="localhost:1")
    gloo_run.gloo_run(settings, ["lo"], dict(os.environ), "127.0.0.1", "echo $HOROVOD_SIZE; true")
    assert capsys.readouterr().out == "[0]<stdout>:1\n"


def test_run_command_names_the_rendezvous() -> None:
    assert gloo_run.get_run_command("cmd a", "1.2.3.4", ["eth0", "eth1"], 9).split() == [
        "HOROVOD_GLOO_RENDEZVOUS_ADDR=1.2.3.4",
        "HOROVOD_GLOO_RENDEZVOUS_PORT=9",
        "HOROVOD_CONTROLLER=gloo",
        "HOROVOD_CPU_OPERATIONS=gloo",
        "HOROVOD_GLOO_IFACE=eth0",
        "NCCL_SOCKET_IFNAME=eth0,eth1",
        "cmd",
        "a",
    ]
    assert gloo_run.create_run_env_vars("a", ["b"], 1, elastic=True)["HOROVOD_ELASTIC"] == "1"


class TestKeyValueStore:
    """Values for processes that know the secret."""

    @pytest.fixture
    def port(self, no_secret: None) -> Any:
        server = KVStoreServer(0)
        yield server.start_server("127.0.0.1")
        server.shutdown_server()

    def test_values_come_back(self, port: int) -> None:
        http_client.put_data_into_kvstore("127.0.0.1", port, "scope", "key/1", {"a": [1, 2]})
        value = http_client.read_data_from_kvstore("127.0.0.1", port, "scope", "key/1")
        assert value == {"a": [1, 2]}

    @pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
    def test_strangers_are_refused(self, port: int, method: str) -> None:
        url = f"http://127.0.0.1:{port}/scope/key"
        body = b"cos\nsystem\n(S'true'\ntR." if method == "PUT" else None
        request = urllib.request.Request(url, body, method=method)
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=10)
        assert error.value.code == 403

    def test_a_wrong_secret_is_refused(self, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(http_client, "_BETWEEN_SECONDS", 0)
        http_client.put_data_into_kvstore("127.0.0.1", port, "s", "k", 1)
        monkeypatch.setenv("HOROVODX_SECRET", "00" * 32)
        with pytest.raises(RuntimeError, match="403"):
            http_client.read_data_from_kvstore("127.0.0.1", port, "s", "k")

    def test_a_missing_key(self, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(http_client, "_BETWEEN_SECONDS", 0)
        with pytest.raises(RuntimeError, match="404"):
            http_client.read_data_from_kvstore("127.0.0.1", port, "s", "nothing")
