"""SyncBatchNorm: batch normalisation over the batches of all ranks."""

from typing import Any, Optional, Tuple

import torch
import torch.nn.functional as F
from torch.nn.modules.batchnorm import _BatchNorm

from horovod.common.process_sets import global_process_set
from horovod.torch import _allreduce
from horovod.torch._basics import Sum, size
from horovod.torch._gather import allgather_async
from horovod.torch._handles import synchronize


class SyncBatchNorm(_BatchNorm):
    """Like torch.nn.BatchNorm, with mean and variance of all ranks' batches together.

    Layers must run in the same order on all ranks. Weight and bias gradients stay local: the
    DistributedOptimizer reduces them. Works on the CPU too.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: Optional[float] = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats)

    def _check_input_dim(self, input: torch.Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Normalises `input`; in training with the statistics of all ranks."""
        self._check_input_dim(input)
        use_batch = self.training or not self.track_running_stats
        if not use_batch or size() == 1:
            return super().forward(input)
        momentum = self._count_batch()
        output, mean, variance, count = _Normalise.apply(input, self.weight, self.bias, self.eps)
        if self.training and self.track_running_stats:
            self._remember(mean, variance, count, momentum)
        return output  # type: ignore[no-any-return]

    def _count_batch(self) -> float:
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        if self.momentum is not None:
            return self.momentum
        return 1.0 / max(1.0, float(self.num_batches_tracked or 0))

    def _remember(
        self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor, momentum: float
    ) -> None:
        assert self.running_mean is not None and self.running_var is not None
        with torch.no_grad():
            n = float(count)
            unbiased = variance * (n / max(n - 1.0, 1.0))
            self.running_mean.lerp_(mean.to(self.running_mean.dtype), momentum)
            self.running_var.lerp_(unbiased.to(self.running_var.dtype), momentum)


def _over_channels(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A vector with a number for each channel, shaped to meet `like`."""
    return values.view([1, -1] + [1] * (like.dim() - 2))


def _statistics_of_all(x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean and variance of every channel, and how many numbers they are of, over all ranks."""
    channels = x.shape[1]
    dims = [d for d in range(x.dim()) if d != 1]
    count = x.numel() // max(channels, 1)
    if count > 0:
        variance, mean = torch.var_mean(x, dims, unbiased=False)
    else:
        variance = mean = x.new_zeros(channels)
    mine = torch.cat([mean, variance * count, mean.new_tensor([float(count)])])
    everybody = synchronize(allgather_async(mine[None].contiguous(), "sync_batch_norm.statistics"))
    counts = everybody[:, -1:]
    total = counts.sum()
    means = everybody[:, :channels]
    mean = (means * counts).sum(0) / total
    # The squares of each rank about its own mean, and of those means about the common one.
    squares = everybody[:, channels:-1].sum(0) + (counts * (means - mean) ** 2).sum(0)
    return mean, squares / total, total


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        x: torch.Tensor,
        weight: Optional[torch.Tensor],
        bias: Optional[torch.Tensor],
        eps: float,
    ) -> Tuple[torch.Tensor, ...]:
        exact = x if x.dtype == torch.float64 else x.float()
        mean, variance, count = _statistics_of_all(exact)
        output = F.batch_norm(exact, mean, variance, _to(weight, exact), _to(bias, exact), eps=eps)
        ctx.save_for_backward(x, weight, mean, (variance + eps).rsqrt(), count)
        ctx.has_bias = bias is not None
        ctx.mark_non_differentiable(mean, variance, count)
        return output.to(x.dtype), mean, variance, count

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor, *_: Any) -> Any:  # type: ignore[override]
        x, weight, mean, invstd, count = ctx.saved_tensors
        dims = [d for d in range(x.dim()) if d != 1]
        dy = grad_output.to(mean.dtype)
        normal = (x.to(mean.dtype) - _over_channels(mean, x)) * _over_channels(invstd, x)
        sums = torch.stack([dy.sum(dims), (dy * normal).sum(dims)])
        grad_x = grad_weight = grad_bias = None
        if weight is not None and ctx.needs_input_grad[1]:
            grad_weight = sums[1].to(weight.dtype)
        if ctx.has_bias and ctx.needs_input_grad[2]:
            grad_bias = sums[0].to(weight.dtype if weight is not None else x.dtype)
        if ctx.needs_input_grad[0]:
            of_all = _allreduce.run(
                sums,
                torch.empty_like(sums),
                "sync_batch_norm.gradients",
                Sum,
                1.0,
                1.0,
                global_process_set,
            )
            mean_dy, mean_dy_normal = of_all / count
            scale = invstd if weight is None else invstd * weight.to(invstd.dtype)
            grad_x = _over_channels(scale, x) * (
                dy - _over_channels(mean_dy, x) - normal * _over_channels(mean_dy_normal, x)
            )
            grad_x = grad_x.to(x.dtype)
        return grad_x, grad_weight, grad_bias, None


def _to(parameter: Optional[torch.Tensor], like: torch.Tensor) -> Optional[torch.Tensor]:
    return None if parameter is None else parameter.to(like.dtype)
