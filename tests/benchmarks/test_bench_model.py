"""The agent model's event phase: against bare Mesa scheduling, and against ten times the idle employees.

Run with `python -m pytest tests/benchmarks/test_bench_model.py --benchmark-enable -s`: ratios measured in one
run are printed; nothing is asserted about seconds. Processor time, so that other work on the machine counts less.

Bare scheduling is measured in four ways. All events are scheduled beforehand, for the times of a real run; or one
after the other in a chain, which has one pending event. A replay schedules the events of a real run, each inside
the event in which the run scheduled it and for the same time, so that the queue is as long; its callbacks do nothing
else. They are callable objects, as the model's are and which cost Mesa least, or bound methods, as usual with Mesa.
"""

import gc
import time

import mesa
import pytest
from mesa.time import Priority

from deniability.simulation import load_scenario
from deniability.simulation.model import DeniabilityModel

ROUNDS = 7


def timed(run):
    # no collection looks through what was there before: it would fall on one side or the other by chance
    gc.collect()
    gc.freeze()
    started = time.process_time()
    run()
    seconds = time.process_time() - started
    gc.unfreeze()
    return seconds


def five_labs(overrides=(), mechanism="exponential"):
    return load_scenario("five-labs", mechanism=mechanism, overrides=list(overrides)).config


def event_phase(config):
    """Seconds of one run, set-up left out."""
    return timed(DeniabilityModel(config, 1).run)


class Metered(DeniabilityModel):
    """Notes how long the worst-case adversary's arithmetic takes: for a counter mechanism it is a particle filter."""

    def __init__(self, *args):
        super().__init__(*args)
        self.adversary = 0.0
        for name in ("before_decision", "observe", "log_likelihood_ratios"):
            setattr(self.meter, name, self._metered(getattr(self.meter, name)))

    def _metered(self, method):
        def metered(*args):
            started = time.process_time()
            result = method(*args)
            self.adversary += time.process_time() - started
            return result

        return metered


class Recording(DeniabilityModel):
    """Notes inside which event each one was scheduled (its number; None: set-up), for when, and how urgent."""

    def __init__(self, *args):
        self.scheduled = []
        self._inside = None
        super().__init__(*args)

    def schedule_event(self, function, *, at, priority=Priority.DEFAULT):
        number = len(self.scheduled)
        self.scheduled.append((self._inside, at, priority))
        event = super().schedule_event(function, at=at, priority=priority)
        execute = event.execute

        def executing():
            self._inside = number
            execute()

        event.execute = executing
        return event


class Replayed:
    """An event that does nothing but schedule those which followed from it."""

    def __init__(self, model, *, bound):
        self.schedule_event, self.bound = model.schedule_event, bound
        self.children = []

    def __call__(self):
        for child, at, priority in self.children:
            self.schedule_event(child.run if self.bound else child, at=at, priority=priority)

    def run(self):
        self()


def recorded(config):
    model = Recording(config, 1)
    model.run()
    return model.scheduled


def bare_model(scheduled, *, bound):
    """Give a Mesa model with the events of the set-up scheduled, and all events, which Mesa itself does not keep."""
    model = mesa.Model(rng=0)
    set_up = Replayed(model, bound=bound)
    events = [Replayed(model, bound=bound) for _ in scheduled]
    for event, (parent, at, priority) in zip(events, scheduled, strict=True):
        (set_up if parent is None else events[parent]).children.append((event, at, priority))
    set_up()
    return model, events


def replay(scheduled, periods, *, bound):
    """Seconds in which Mesa schedules and runs the recorded events."""
    model, _events = bare_model(scheduled, bound=bound)
    return timed(lambda: model.run_until(periods))


def beforehand(scheduled, periods):
    """Seconds in which Mesa schedules as many events, for the recorded times, and runs what has come by the end."""

    class Bare(mesa.Model):
        def nothing(self):
            pass

    model = Bare(rng=0)

    def run():
        for _, at, priority in scheduled:
            model.schedule_event(model.nothing, at=at, priority=priority)
        model.run_until(periods)

    return timed(run)


def chain(n_events):
    """Seconds in which Mesa schedules and runs as many events that do nothing, each scheduling the next."""

    class Bare(mesa.Model):
        def tick(self):
            self.left -= 1
            if self.left:
                self.schedule_event(self.tick, at=self.time + 0.01)

    model = Bare(rng=0)
    model.left = n_events
    model.schedule_event(model.tick, at=0.01)
    return timed(lambda: model.run_until(0.01 * n_events + 1))


def median(values):
    return sorted(values)[len(values) // 2]


def test_a_replay_schedules_every_event_of_the_run():
    config = five_labs(["time.periods=10"])
    scheduled = recorded(config)
    model, _events = bare_model(scheduled, bound=True)
    model.run_until(config.time.periods)
    # what is left in the queue is what the run did not come to either, but for Mesa's own next step
    left = sorted(at for _, at, _ in scheduled if at > config.time.periods)
    assert sorted(event.time for event in model._event_list._events) == sorted([*left, 11.0])
    assert len({parent for parent, _, _ in scheduled}) > 50  # most events follow from others


@pytest.mark.benchmark(group="event phase")
def test_event_phase_against_bare_scheduling(benchmark):
    config = five_labs()
    scheduled, periods = recorded(config), config.time.periods
    ways = {
        "all scheduled beforehand": lambda: beforehand(scheduled, periods),
        "a chain of as many events": lambda: chain(len(scheduled)),
        "a replay, callable objects": lambda: replay(scheduled, periods, bound=False),
        "a replay, bound methods": lambda: replay(scheduled, periods, bound=True),
    }
    rounds = []

    def each():
        ours = event_phase(config)
        rounds.append([ours / bare() for bare in ways.values()])

    benchmark.pedantic(each, rounds=ROUNDS, warmup_rounds=1)
    print(f"\nevent phase of {len(scheduled)} events / bare Mesa scheduling (goal <= 2)")
    for way, ratios in zip(ways, zip(*(rounds[1:] or rounds), strict=True), strict=True):
        print(f"  {way}: {median(ratios):.2f}")


@pytest.mark.benchmark(group="event phase")
def test_event_phase_of_every_mechanism(benchmark):
    found = {name: [] for name in ("greedy", "uniform", "rr", "exponential", "tca")}

    def each():
        for name, ratios in found.items():
            config = five_labs(mechanism=name)
            scheduled, periods = recorded(config), config.time.periods
            model = Metered(config, 1)
            ours = timed(model.run)
            ways = beforehand(scheduled, periods), replay(scheduled, periods, bound=True)
            ratios.append([(ours - model.adversary) / bare for bare in ways] + [ours / ways[0]])

    benchmark.pedantic(each, rounds=ROUNDS, warmup_rounds=1)
    print("\nevent phase / bare Mesa scheduling, without the worst-case adversary's arithmetic")
    for name, rounds in found.items():
        before, replayed, whole = (median(ratios) for ratios in zip(*(rounds[1:] or rounds), strict=True))
        print(
            f"  {name}: {before:.2f} (scheduled beforehand), {replayed:.2f} (replay, bound methods); with it "
            f"{whole:.2f} (scheduled beforehand)"
        )


@pytest.mark.benchmark(group="event phase")
def test_ten_times_the_idle_employees(benchmark):
    # ten times the headcount, same access and incidents; turnover per head a tenth, so as many departures
    usual, idle = five_labs(), five_labs(["employees.scale=10.0", "employees.turnover=0.01"])
    ratios = []

    def both():
        ratios.append(event_phase(idle) / event_phase(usual))

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=1)
    print(f"\n10 x idle employees / usual, event phase: {median(ratios[1:] or ratios):.2f} (goal <= 1.3)")
