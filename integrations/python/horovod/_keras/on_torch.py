"""Keras on PyTorch: gradients, variables and values."""

from typing import Any, Callable, Dict, List, Optional, Sequence

import torch

import horovod.torch as hvd
from horovod.common.process_sets import ProcessSet
from horovod.common.util import split_list
from horovod.torch.functions import broadcast_parameters

Compression = hvd.Compression


class Reduction:
    """How the gradients of one optimizer are reduced."""

    def __init__(
        self,
        name: str,
        device_dense: str,
        device_sparse: str,
        compression: Any,
        sparse_as_dense: bool,
        gradient_predivide_factor: float,
        op: int,
        backward_passes_per_step: int,
        average_aggregated_gradients: bool,
        groups: Any,
        process_set: ProcessSet,
        scale_local_gradients: bool,
    ) -> None:
        self._name = name
        self._compression = compression
        self._predivide = gradient_predivide_factor if op == hvd.Average else 1.0
        self._op = op
        self._passes = backward_passes_per_step
        self._average_passes = average_aggregated_gradients
        self._groups = groups
        self._process_set = process_set
        self._scale_local = scale_local_gradients
        self._local_vars: List[Any] = []
        self._sums: List[Any] = []
        self._pass = 0

    def register_local_var(self, var: Any) -> None:
        """The gradient of this variable is this rank's own."""
        if not self._is_local(var):
            self._local_vars.append(var)

    def _is_local(self, var: Any) -> bool:
        return any(var is each for each in self._local_vars)

    def apply(
        self,
        optimizer: Any,
        gradients: Sequence[Any],
        variables: Sequence[Any],
        apply: Callable[[List[Any], List[Any]], Any],
    ) -> Any:
        """Reduces and applies; with several passes a step, after the last one."""
        gradients, variables = list(gradients), list(variables)
        with torch.no_grad():
            if self._passes > 1:
                self._add(gradients)
                if self._pass < self._passes:
                    optimizer.iterations.assign_add(1)
                    return None
                gradients, self._sums, self._pass = self._sums, [], 0
                if self._average_passes:
                    gradients = [g if g is None else g / self._passes for g in gradients]
            return apply(self._reduced(gradients, variables), variables)

    def _add(self, gradients: Sequence[Any]) -> None:
        if self._pass == 0:
            self._sums = [None if g is None else g.detach().clone() for g in gradients]
        else:
            for total, gradient in zip(self._sums, gradients):
                if gradient is not None:
                    total += gradient
        self._pass += 1

    def _reduced(self, gradients: List[Any], variables: Sequence[Any]) -> List[Any]:
        members = self._process_set.size() or 1
        if members == 1 or not self._process_set.included():
            return gradients
        results = list(gradients)
        travel = []
        for i, (gradient, variable) in enumerate(zip(gradients, variables)):
            if gradient is None:
                continue
            if not self._is_local(variable):
                travel.append(i)
            elif self._scale_local:
                results[i] = gradient / members
        for number, chunk in enumerate(self._chunks(travel, gradients, variables)):
            reduced = hvd.grouped_allreduce(
                [gradients[i].detach().contiguous() for i in chunk],
                name=f"{self._name}.{number}",
                compression=self._compression,
                op=self._op,
                prescale_factor=1.0 / self._predivide,
                postscale_factor=self._predivide,
                process_set=self._process_set,
            )
            for i, gradient in zip(chunk, reduced):
                results[i] = gradient
        return results

    def _chunks(
        self, travel: List[int], gradients: Sequence[Any], variables: Sequence[Any]
    ) -> List[List[int]]:
        """Which travel by one call: all, or the groups that are wanted; one call for one type."""
        parts: List[Any] = [travel]
        if isinstance(self._groups, int):
            parts = split_list(travel, self._groups)
        elif self._groups is not None:
            group_of = {id(v): n for n, group in enumerate(self._groups) for v in group}
            by_group: Dict[Any, List[int]] = {}
            for i in travel:
                by_group.setdefault(group_of.get(id(variables[i]), ("alone", i)), []).append(i)
            parts = list(by_group.values())
        chunks: List[List[int]] = []
        for part in parts:
            by_type: Dict[Any, List[int]] = {}
            for i in part:
                by_type.setdefault(gradients[i].dtype, []).append(i)
            chunks.extend(by_type.values())
        return chunks


def broadcast_variables(variables: Sequence[Any], root_rank: int, device: str = "") -> Any:
    """Gives the root's values to the variables of all ranks."""
    with torch.no_grad():
        tensors = [variable.value.detach().contiguous() for variable in variables]
        names = [f"keras.{i}" for i in range(len(tensors))]
        broadcast_parameters(list(zip(names, tensors)), root_rank)
        for variable, tensor in zip(variables, tensors):
            if tensor.data_ptr() != variable.value.data_ptr():
                variable.assign(tensor)


def _tensor(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.as_tensor(value)


def allreduce(
    value: Any,
    name: Optional[str],
    op: int,
    prescale_factor: float,
    postscale_factor: float,
    compression: Any,
) -> Any:
    """Reduces a value over all ranks."""
    return hvd.allreduce(
        _tensor(value),
        name=name,
        op=op,
        prescale_factor=prescale_factor,
        postscale_factor=postscale_factor,
        compression=compression,
    )


def allgather(value: Any, name: Optional[str]) -> Any:
    """The values of all ranks, one behind the other."""
    return hvd.allgather(_tensor(value), name=name)


def broadcast(value: Any, root_rank: int, name: Optional[str]) -> Any:
    """The root's value."""
    return hvd.broadcast(_tensor(value), root_rank, name=name)


def reducescatter(value: Any, name: Optional[str], op: int) -> Any:
    """This rank's rows of the reduced value."""
    return hvd.reducescatter(_tensor(value), name=name, op=op)


def broadcast_global_variables(root_rank: int) -> Any:
    """There are none on PyTorch."""
    raise RuntimeError("broadcast_global_variables() needs the TensorFlow backend.")
