"""The engine's C ABI; horovodx/api/c_api.h says what each function does."""

from collections.abc import Sequence

class Result:
    """The bytes of a result; takes over the handle it is made from."""

    def __init__(self, handle: int, bytes: int) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

def version() -> str: ...
def last_error() -> str: ...
def is_initialized() -> bool: ...
def counter(name: str) -> int: ...
def describe(what: str) -> str: ...
def submit(
    kind: int,
    name: str,
    type: int,
    shape: Sequence[int],
    input: int,
    output: int,
    op: int = 1,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
    root: int = 0,
    splits: Sequence[int] | None = None,
) -> int: ...
def run(
    kind: int,
    name: str,
    type: int,
    shape: Sequence[int],
    input: int,
    output: int,
    op: int = 1,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
    root: int = 0,
) -> None: ...
def submit_group(
    kind: int,
    names: Sequence[str],
    types: Sequence[int],
    shapes: Sequence[Sequence[int]],
    inputs: Sequence[int],
    outputs: Sequence[int],
    op: int = 1,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> list[int]: ...
def register_slot(
    kind: int,
    name: str,
    type: int,
    shape: Sequence[int],
    op: int = 1,
    prescale: float = 1.0,
    postscale: float = 1.0,
    process_set: int = 0,
) -> int: ...
def submit_slot(slot: int, input: int, output: int) -> int: ...
def poll(handle: int) -> bool: ...
def wait(handle: int) -> None: ...
def wait_all(handles: Sequence[int]) -> None: ...
def release(handle: int) -> None: ...
def release_all(handles: Sequence[int]) -> None: ...
def output_shape(handle: int) -> list[int]: ...
def received_splits(handle: int, members: int) -> list[int]: ...
def last_joined(handle: int) -> int: ...
def rendezvous_start(address: str, port: int, secret: str, job_id: str) -> int: ...
def rendezvous_stop() -> None: ...
