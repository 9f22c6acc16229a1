"""Every option: what it exports, and who wins against the config file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Run

from horovod.common import util
from horovod.runner import arguments
from horovod.runner.common.util import config_parser

# Options, and the variables they export.
EXPORTS: list[tuple[str, dict[str, str]]] = [
    ("--fusion-threshold-mb 10", {"HOROVOD_FUSION_THRESHOLD": "10485760"}),
    ("--fusion-threshold-mb 0", {"HOROVOD_FUSION_THRESHOLD": "0"}),
    ("--cycle-time-ms 20", {"HOROVOD_CYCLE_TIME": "20.0"}),
    ("--cycle-time-ms=0.5", {"HOROVOD_CYCLE_TIME": "0.5"}),
    ("--cache-capacity 512", {"HOROVOD_CACHE_CAPACITY": "512"}),
    ("--hierarchical-allreduce", {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}),
    ("--no-hierarchical-allreduce", {"HOROVOD_HIERARCHICAL_ALLREDUCE": "0"}),
    ("--hierarchical-allgather", {"HOROVOD_HIERARCHICAL_ALLGATHER": "1"}),
    ("--no-hierarchical-allgather", {"HOROVOD_HIERARCHICAL_ALLGATHER": "0"}),
    ("--torus-allreduce", {"HOROVOD_TORUS_ALLREDUCE": "1"}),
    ("--no-torus-allreduce", {"HOROVOD_TORUS_ALLREDUCE": "0"}),
    ("--autotune", {"HOROVOD_AUTOTUNE": "1"}),
    ("--no-autotune", {}),
    ("--autotune-warmup-samples 5", {}),  # only together with --autotune
    (
        "--autotune --autotune-log-file t.csv --autotune-warmup-samples 1 "
        "--autotune-steps-per-sample 5 --autotune-bayes-opt-max-samples 10 "
        "--autotune-gaussian-process-noise 0.2",
        {
            "HOROVOD_AUTOTUNE": "1",
            "HOROVOD_AUTOTUNE_LOG": "t.csv",
            "HOROVOD_AUTOTUNE_WARMUP_SAMPLES": "1",
            "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE": "5",
            "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES": "10",
            "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE": "0.2",
        },
    ),
    ("--timeline-filename t.json", {"HOROVOD_TIMELINE": "t.json"}),
    ("--timeline-mark-cycles", {}),
    (
        "--timeline-filename t.json --timeline-mark-cycles",
        {"HOROVOD_TIMELINE": "t.json", "HOROVOD_TIMELINE_MARK_CYCLES": "1"},
    ),
    (
        "--timeline-filename t.json --no-timeline-mark-cycles",
        {"HOROVOD_TIMELINE": "t.json", "HOROVOD_TIMELINE_MARK_CYCLES": "0"},
    ),
    ("--no-stall-check", {"HOROVOD_STALL_CHECK_DISABLE": "1"}),
    ("--stall-check", {"HOROVOD_STALL_CHECK_DISABLE": "0"}),
    ("--stall-check-warning-time-seconds 10", {"HOROVOD_STALL_CHECK_TIME_SECONDS": "10"}),
    ("--stall-check-shutdown-time-seconds 20", {"HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "20"}),
    ("--mpi-threads-disable", {"HOROVOD_MPI_THREADS_DISABLE": "1"}),
    ("--no-mpi-threads-disable", {"HOROVOD_MPI_THREADS_DISABLE": "0"}),
    ("--num-nccl-streams 2", {"HOROVOD_NUM_NCCL_STREAMS": "2"}),
    ("--thread-affinity 1", {"HOROVOD_THREAD_AFFINITY": "1"}),
    ("--gloo-timeout-seconds 60", {"HOROVOD_GLOO_TIMEOUT_SECONDS": "60"}),
    ("--log-level INFO", {"HOROVOD_LOG_LEVEL": "INFO"}),
    ("--log-without-timestamp", {"HOROVOD_LOG_HIDE_TIME": "1"}),
    ("--log-with-timestamp", {"HOROVOD_LOG_HIDE_TIME": "0"}),
    ("--log-hide-timestamp", {"HOROVOD_LOG_HIDE_TIME": "1"}),
    ("--no-log-hide-timestamp", {"HOROVOD_LOG_HIDE_TIME": "0"}),
    ("--tcp", {"NCCL_IB_DISABLE": "1"}),
    ("--mpi-args=--foo --binding-args=--bar", {}),
    ("--disable-cache --verbose --gloo -p 22 -i key --start-timeout 5", {}),
    ("--max-np 4 --slots 2 --elastic-timeout 5 --reset-limit 1", {}),
    ("--blacklist-cooldown-range 1 5", {}),
]

CONFIG = """
controller: GLOO
unknown: 1
params: {fusion_threshold_mb: 32, cycle_time_ms: 10, cache_capacity: 2048,
         hierarchical_allreduce: true, hierarchical_allgather: false, torus_allreduce: true,
         unknown: 2}
autotune: {enabled: true, log_file: a.csv, warmup_samples: 5, steps_per_sample: 20,
           bayes_opt_max_samples: 50, gaussian_process_noise: 0.9}
timeline: {filename: t.json, mark_cycles: true}
stall_check: {enabled: false, warning_time_seconds: 120, shutdown_time_seconds: 240}
library_options: {mpi_threads_disable: true, num_nccl_streams: 2, thread_affinity: 1,
                  gloo_timeout_seconds: 60}
logging: {level: INFO, with_timestamp: false}
"""

FROM_CONFIG = {
    "HOROVOD_FUSION_THRESHOLD": str(32 << 20),
    "HOROVOD_CYCLE_TIME": "10",
    "HOROVOD_CACHE_CAPACITY": "2048",
    "HOROVOD_HIERARCHICAL_ALLREDUCE": "1",
    "HOROVOD_HIERARCHICAL_ALLGATHER": "0",
    "HOROVOD_TORUS_ALLREDUCE": "1",
    "HOROVOD_AUTOTUNE": "1",
    "HOROVOD_AUTOTUNE_LOG": "a.csv",
    "HOROVOD_AUTOTUNE_WARMUP_SAMPLES": "5",
    "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE": "20",
    "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES": "50",
    "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE": "0.9",
    "HOROVOD_TIMELINE": "t.json",
    "HOROVOD_TIMELINE_MARK_CYCLES": "1",
    "HOROVOD_STALL_CHECK_DISABLE": "1",
    "HOROVOD_STALL_CHECK_TIME_SECONDS": "120",
    "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS": "240",
    "HOROVOD_MPI_THREADS_DISABLE": "1",
    "HOROVOD_NUM_NCCL_STREAMS": "2",
    "HOROVOD_THREAD_AFFINITY": "1",
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "60",
    "HOROVOD_LOG_LEVEL": "INFO",
    "HOROVOD_LOG_HIDE_TIME": "1",
}


def parse(words: str) -> Any:
    return arguments.parse([*words.split(), "true"])


def exported(words: str, **inherited: str) -> dict[str, str]:
    env: dict[str, str] = dict(inherited)
    config_parser.set_env_from_args(env, parse("-np 2 " + words))
    return env


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return f"--config-file {path}"


@pytest.mark.parametrize(("words", "variables"), EXPORTS, ids=[words for words, _ in EXPORTS])
def test_options_become_variables(words: str, variables: dict[str, str]) -> None:
    assert exported(words) == variables


def test_no_autotune_overrides_an_inherited_variable() -> None:
    assert exported("--no-autotune", HOROVOD_AUTOTUNE="1") == {"HOROVOD_AUTOTUNE": "0"}


def test_config_file(config: str) -> None:
    assert exported(config) == FROM_CONFIG
    assert parse(f"-np 1 {config}").use_gloo


@pytest.mark.parametrize("before", [True, False])
def test_options_win_over_the_config_file(config: str, before: bool) -> None:
    for words, variables in EXPORTS:
        both = f"{words} {config}" if before else f"{config} {words}"
        if "--mpi-args" in words or words == "--tcp":
            continue
        expected = {**FROM_CONFIG, **variables}
        if words == "--no-autotune":
            expected = {k: v for k, v in expected.items() if "AUTOTUNE" not in k}
        if words == "--autotune-warmup-samples 5":
            expected["HOROVOD_AUTOTUNE_WARMUP_SAMPLES"] = "5"
        assert exported(both) == expected, both


def test_config_reaches_the_workers(run: Run, config: str) -> None:
    show = (
        "import os; print(os.environ['HOROVOD_CACHE_CAPACITY'], os.environ['HOROVOD_CYCLE_TIME'])"
    )
    done = run("-np", "1", *config.split(), "--cache-capacity", "3", sys.executable, "-c", show)
    assert done.stdout == "[0]<stdout>:3 10\n", done.stderr


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("params: {cycle_time_ms: -1}", "cycle_time_ms"),
        ("params: {cache_capacity: many}", "must be a number"),
        ("autotune: {enabled: true, gaussian_process_noise: 1.5}", r"\[0, 1\]"),
        ("logging: {level: LOUD}", "log_level"),
        ("controller: smoke", "gloo or mpi"),
        ("params: 3", "must be a mapping"),
        ("- a", "must be a mapping"),
        ("a: [", "not YAML"),
    ],
)
def test_bad_config(tmp_path: Path, text: str, fragment: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=fragment):
        parse(f"-np 1 --config-file {path}")


@pytest.mark.parametrize(
    "words",
    [
        "--fusion-threshold-mb -1",
        "--cache-capacity -1",
        "--autotune-warmup-samples -1",
        "--stall-check-warning-time-seconds -1",
        "--num-nccl-streams -1",
        "--gloo-timeout-seconds -1",
        "--thread-affinity -1",
        "--autotune-gaussian-process-noise -0.1",
    ],
)
def test_negative_values(words: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        parse("-np 1 " + words)


def test_the_command_begins_at_the_first_word() -> None:
    args = arguments.parse(["-np", "2", "python", "train.py", "-np", "4", "--verbose"])
    assert args.command == ["python", "train.py", "-np", "4", "--verbose"]
    assert args.num_proc == 2 and not args.verbose


@pytest.mark.parametrize(
    "options",
    ["-np 2", "--num-p 2", "--num-proc=2", "-np 2 --blacklist-cooldown-range 1 2", "-np 2 --"],
)
def test_the_commands_options_are_not_ours(options: str) -> None:
    # --max could be --max-np or --max-num-proc; --ver could be --verbose or --version.
    command = ["train", "--max", "8", "--ver", "--num-proc=9", "-"]
    args = arguments.parse([*options.split(), *command])
    assert args.command == command and args.num_proc == 2


def test_interfaces_are_a_union() -> None:
    words = "-np 1 --network-interfaces a,b --network-interface c --network-interfaces b,d"
    assert parse(words).nics == ["a", "b", "d", "c"]
    with pytest.warns(DeprecationWarning):
        assert parse("-np 1 --network-interface a,b").nics == ["a", "b"]


def test_abbreviations_and_single_dashes() -> None:
    args = parse("--num-p 3 --slots 4 -hostfile /dev/null -prefix-timestamp")
    assert (args.num_proc, args.slots) == (3, 4)
    assert args.hostfile == "/dev/null" and args.prefix_output_with_timestamp


def test_time_stamp_options_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        parse("-np 1 --log-hide-timestamp -prefix-timestamp")
    assert error.value.code == 2


def test_help_is_grouped(run: Run) -> None:
    done = run("--help")
    assert done.returncode == 0
    for title in ("hosts:", "ssh:", "logging:", "tuneable parameters:", "autotune:", "examples:"):
        assert f"\n{title}" in done.stdout
    for hidden in ("--no-autotune", "--log-hide", "--no-timeline-mark-cycles", "--stall-check "):
        assert hidden not in done.stdout


def test_version(run: Run) -> None:
    import horovod

    for option in ("-v", "--version"):
        assert run(option).stdout == horovod.__version__ + "\n"


@pytest.mark.parametrize("words", [["-cb"], ["--check-build"], ["--check-build", "--verbose"]])
def test_check_build(run: Run, words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 0, done.stderr
    report = done.stdout.splitlines()
    report = report[report.index("Horovod v0.28.1:") :]
    frameworks = [line[8:] for line in report if line[8:] in ("TensorFlow", "PyTorch", "MXNet")]
    assert frameworks == ["TensorFlow", "PyTorch", "MXNet"]
    assert [line for line in report if not line.startswith("    ")] == [
        "Horovod v0.28.1:", "", "Available Frameworks:", "", "Available Controllers:", "",
        "Available Tensor Operations:",
    ]  # fmt: skip
    controllers = report.index("Available Controllers:")
    mpi = "    [X] MPI" if util.mpi_built() else "    [ ] MPI"
    assert report[controllers + 1 : controllers + 3] == [mpi, "    [X] Gloo"]
    operations = report[report.index("Available Tensor Operations:") + 1 :]
    assert operations == [
        "    [ ] NCCL", "    [ ] DDL", "    [ ] CCL", mpi, "    [X] Gloo",
    ]  # fmt: skip
