"""Jobs on this machine: who is started, with which environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conftest import PROGRAMS, Run

SHOW_ENV = "import os, json; print(json.dumps(dict(os.environ)))"


def worker_envs(stdout: str) -> dict[int, dict[str, str]]:
    envs = {}
    for line in stdout.splitlines():
        rank, _, text = line.partition("<stdout>:")
        envs[int(rank.strip("[]"))] = json.loads(text)
    return envs


def test_workers_know_who_and_where_they_are(run: Run) -> None:
    done = run("-np", "2", sys.executable, "-c", SHOW_ENV)
    assert done.returncode == 0, done.stderr
    envs = worker_envs(done.stdout)
    assert sorted(envs) == [0, 1]
    for rank, env in envs.items():
        expected = {
            "HOROVOD_HOSTNAME": "localhost",
            "HOROVOD_RANK": str(rank),
            "HOROVOD_SIZE": "2",
            "HOROVOD_LOCAL_RANK": str(rank),
            "HOROVOD_LOCAL_SIZE": "2",
            "HOROVOD_CROSS_RANK": "0",
            "HOROVOD_CROSS_SIZE": "1",
            "HOROVODX_HOSTS": "localhost:2",
            "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1",
            "HOROVOD_CONTROLLER": "gloo",
            "HOROVOD_CPU_OPERATIONS": "gloo",
            "HOROVOD_GLOO_IFACE": "lo",
            "NCCL_SOCKET_IFNAME": "lo",
            "PYTHONUNBUFFERED": "1",
        }
        assert expected.items() <= env.items()
        assert len(bytes.fromhex(env["HOROVODX_SECRET"])) == 32
        assert int(env["HOROVOD_GLOO_RENDEZVOUS_PORT"]) > 0
    assert envs[0]["HOROVODX_JOB_ID"] == envs[1]["HOROVODX_JOB_ID"]


def test_each_job_has_its_own_secret_and_id(run: Run) -> None:
    show = (sys.executable, "-c", SHOW_ENV)
    first, second = (worker_envs(run("-np", "1", *show).stdout)[0] for _ in range(2))
    for name in ("HOROVODX_SECRET", "HOROVODX_JOB_ID"):
        assert first[name] != second[name]


def test_options_override_the_environment_and_leave_the_rest(run: Run) -> None:
    done = run(
        "-np", "1", "--cycle-time-ms", "3", "--tcp", sys.executable, "-c", SHOW_ENV,
        env={"HOROVOD_CYCLE_TIME": "9", "HOROVOD_CACHE_CAPACITY": "7", "CUDA_VISIBLE_DEVICES": "1"},
    )  # fmt: skip
    env = worker_envs(done.stdout)[0]
    assert env["HOROVOD_CYCLE_TIME"] == "3.0"
    assert env["HOROVOD_CACHE_CAPACITY"] == "7"
    assert env["NCCL_IB_DISABLE"] == "1"
    assert env["CUDA_VISIBLE_DEVICES"] == "1"  # local workers inherit everything


def test_exactly_np_processes_start_where_there_are_more_slots(run: Run) -> None:
    done = run("-np", "2", "-H", "localhost:4", "sh", "-c", "echo $HOROVOD_SIZE")
    assert sorted(done.stdout.splitlines()) == ["[0]<stdout>:2", "[1]<stdout>:2"]


def test_words_of_the_command_arrive_as_they_are(run: Run) -> None:
    words = ["-np", "a b", "'\"$HOME", "ü", "*", ""]
    program = "import sys; print(sys.argv[1:])"
    done = run("-np", "1", sys.executable, "-c", program, *words)
    assert done.stdout == f"[0]<stdout>:{words}\n"


def test_assignments_before_the_command_are_variables(run: Run) -> None:
    done = run("-np", "1", "--", "GREETING=hi you", "sh", "-c", "echo $GREETING")
    assert done.stdout == "[0]<stdout>:hi you\n"


def test_workers_run_in_the_launchers_directory(run: Run, tmp_path: Path) -> None:
    done = run("-np", "1", "pwd", cwd=tmp_path)
    assert done.stdout == f"[0]<stdout>:{tmp_path}\n"


def test_stdin_of_workers_is_empty(run: Run) -> None:
    assert run("-np", "1", "sh", "-c", "cat; echo end").stdout == "[0]<stdout>:end\n"


def test_workers_meet_and_add_up(run: Run) -> None:
    done = run("-np", "3", sys.executable, str(PROGRAMS / "allreduce.py"))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"[{r}]<stdout>:rank {r} of 3 local {r}/3 cross 0/1 sum 6" for r in range(3)
    ]


def test_importing_horovod_is_light() -> None:
    import subprocess

    program = (
        "import horovod, sys; heavy = {'yaml', 'psutil', 'cloudpickle', 'multiprocessing', "
        "'subprocess', 'argparse', 'socket', 'torch', 'numpy'} & set(sys.modules); print(heavy)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "set()"
