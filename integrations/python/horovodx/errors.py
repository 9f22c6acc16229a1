"""What can go wrong in a collective."""


class HorovodInternalError(RuntimeError):
    """A collective failed: a peer is gone, ranks disagree, or the engine was shut down.

    Elastic training catches it, restores the last committed state and goes on.
    """
