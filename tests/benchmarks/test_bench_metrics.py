"""The metrics of one run against the run itself: batches compute them thousands of times.

Run with `python -m pytest tests/benchmarks/test_bench_metrics.py --benchmark-enable -s`.
"""

import time

import pytest

from deniability.analysis.metrics import run_groups, run_metrics
from deniability.analysis.tables import Columns
from deniability.simulation import load_scenario, run


@pytest.mark.benchmark(group="metrics")
def test_metrics_and_groups_against_the_run(benchmark):
    scenario = load_scenario("five-labs", mechanism="exponential")
    tables = run(scenario).tables
    shares = []

    def both():
        started = time.process_time()
        run(scenario)
        middle = time.process_time()
        shared = Columns(tables)
        run_metrics(shared, 1.0)
        run_groups(shared, 1.0)
        shares.append((time.process_time() - middle) / (middle - started))

    benchmark.pedantic(both, rounds=5, warmup_rounds=1)
    print(f"\nmetrics and groups / one run of five-labs: {sorted(shares)[len(shares) // 2]:.3f}")
