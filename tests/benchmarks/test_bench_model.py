"""The agent model's event phase: against bare Mesa scheduling, and against ten times the idle employees.

Run with `python -m pytest tests/benchmarks/test_bench_model.py --benchmark-enable -s`: ratios measured in one
run are printed; nothing is asserted about seconds. Processor time, so that other work on the machine counts less.
"""

import time

import mesa
import pytest

from deniability.simulation import load_scenario
from deniability.simulation.model import DeniabilityModel

ROUNDS = 7


def event_phase(overrides):
    """Seconds and number of events of one run, set-up left out."""
    config = load_scenario("five-labs", mechanism="exponential", overrides=overrides).config
    model = DeniabilityModel(config, 1)
    n_events = 0
    schedule = model.schedule_event

    def counting(*args, **kwargs):
        nonlocal n_events
        n_events += 1
        return schedule(*args, **kwargs)

    counted = DeniabilityModel(config, 1)
    counted.schedule_event, schedule = counting, counted.schedule_event
    counted.run()
    started = time.process_time()
    model.run()
    return time.process_time() - started, n_events


def bare_mesa(n_events):
    """Seconds in which Mesa schedules and runs as many events that do nothing, each scheduling the next."""

    class Bare(mesa.Model):
        def tick(self):
            self.left -= 1
            if self.left:
                self.schedule_event(self.tick, at=self.time + 0.01)

    model = Bare(rng=0)
    model.left = n_events
    model.schedule_event(model.tick, at=0.01)
    started = time.process_time()
    model.run_until(0.01 * n_events + 1)
    return time.process_time() - started


def median(values):
    return sorted(values)[len(values) // 2]


@pytest.mark.benchmark(group="event phase")
def test_event_phase_against_bare_scheduling(benchmark):
    pairs = []

    def both():
        seconds, n_events = event_phase([])
        pairs.append((seconds, bare_mesa(n_events), n_events))

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=1)
    ratio = median([ours / bare for ours, bare, _ in pairs[1:] or pairs])
    print(f"\nevent phase / bare Mesa scheduling of {pairs[-1][2]} events: {ratio:.2f} (goal <= 2)")


@pytest.mark.benchmark(group="event phase")
def test_ten_times_the_idle_employees(benchmark):
    pairs = []

    def both():
        usual, _ = event_phase([])
        # ten times the headcount, same access and incidents; turnover per head a tenth, so as many departures
        idle, _ = event_phase(["employees.scale=10.0", "employees.turnover=0.01"])
        pairs.append(idle / usual)

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=1)
    print(f"\n10 x idle employees / usual, event phase: {median(pairs[1:] or pairs):.2f} (goal <= 1.3)")
