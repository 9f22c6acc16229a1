"""Benchmarks from Python, side by side with torch.distributed (gloo) and mpi4py in one run.

    hvdx-bench --torch [allreduce | step | training | split | init | launch] [options]
"""
