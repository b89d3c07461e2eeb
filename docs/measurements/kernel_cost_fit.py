#!/usr/bin/env python3
"""Fits the iterations of gpu/kernel_cost.cpp to what was measured (numpy, scipy).

  kernel_cost_fit.py kernel-cost-shapes.csv MEASURED.csv...

kernel-cost-shapes.csv is of graph_shapes.cpp, MEASURED.csv of `pagerank-bench solve --csv`: of each
device, graph and precision (float, double) the median of the medians of `balanced` and `blocked`
counts. Prints the constants that fit best and those that the program has, how far each set is off,
how far the program's preparation is (which is not fitted), and every graph by the program's. The
errors that are made small are of the logarithms of both iterations and of their ratio; large ones
count less (soft_l1).
"""
import csv
import math
import statistics
import sys

import numpy
from scipy.optimize import least_squares

H100, BANDWIDTH = 3.35e12, {"H100": 3.35e12, "H200": 4.8e12}
NAMES = ["launches_of_balanced", "launches_of_blocked", "seconds_of_link", "seconds_of_link, double",
         "seconds_of_row", "bytes_per_second", "rate at 2^19", "2^24", "2^25", "2^26",
         "share_of_memory in L2", "blocked_bytes_per_second", "blocked: bytes of a link", "in double",
         "per byte of weight", "of a run", "per byte of a node's value"]
PROGRAM = [14e-6, 16.4e-6, 2.1e-12, 3.8e-12, 3.8e-12, 2.55e12, 130e9, 130e9, 100e9, 50e9, 0.25, 2.57e12,
           1.95, 3.15, 0.86, 1.15, 5.65]


def clamp(value, least, most):
    return max(least, min(most, value))


def balanced(shape, width, device, c):
    rates = [(17, 650e9), (19, c[6]), (24, c[7]), (25, c[8]), (26, c[9]), (27, 0.8 * c[9]), (29, 0.62 * c[9])]
    size, faster = math.log2(shape["nodes"] * (1 - shape["isolated"]) * width), BANDWIDTH[device] / H100
    rate = rates[0][1] if size <= 17 else rates[-1][1]
    for (below, rate_below), (above, rate_above) in zip(rates, rates[1:]):
        if below < size <= above:
            rate = rate_below * (rate_above / rate_below) ** ((size - below) / (above - below))
    rate *= faster ** clamp((size - 24) / 2, c[10], 1)
    links, nodes = shape["links"], shape["nodes"]
    moved = links * (4 + shape["weighted"] * width) / (faster * c[5])
    gather = links * shape["sectors_per_link"] / rate
    steps = links * (c[2] if width == 4 else c[3]) + nodes * c[4]
    of_links = (moved**4 + gather**4 + steps**4) ** 0.25
    return c[0] + of_links + nodes * (3.2 * width + 1) / (faster * c[5])


def blocked(shape, width, device, c):
    links, nodes = shape["links"], shape["nodes"] * (1 - shape["isolated"])
    runs = links * shape["runs_per_link"]
    in_memory = clamp(math.log2(runs * width / 2**24) / 3, 0, 1)
    moved = (links * (c[12] + (c[13] if width == 8 else 0) + shape["weighted"] * c[14] * width)
             + runs * (c[15] + (1.15 + in_memory) * width) + nodes * c[16] * width)
    return c[1] + moved / ((BANDWIDTH[device] / H100) ** 0.5 * c[11])


def preparation(shape, width, device):
    """What preparing `blocked` takes more than `balanced`."""
    links, nodes = shape["links"], shape["nodes"] * (1 - shape["isolated"])
    passes = (nodes * 0.22e-9 + links * (0.0135e-9 + shape["weighted"] * width * 0.005e-9)
              + links * shape["runs_per_link"] * 0.029e-9)
    return 1.8e-3 - 0.1e-3 + H100 / BANDWIDTH[device] * passes


def read_shapes(path):
    with open(path, encoding="utf-8") as file:
        return {(row["graph"], int(row["value_bytes"])):
                {name: float(row[name]) for name in row if name not in ("graph", "value_bytes")}
                for row in csv.DictReader(file)}


def read_measured(paths, shapes):
    """Medians of iterations, and by how much preparing takes longer in each file."""
    seen, prepared = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["graph"].replace(":seed=1", ""), {"float": 4, "double": 8}.get(row["precision"]))
                device = next((name for name in BANDWIDTH if name in row["device"]), None)
                if row["benchmark"] != "solve" or not row["median_seconds"] or key not in shapes or not device:
                    continue
                of_kernels = seen.setdefault((device, *key), {})
                of_kernels.setdefault(row["kernel"], []).append(float(row["median_seconds"]))
                prepared.setdefault((device, *key, path), {})[row["kernel"]] = float(row["prepare_seconds"])
    more = {}
    for (*key, _), kernels in prepared.items():
        if "balanced" in kernels and "blocked" in kernels:
            more.setdefault(tuple(key), []).append(kernels["blocked"] - kernels["balanced"])
    iterations = {key: [statistics.median(kernels[name]) for name in ("balanced", "blocked")]
                  for key, kernels in seen.items() if "balanced" in kernels and "blocked" in kernels}
    return iterations, {key: statistics.median(values) for key, values in more.items()}


def errors(key, measured, shapes, constants):
    device, graph, width = key
    model = [kernel(shapes[graph, width], width, device, constants) for kernel in (balanced, blocked)]
    of_balanced, of_blocked = (math.log(mine / theirs) for mine, theirs in zip(model, measured[key]))
    return of_balanced, of_blocked, of_balanced - of_blocked, model


def summary(title, keys, measured, shapes, constants):
    print(title)
    for device, width in sorted({(key[0], key[2]) for key in keys}):
        rows = numpy.array([errors(key, measured, shapes, constants)[:3]
                            for key in keys if (key[0], key[2]) == (device, width)])
        mean, rms = rows.mean(axis=0), numpy.sqrt((rows**2).mean(axis=0))
        print(f"  {device}, {width} bytes, {len(rows)} graphs: balanced {mean[0]:+.3f}, rms {rms[0]:.3f};"
              f" blocked {mean[1]:+.3f}, {rms[1]:.3f}; their ratio {mean[2]:+.3f}, {rms[2]:.3f}")


def main():
    shapes = read_shapes(sys.argv[1])
    measured, prepared = read_measured(sys.argv[2:], shapes)
    # One row that holds half of the links is not in the model.
    keys = [key for key in sorted(measured) if not key[1].startswith("hub")]
    program = numpy.array(PROGRAM)

    def residuals(factors):
        of_graphs = [error for key in keys for error in errors(key, measured, shapes, factors * program)[:3]]
        return numpy.array(of_graphs + list(0.3 * (factors - 1)))  # where nothing tells, as it is

    best = least_squares(residuals, numpy.ones(len(program)), loss="soft_l1", f_scale=0.1).x * program
    for name, mine, fitted in zip(NAMES, PROGRAM, best):
        print(f"{name:30} {mine:10.4g} {fitted:10.4g}")
    summary("the program's", keys, measured, shapes, program)
    summary("the best", keys, measured, shapes, best)
    for device in BANDWIDTH:
        off = [math.log(preparation(shapes[graph, width], width, device) / more)
               for (of, graph, width), more in prepared.items() if of == device]
        if off:
            print(f"preparation, {device}, {len(off)} graphs: {numpy.mean(off):+.3f}, rms"
                  f" {numpy.sqrt(numpy.mean(numpy.square(off))):.3f}")
    print("device graph bytes: balanced, model; blocked, model (us)")
    for key in sorted(measured):
        *_, model = errors(key, measured, shapes, program)
        print(*key, *(f"{1e6 * value:.1f}" for pair in zip(measured[key], model) for value in pair))


if __name__ == "__main__":
    main()
