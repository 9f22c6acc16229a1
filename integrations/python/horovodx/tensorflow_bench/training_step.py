"""A training step with the gradients of ResNet-50, as one tf.function.

Its 161 weights are there, 102 MB of float32; its layers are not, but for as many products of
matrices as are asked for: a gradient comes when the products of its layer are done, last layer
first, as in a backward pass.
"""

from typing import Any, Callable, List

from horovodx.torch_bench.step import resnet50

_SIDE = 256  # of the matrices
_RATE = 0.01

# Gradients, and the weights they are for, to the gradients to apply.
Reduce = Callable[[List[Any]], List[Any]]


class TrainingStep:
    """Weights, and functions that train them."""

    def __init__(self, scale: float, mean_scale: float, products: int) -> None:
        import tensorflow as tf

        self.weights = [tf.Variable(tf.ones([n])) for n in resnet50()]
        self._scale = scale
        self._mean_scale = mean_scale
        self._products = products
        self._matrix = tf.Variable(tf.eye(_SIDE))

    def reset(self) -> None:
        """As in the beginning."""
        for weight in self.weights:
            weight.assign(weight * 0 + 1)

    def check(self, steps: int, reduced: bool) -> None:
        """All weights are what so many steps make of them."""
        expected = (1 - _RATE * (self._mean_scale if reduced else self._scale)) ** steps
        for i, weight in enumerate(self.weights):
            for value in (float(weight[0]), float(weight[-1])):
                if abs(value - expected) > 1e-4 * expected:
                    raise RuntimeError(f"weight {i} is {value} after {steps}: not {expected}")

    def _backward(self) -> List[Any]:
        """The gradients of scale * |w|^2 / 2, one after the other."""
        import tensorflow as tf

        count = len(self.weights)
        gradients: List[Any] = [None] * count
        flow, one = self._matrix.read_value(), tf.constant(self._scale)
        done = 0
        for i in reversed(range(count)):
            due = self._products * (count - i) // count
            for _ in range(due - done):
                flow = tf.matmul(flow, self._matrix)
            done = due
            # flow[0, 0] is 1, which nobody knows before it has been computed.
            gradients[i] = self.weights[i] * (one * flow[0, 0])
        return gradients

    def function(self, reduce: Reduce) -> Callable[[], Any]:
        """One step."""
        import tensorflow as tf

        def step() -> Any:
            gradients = reduce(self._backward())
            for weight, gradient in zip(self.weights, gradients):
                weight.assign_sub(_RATE * gradient)
            return tf.constant(0)

        return tf.function(step, autograph=False)
