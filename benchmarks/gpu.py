"""An array on a GPU: seconds a sweep against the device's own copying.

    python benchmarks/gpu.py [--rows 10000000] [--columns 100] [--device cuda]

PyTorch makes planted rows of float32 on the device. A sweep reads them once; a copy
reads and writes them, so that the bandwidth of the sweep is to be at least 70 % of the
copy's. The verdict is compared with that on the processor, for a part of the rows.
"""

import argparse
import time

import numpy as np
import torch

import linsep
from linsep.rows.device import DeviceRows


def planted(n, d, device, margin=1e-3):
    """Rows on both sides of a plane, at least the margin away from it."""
    generator = torch.Generator(device=device).manual_seed(0)
    w = torch.randn(d, generator=generator, device=device)
    w /= w.norm()
    X = torch.randn(n, d, generator=generator, device=device)
    y = torch.where(X @ w > 0, 1.0, -1.0)
    for start in range(0, n, 1 << 20):  # without a second matrix of this size
        here = slice(start, start + (1 << 20))
        X[here] += margin * y[here, None] * w
    return X, y


def seconds(work, device, repeats=5):
    """Return the shortest of several runs."""
    best = np.inf
    for _ in range(repeats):
        if device != "cpu":
            torch.cuda.synchronize()
        started = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - started)
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    X, y = planted(given.rows, given.columns, given.device)
    gigabytes = X.numel() * X.element_size() / 1e9
    target = torch.empty_like(X)
    copying = 2 * gigabytes / seconds(lambda: target.copy_(X), given.device)
    target = None  # let go of it
    rows = DeviceRows(X, y.cpu().numpy().astype(np.int8), True)
    w = np.random.default_rng(0).standard_normal(given.columns + 1)
    sweeping = gigabytes / seconds(lambda: rows.scan(w, 1_000), given.device)
    print(
        f"{given.rows:,} x {given.columns} float32 on {given.device}: copying "
        f"{copying:.0f} GB/s, a sweep {sweeping:.0f} GB/s, {sweeping / copying:.0%}"
    )
    started = time.perf_counter()
    answer = linsep.separate(X, y)
    passed = time.perf_counter() - started
    print(f"{answer.status.value}, {answer.n_passes} passes, {passed:.2f} s")
    part = min(given.rows, 200_000)
    there = linsep.separate(X[:part], y[:part])
    here = linsep.separate(X[:part].cpu().numpy(), y[:part].cpu().numpy())
    print(f"the same verdict as on the processor: {there.status is here.status}")


if __name__ == "__main__":
    main()
