"""What a batch costs beside its runs, and how well two workers are used.

Run with `python -m pytest tests/benchmarks/test_bench_batch.py --benchmark-enable -s`: figures measured in one run,
warm, are printed; nothing is asserted about seconds.
"""

import time

import pytest

from deniability.simulation import batch, load_scenario
from deniability.simulation.batch_plan import BatchPlan
from deniability.simulation.chunks import run_one
from deniability.simulation.executors import SerialExecutor
from deniability.simulation.runs import simulated
from deniability.simulation.workers import LocalPool

SMALL = ["time.periods=26", "employees.scale=0.1", 'sweep.grid."auditor.delta"=[0.1, 0.2]']
REPLICATES = 3
ROUNDS = 3


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("five-labs", overrides=SMALL)


def warm(plan, times=1):
    for _ in range(times):
        for cell in plan.cells:
            run_one(cell.config, plan.run(cell.number, 0), events=False)


@pytest.mark.benchmark(group="batch")
def test_overhead_of_a_run(benchmark, scenario, tmp_path):
    plan = BatchPlan.of(scenario, 1)
    warm(plan)
    found = []

    def both():
        """Processor time of a batch in this process, against that of its runs alone."""
        started = time.process_time()
        result = batch(
            scenario, tmp_path / str(len(found)), replicates=2 * REPLICATES, executor=SerialExecutor()
        )
        whole = time.process_time() - started
        started = time.process_time()
        for run in plan.runs(2 * REPLICATES):
            simulated(plan.cells[run.cell].config, run.seed)
        alone = time.process_time() - started
        found.append(((whole - alone) / result.n_runs, alone / result.n_runs))

    benchmark.pedantic(both, rounds=2, warmup_rounds=0)
    overhead, alone = min(found)
    print(
        f"\noverhead of a run in a batch: {1000 * overhead:.1f} ms (goal <= 20), beside {1000 * alone:.0f} ms for "
        f"the run itself, ratio {overhead / alone:.3f}"
    )


class Watched(LocalPool):
    """A pool that adds up the time that its workers spend on runs."""

    busy = 0.0

    def submit(self, fn, /, *args):
        future = super().submit(fn, *args)
        future.add_done_callback(lambda done: self._count(done.result()))
        return future

    def _count(self, result):
        self.busy += sum(getattr(result, "seconds", ()))


@pytest.mark.benchmark(group="batch")
def test_two_workers_are_used(benchmark, scenario, tmp_path):
    plan = BatchPlan.of(scenario, 1)
    found = []

    def one(pool, jobs, name):
        """Wall time, and the share of it that the workers spend on runs."""
        pool.busy = 0.0
        started = time.perf_counter()
        batch(scenario, tmp_path / name, replicates=8 * REPLICATES, executor=pool, jobs=jobs)
        wall = time.perf_counter() - started
        return wall, pool.busy / (jobs * wall)

    def undisturbed(pool):
        """Wall time of the same runs in each worker, with nothing planned, sent or written."""
        started = time.perf_counter()
        for call in [pool.submit(warm, plan, 4 * REPLICATES) for _ in range(pool.n_workers)]:
            call.result()
        return time.perf_counter() - started

    with (
        Watched(1, "deniability.simulation.chunks") as single,
        Watched(2, "deniability.simulation.chunks") as double,
    ):
        for pool in (single, double):
            for call in [pool.submit(warm, plan) for _ in range(pool.n_workers)]:
                call.result()

        def both():
            number = len(found)
            alone, _ = one(single, 1, f"{number}-one")
            machine = undisturbed(single) / undisturbed(double)
            together, share = one(double, 2, f"{number}-two")
            found.append((alone / (2 * together), machine, share))

        benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=0)
    print("\ntwo workers against one (goal >= 0.90 of ideal), each round:")
    for ideal, machine, share in found:
        print(
            f"  speed-up / 2: {ideal:.2f}; of runs alone, in two processes and in one: {machine:.2f}, so the batch "
            f"reaches {ideal / machine:.2f} of what the machine gives; time of workers on runs: {share:.2f}"
        )
