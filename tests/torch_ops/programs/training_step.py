"""A whole training step in one graph: as the eager one, and with all gradients under way at once.

training_step.py FOLDER
"""

from __future__ import annotations

import pathlib
import sys
import threading
import time
from collections.abc import Callable

import torch
from rank import RANK, SIZE, wait_for_file
from torch import Tensor, nn

# backward() in a graph came with this setting; before, torch.func does the same.
BACKWARD = hasattr(torch._dynamo.config, "trace_autograd_ops")
if BACKWARD:
    torch._dynamo.config.trace_autograd_ops = True


def allreduce(tensor: Tensor) -> Tensor:
    """As horovod.torch does it: the operators while compiling, something else otherwise."""
    if torch.compiler.is_compiling():
        from horovodx import torch_ops

        return torch_ops.allreduce(tensor)
    from horovodx import torch_ops

    return torch_ops.allreduce(tensor, "eager")


def new_model() -> nn.Sequential:
    torch.manual_seed(7)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))


def loss_and_gradients(model: nn.Module, x: Tensor, y: Tensor) -> tuple[Tensor, list[Tensor]]:
    if BACKWARD:
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        gradients = [parameter.grad for parameter in model.parameters()]
        for parameter in model.parameters():
            parameter.grad = None
        return loss.detach(), gradients

    def loss_of(parameters: dict[str, Tensor]) -> Tensor:
        return ((torch.func.functional_call(model, parameters, (x,)) - y) ** 2).mean()

    parameters = {name: value.detach() for name, value in model.named_parameters()}
    by_name, loss = torch.func.grad_and_value(loss_of)(parameters)
    return loss, list(by_name.values())


def new_step(model: nn.Module) -> Callable[[Tensor, Tensor], Tensor]:
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, gradients = loss_and_gradients(model, x, y)
        reduced = [allreduce(gradient) for gradient in gradients]
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), reduced):
                parameter.sub_(0.1 * gradient)
        return loss

    return step


def batch(number: int, rows: int = 8) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(100 * number + RANK)
    return torch.randn(rows, 6, generator=generator), torch.randn(rows, 2, generator=generator)


def all_at_once(step: Callable[[Tensor, Tensor], Tensor], gradients: int) -> None:
    """Rank 0 steps; the others come only when all of its gradients are on their way.

    No allreduce can end before: if the graph waited for one before it starts the next, rank 0 would
    stop there and the others would never be let go.
    """
    from horovodx import torch_ops

    signal = pathlib.Path(sys.argv[1], "all_started")
    if RANK != 0:
        wait_for_file(signal)
        step(*batch(9))
        return

    def watch() -> None:
        while torch_ops.count_in_flight()[0] < gradients:
            time.sleep(0.002)
        signal.touch()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    step(*batch(9))
    watcher.join(10)
    assert signal.exists()


def main() -> None:
    eager_model, model = new_model(), new_model()
    eager_step = new_step(eager_model)
    step = torch.compile(new_step(model), fullgraph=True, dynamic=False)
    for number in range(3):
        # The last batch of rank 1 is smaller: it alone compiles again.
        rows = 5 if number == 2 and RANK == 1 else 8
        loss = eager_step(*batch(number, rows))
        torch.testing.assert_close(step(*batch(number, rows)), loss)
    for parameter, expected in zip(model.parameters(), eager_model.parameters()):
        torch.testing.assert_close(parameter, expected)
    all_at_once(step, gradients=len(list(model.parameters())))

    from horovodx import torch_ops

    # Everybody has the same model.
    for parameter in model.parameters():
        mine = parameter.detach()
        torch.testing.assert_close(torch_ops.allreduce(mine, "check"), mine)
    assert SIZE > 1


main()
