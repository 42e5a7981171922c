"""Dask with one worker process and with two: seconds, and bytes that travel.

    python benchmarks/cluster.py [--files 8] [--repeats 3] [--save FILE] FOLDER

The folder is one that `out_of_core.py` made; a file is a partition. Each worker has one
thread, reads its partitions anew for every sweep, and sends what was found. One and two
workers take turns; shown are the medians, and the ratio of the two.
"""

import argparse
import time
from pathlib import Path
from statistics import median

import cloudpickle
import dask
import dask.dataframe
from distributed import Client, LocalCluster
from reporting import Lines

import linsep


def separated(folder, n_files, n_workers):
    """Return the seconds of a search on so many workers, passes and bytes moved."""
    sizes = []
    get = Client.get

    def measured(self, *arguments, **options):
        found = get(self, *arguments, **options)
        sizes.append(len(cloudpickle.dumps(found)))
        return found

    Client.get = measured
    try:
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster),
        ):
            files = sorted(map(str, Path(folder).glob("*.parquet")))[:n_files]
            frame = dask.dataframe.read_parquet(files)
            started = time.perf_counter()
            answer = linsep.separate(frame, "y")
            seconds = time.perf_counter() - started
    finally:
        Client.get = get
    assert answer.proved
    return seconds, answer.n_passes, sizes


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--files", type=int, default=8)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--save", type=Path)
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    lines = Lines(f"dask {dask.__version__}", f"{given.repeats} repeats")
    taken = {1: [], 2: []}
    for _ in range(given.repeats):
        for n_workers, seconds in taken.items():
            found = separated(given.folder, given.files, n_workers)
            seconds.append(found[0])
    _, n_passes, sizes = found
    one, two = median(taken[1]), median(taken[2])
    size = sum(
        path.stat().st_size for path in sorted(given.folder.glob("*"))[: given.files]
    )
    lines.say(f"{given.files} files, {size / 1e9:.1f} GB, {n_passes} passes")
    lines.say(f"one worker {one:.1f} s, two {two:.1f} s: {one / two:.2f} times as fast")
    lines.say(f"bytes to the client a computation: {sizes}")
    lines.save(given.save)


if __name__ == "__main__":
    main()
