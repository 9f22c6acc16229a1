"""hvdx-sim: what training would take on a cluster that need not exist."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from typing import Any

from horovodx.sim import explain, pictures, png, report, timeline, units, workload
from horovodx.sim.core import SCHEDULES, Cluster, Run
from horovodx.sim.models import MODELS
from horovodx.sim.recording import of_recording
from horovodx.sim.svg import Drawing
from horovodx.sim.sweep import Point, places, sweep, usual_workers
from horovodx.sim.trace import chrome_trace
from horovodx.sim.units import BadInput

_ABOUT = """\
Predicts the step time of data-parallel training from a model, a cluster, an allreduce algorithm and
a schedule, with the schedules and cost formulas of the engine itself; or explains a recorded step.

  hvdx-sim resnet50                                   1 to 100,000 workers, 10 Gbit/s
  hvdx-sim bert_base --workers 8,64 --schedule all    every schedule
  hvdx-sim vgg16 --workers 64 --ranks-per-host 8 --net 20us,100Gbit/s --picture step.svg
  hvdx-sim my_model.json --forward-ms 30              gradients and times from a file
  hvdx-sim timeline.json --workers 1-1024             a step that the engine recorded, elsewhere
  hvdx-sim --from timeline.json                       where the time of a recorded step went
"""
_MORE = """\
Quantities have units: 50us, 10Gbit/s, 1.2GB/s, 25MiB. A link is a latency and a bandwidth.

A model file is {"name": ..., "batch": ..., "forward_ms": ..., "gradients": [{"name": ...,
"elements" or "bytes": ..., "backward_ms": ...}, ...]}, gradients in forward order.

A timeline (HOROVOD_TIMELINE) as the model: sizes of gradients and when they were ready are those of
the recording, medians over its steps or of --step N. The forward pass is what lies between the last
result of a step and the first gradient of the next, the optimizer included; or --forward-ms.

Times of the models known by name are in proportion to their multiply-adds (backward twice forward;
a normalised value counts as 80). --tflops sets the speed of a worker; --rate, --forward-ms and
--backward-ms set the times themselves.

What is assumed: workers are equally fast, one allreduce runs at a time, computing and communication
do not slow each other down, and the next step begins when the last gradient has arrived (with
--split: when what its layers need has).
"""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "hvdx-sim",
        description=_ABOUT,
        epilog=_MORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("model", nargs="?", help=f"{', '.join(MODELS)}, or a JSON file: a model or a timeline")
    add("--from", dest="timeline", metavar="FILE", help="explain a timeline of the engine")
    add("--step", metavar="N", help="of a timeline: which step (a usual one)")
    worker = parser.add_argument_group("worker")
    add = worker.add_argument
    add("--batch", metavar="N", help="examples a worker and step (32)")
    add("--tflops", metavar="X", help="sustained by a worker, 10^12 operations a second (10)")
    add("--rate", metavar="X", help="examples a second that one worker alone trains")
    add("--forward-ms", metavar="T", help="forward pass of a step")
    add("--backward-ms", metavar="T", help="backward pass of a step")
    add("--element-bytes", metavar="N", help="of a gradient (4)")
    cluster = parser.add_argument_group("cluster")
    add = cluster.add_argument
    add("--workers", metavar="N,...", help="numbers of workers; 1-64 doubles (1 to 100,000)")
    add("--ranks-per-host", metavar="N", help="(1)")
    add("--net", metavar="LINK", help="between hosts (50us,10Gbit/s)")
    add("--host", metavar="LINK", help="inside a host (5us,10GB/s)")
    add("--reduce", metavar="RATE", help="adding up (10GB/s)")
    add("--one-window", action="store_true", help="messages of any length, as publications assume")
    schedule = parser.add_argument_group("what leaves when, and how")
    add = schedule.add_argument
    add("--schedule", metavar="NAME,...", help=f"{', '.join(SCHEDULES)} or all (optimal)")
    which = "auto (the engine's, having measured), rules (before that), best, ring, ... (auto)"
    add("--algorithm", metavar="NAME", help=which)
    add("--allreduce", metavar="RULES", help="as HOROVODX_ALLREDUCE, for auto and rules")
    add("--threshold", metavar="SIZE", help="HOROVOD_FUSION_THRESHOLD (128MiB)")
    add("--bucket", metavar="SIZE", help="of the schedule buckets (25MiB)")
    add("--split", action="store_true", help="allgathers travel in the next forward pass")
    output = parser.add_argument_group("output; '-' is the terminal")
    add = output.add_argument
    add("--json", metavar="FILE", help="everything, also every bucket")
    add("--plot", metavar="FILE", help="efficiency over workers; .svg or .png")
    add("--picture", metavar="FILE", help="one step: computing and communication; .svg or .png")
    add("--trace", metavar="FILE", help="one step as a Chrome trace")
    return parser


def _whole(text: str, what: str, most: int = 100_000_000) -> int:
    value = units.number(text, what, 1)
    if value != int(value) or value > most:
        raise BadInput(f"{what}: '{text}' is not a whole number from 1 to {most}")
    return int(value)


def _milliseconds(args: argparse.Namespace, which: str) -> float | None:
    """Seconds of a pass; None: not given."""
    text = getattr(args, f"{which}_ms")
    return None if text is None else units.number(text, f"--{which}-ms") / 1e3


def _no_step(args: argparse.Namespace) -> None:
    if args.step is not None:
        raise BadInput("--step: goes with a timeline")


def _of_file(args: argparse.Namespace, element_bytes: int) -> workload.Workload:
    """A model file, or a timeline."""
    data = workload.load_json(args.model)
    recorded = timeline.is_timeline(data)
    for option in ("tflops",) if recorded else ("batch", "tflops"):
        if getattr(args, option) is not None:
            raise BadInput(f"--{option}: a file says itself what it takes")
    if not recorded:
        _no_step(args)
        return workload.of_object(data, args.model, element_bytes)
    steps = timeline.steps_of(data, args.model)
    number = None if args.step is None else _step_number(args.step, steps)
    batch = _whole(args.batch or "1", "--batch", 1_000_000)
    # At a rate, both passes are set from it.
    forward = 0.0 if args.rate is not None else _milliseconds(args, "forward")
    return of_recording(steps, number, args.model, batch, forward)


def _workload(args: argparse.Namespace) -> workload.Workload:
    element_bytes = _whole(args.element_bytes or "4", "--element-bytes", 16)
    if args.model in MODELS:
        _no_step(args)
        batch = _whole(args.batch or "32", "--batch", 1_000_000)
        tflops = units.number(args.tflops or "10", "--tflops", 1e-6)
        found = workload.of_model(MODELS[args.model](), batch, element_bytes, 1e12 * tflops)
    elif args.model.endswith(".json") or os.path.isfile(args.model):
        found = _of_file(args, element_bytes)
    else:
        raise BadInput(f"no model '{args.model}'; there are {', '.join(MODELS)}, and JSON files")
    if args.rate is not None:
        found = workload.at_rate(found, units.number(args.rate, "--rate", 1e-9))
    return found.scaled(_milliseconds(args, "forward"), _milliseconds(args, "backward"))


def _cluster(args: argparse.Namespace) -> Cluster:
    cluster = Cluster(windows=not args.one_window, rules=args.allreduce or "")
    if args.net is not None:
        cluster.net = units.level(args.net, "--net")
    if args.host is not None:
        cluster.host = units.level(args.host, "--host")
    if args.reduce is not None:
        cluster.reduce = units.bytes_per_second(args.reduce, "--reduce")
    if args.threshold is not None:
        cluster.threshold = units.size(args.threshold, "--threshold")
    if args.bucket is not None:
        cluster.bucket_bytes = units.size(args.bucket, "--bucket")
    if "\n" in cluster.rules:
        raise BadInput("--allreduce: more than one line")
    return cluster


def _counts(word: str) -> list[int]:
    """8, or from 1-64 each power of two times the first, and the last."""
    if "-" not in word:
        return [_whole(word, "--workers")]
    first, last = (_whole(end, "--workers") for end in word.split("-", 1))
    if first > last:
        raise BadInput(f"--workers: '{word}' ends before it begins")
    doubled = itertools.takewhile(lambda count: count < last, (first << k for k in range(64)))
    return [*doubled, last]


def _runs(args: argparse.Namespace) -> list[Run]:
    schedules = (args.schedule or "optimal").split(",")
    if schedules == ["all"]:
        schedules = list(SCHEDULES)
    for name in schedules:
        if name not in SCHEDULES:
            known = ", ".join([*SCHEDULES, "all"])
            raise BadInput(f"--schedule: no schedule '{name}'; there are {known}")
    ranks = _whole(args.ranks_per_host or "1", "--ranks-per-host", 100_000)
    if args.workers is None:
        workers = usual_workers(ranks)
    else:
        workers = [count for word in args.workers.split(",") for count in _counts(word)]
    algorithm = args.algorithm or "auto"
    if len(algorithm.split()) != 1:
        raise BadInput(f"--algorithm: '{algorithm}' is no name")
    return [
        Run(schedule, algorithm, hosts, local, args.split)
        for schedule in schedules
        for hosts, local in places(workers, ranks)
    ]


def _write(path: str, what: str | bytes) -> None:
    if path == "-":
        print(what)
        return
    try:
        with open(path, "wb") as file:
            file.write(what.encode() if isinstance(what, str) else what)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error


def _check_picture(path: str, option: str) -> None:
    if path != "-" and not path.endswith((".svg", ".png")):
        raise BadInput(f"{option}: '{path}' ends neither in .svg nor in .png")
    if path.endswith(".png") and (missing := png.why_not()):
        raise BadInput(f"{option}: {missing}")


def _draw(path: str, drawing: Drawing) -> None:
    _write(path, png.png(drawing) if path.endswith(".png") else drawing.svg())


def _simulate(args: argparse.Namespace) -> None:
    for option in ("plot", "picture"):
        if getattr(args, option) is not None:
            _check_picture(getattr(args, option), f"--{option}")
    load, cluster, runs = _workload(args), _cluster(args), _runs(args)
    points: list[Point] = sweep(load, cluster, runs)
    if "-" not in (args.json, args.plot, args.picture, args.trace):
        print(f"{report.heading(load, cluster)}\n\n{report.table(points)}")
    shown = points[-1]  # the step that --picture and --trace show
    if args.json is not None:
        _write(args.json, json.dumps(report.as_json(load, cluster, points), indent=1))
    if args.plot is not None:
        _draw(args.plot, pictures.efficiency_plot(f"{load.name}: efficiency by workers", points))
    if args.picture is not None:
        _draw(args.picture, pictures.step_picture(load, shown.step, shown.run))
    if args.trace is not None:
        _write(args.trace, json.dumps(chrome_trace(load, shown.step), indent=1))


def _step_number(text: str, steps: list[timeline.Recorded]) -> int:
    number = int(units.number(text, "--step"))
    if number >= len(steps):
        raise BadInput(f"--step: there is no step {number}; the recording has {len(steps)}")
    return number


def _explain(args: argparse.Namespace) -> None:
    given = {k for k, v in vars(args).items() if v not in (None, False)}
    if more := sorted(given - {"timeline", "step", "json"}):
        raise BadInput(f"--from goes with --step and --json only, not with {more[0]}")
    steps = timeline.read_timeline(args.timeline)
    number = timeline.usual_step(steps)
    if args.step is not None:
        number = _step_number(args.step, steps)
    if args.json is not None:
        _write(args.json, json.dumps(explain.as_json(steps, number), indent=1))
    if args.json != "-":
        print(explain.explain(steps, number))


def main(words: list[str] | None = None) -> int:
    """The console command."""
    parser = _arguments()
    args: Any = parser.parse_args(words)
    try:
        if args.timeline is not None:
            _explain(args)
        elif args.model is not None:
            _simulate(args)
        else:
            parser.print_usage(sys.stderr)
            raise BadInput("needs a model, or --from a timeline")
    except BadInput as error:
        print(f"hvdx-sim: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
