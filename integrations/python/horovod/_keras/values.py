"""Collectives on values: numbers, lists, arrays. In the framework below, at once."""

from typing import Any, Callable, Optional, Tuple

from horovod._keras.backend import basics

Function = Callable[..., Any]


def value_functions(below: Any) -> Tuple[Function, Function, Function, Function]:
    """allgather, broadcast, reducescatter and broadcast_global_variables."""

    def allgather(value: Any, name: Optional[str] = None) -> Any:
        """The values of all ranks, one behind the other."""
        return below.allgather(value, name)

    def broadcast(value: Any, root_rank: int, name: Optional[str] = None) -> Any:
        """The value of `root_rank`."""
        return below.broadcast(value, root_rank, name)

    def reducescatter(value: Any, name: Optional[str] = None, op: int = basics.Average) -> Any:
        """This rank's rows of the reduced value."""
        return below.reducescatter(value, name, op)

    def broadcast_global_variables(root_rank: int) -> Any:
        """For graphs of TensorFlow 1: the root's values for all variables."""
        return below.broadcast_global_variables(root_rank)

    return allgather, broadcast, reducescatter, broadcast_global_variables
