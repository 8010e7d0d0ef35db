"""The paper's experiments and the noise paths against what numpy takes for the draws alone.

Run with `python -m pytest tests/benchmarks/test_bench_paper.py --benchmark-enable -s`.
Ratios of times measured in one run are printed and held to the goals; nothing is asserted about seconds.
"""

import subprocess
import sys
import time
from itertools import pairwise

import numpy as np
import pytest

from deniability.agents.auditor.counters import COUNTERS, counter
from deniability.agents.auditor.mechanisms import MECHANISMS, build
from deniability.simulation.draws import KeyedDraws
from deniability.simulation.paper import contenders
from deniability.simulation.paper_dynamic import run_dynamic
from deniability.simulation.paper_setting import DynamicSetting


def best(work, rounds=5):
    """Least seconds of several rounds, which is what other load on the machine distorts least."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


@pytest.mark.benchmark(group="Experiment 2")
def test_experiment_2_against_its_draws(benchmark):
    """Five mechanisms, 100 seeds, within 3 times the draws of the Poisson stream and as many normals.

    TCA has its default counter there. All contenders of `paper` draw normals for each of the four counters, and
    are held to 3 times the stream and all of those; their ratio to the draws of the five is printed too.
    """
    setting = DynamicSetting()
    shape = (setting.horizon, setting.seeds, setting.n_targets)
    rates = np.full(setting.n_targets, setting.rate_other)
    rates[0] = setting.rate_lead
    generator = np.random.default_rng(1)

    def draws(n_normals):
        generator.poisson(rates, shape)
        for _ in range(n_normals):
            generator.standard_normal(shape)

    def experiment(pairs):
        run_dynamic(setting, [build(m, 0.1, setting.horizon, c) for m, c in pairs], KeyedDraws(1))

    if benchmark.disabled:
        pytest.skip("benchmarks run with --benchmark-enable")
    everyone = contenders()
    default = [pair for pair in everyone if pair[1] == "toeplitz"]
    assert sorted(name for name, _ in default) == sorted(MECHANISMS)
    experiment(everyone)  # warm
    drawn, five = best(lambda: draws(1)), best(lambda: experiment(default))
    all_drawn, eight = best(lambda: draws(len(COUNTERS))), best(lambda: experiment(everyone))
    benchmark.pedantic(experiment, (default,), rounds=1)
    print(
        f"\nExperiment 2, {len(default)} mechanisms (TCA with the Toeplitz counter): {five:.3f} s, "
        f"{five / drawn:.2f} times its draws ({drawn:.3f} s)"
        f"\nExperiment 2, all {len(everyone)} contenders (TCA with {len(COUNTERS)} counters): {eight:.3f} s, "
        f"{eight / drawn:.2f} times the same, {eight / all_drawn:.2f} times its own draws ({all_drawn:.3f} s)"
    )
    assert five <= 3.0 * drawn
    assert eight <= 3.0 * all_drawn


@pytest.mark.benchmark(group="noise paths")
@pytest.mark.parametrize("name", ["toeplitz", "blt", "binary_tree"])
def test_noise_paths_grow_linearly(benchmark, name):
    """100 targets at T = 25,000, 50,000 and 100,000 periods: time grows like T log T at most."""
    horizons = (25_000, 50_000, 100_000)

    def stream(horizon):
        generator = np.random.default_rng(1)
        paths = counter(name)().paths(1, 100, horizon)
        for _ in range(horizon):
            paths.step(generator.standard_normal((1, 100)))

    if benchmark.disabled:
        pytest.skip("benchmarks run with --benchmark-enable")
    stream(1_000)
    seconds = [best(lambda h=h: stream(h), rounds=2) for h in horizons]
    benchmark.pedantic(stream, (1_000,), rounds=1)
    ratios = [b / a for a, b in pairwise(seconds)]
    times = ", ".join(f"{t:.2f} s" for t in seconds)
    print(f"\n{name}: {times}; doubling T takes {ratios[0]:.2f} and {ratios[1]:.2f} times as long")
    # a quarter is left for noise in the measurement
    assert max(ratios) < 1.25 * 2.0 * np.log(100_000) / np.log(50_000)


@pytest.mark.benchmark(group="paper")
def test_paper_from_cold(benchmark, tmp_path):
    """Everything, figures too, in a fresh process: at most 10 seconds on two idle cores."""
    if benchmark.disabled:
        pytest.skip("benchmarks run with --benchmark-enable")
    script = "from deniability.simulation.command_line import main; main()"
    command = [sys.executable, "-c", script, "paper", "--quiet", "--out", str(tmp_path / "paper")]
    started = time.perf_counter()
    benchmark.pedantic(subprocess.run, (command,), {"check": True}, rounds=1)
    seconds = time.perf_counter() - started
    print(f"\npaper, all experiments and figures, cold process: {seconds:.1f} s")
    assert (tmp_path / "paper" / "exp2.csv").is_file()
