"""The paper's Experiment 1: one decision, a leader with a gap, exact probabilities beside trials."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from ..agents.auditor.mechanisms import CounterMechanism, Mechanism, MemorylessMechanism, build
from ..agents.auditor.privacy import counter_misselection, error_floor
from ..agents.ports import FloatArray, IntArray
from .draws import KeyedDraws
from .paper_draws import bulk_generator
from .paper_setting import StaticSetting

__all__ = ["exact_crossing", "exact_curves", "exact_misselection", "run_static"]

_PIECE = 16  # gaps whose integrals fit into a cache together: a third less time


def run_static(
    setting: StaticSetting,
    contenders: Sequence[tuple[str, str]],
    draws: KeyedDraws,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Run Experiment 1: how often a decision at run length L, with horizon L, misses the leader.

    The leader (target 0) has `gap` active reports, the others none. Another target than the leader counts
    as missed also at gap 0. Trials at different points are independent; at one point all counter mechanisms
    scale the same normals.

    Parameters
    ----------
    setting
        The grid.
    contenders
        Pairs (mechanism, counter).
    draws
        Streams `paper.static`, one per point and mechanism.
    progress
        Called with the number of cells done.

    Returns
    -------
    DataFrame
        `n_targets, run_length, delta, gap, mechanism, trials, misselections, misselection, exact`; `exact` is
        undefined for a mechanism whose law is not known.
    """
    rows: list[tuple[int | float | str, ...]] = []
    for done, (n_targets, run_length, delta) in enumerate(setting.cells(), start=1):
        cell = _Cell(n_targets, run_length, delta, setting, draws)
        for name, counter in contenders:
            rows += cell.rows(build(name, delta, run_length, counter))
        if progress is not None:
            progress(done)
    columns = ["n_targets", "run_length", "delta", "gap", "mechanism"]
    return pd.DataFrame(rows, columns=[*columns, "trials", "misselections", "misselection", "exact"])


def exact_curves(setting: StaticSetting, contenders: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Exact probabilities on a finer grid of gaps, and the bound for every private rule as `lower_bound`.

    Returns
    -------
    DataFrame
        `n_targets, run_length, delta, gap, mechanism, exact`.
    """
    # close enough for lines to look smooth; counters' values cost something, and far out all curves are flat
    fine = {*range(31), *range(30, 61, 2), *range(60, max(setting.gaps), 4), *setting.gaps}
    gaps = sorted(gap for gap in fine if gap <= max(setting.gaps))
    pieces = [gaps[i : i + _PIECE] for i in range(0, len(gaps), _PIECE)]
    tables = []
    for n_targets, run_length, delta in setting.cells():
        curves = {
            "lower_bound": error_floor(np.array(gaps, np.float64), np.array(delta), np.array(n_targets))
        }
        for name, counter in contenders:
            mechanism = build(name, delta, run_length, counter)
            curves[mechanism.label] = np.concatenate(
                [exact_misselection(mechanism, piece, run_length, n_targets) for piece in pieces]
            )
        for label, exact in curves.items():
            tables.append(_curve(n_targets, delta, run_length, gaps, label, exact))
    return pd.concat(tables, ignore_index=True)


def exact_crossing(
    n_targets: int, delta: float, gaps: Sequence[int], run_lengths: Sequence[int]
) -> pd.DataFrame:
    """Exact probabilities by run length, for `tca`, `exponential` and the `lower_bound`; columns as above."""
    tables = []
    floor = error_floor(np.array(gaps, np.float64), np.array(delta), np.array(n_targets))
    for run_length in run_lengths:
        tables.append(_curve(n_targets, delta, run_length, gaps, "lower_bound", floor))
        for name in ("tca", "exponential"):
            exact = exact_misselection(build(name, delta, run_length), gaps, run_length, n_targets)
            tables.append(_curve(n_targets, delta, run_length, gaps, name, exact))
    return pd.concat(tables, ignore_index=True)


def _curve(
    n_targets: int, delta: float, run_length: int, gaps: Sequence[int], label: str, exact: FloatArray
) -> pd.DataFrame:
    point = {"n_targets": n_targets, "run_length": run_length, "delta": delta}
    return pd.DataFrame({**point, "gap": list(gaps), "mechanism": label, "exact": exact})


def exact_misselection(
    mechanism: Mechanism, gaps: Sequence[int], run_length: int, n_targets: int
) -> FloatArray:
    """Probability that a decision at `run_length` misses a leader with so many reports, the others having none.

    Shape (gaps,). Undefined (NaN) for a mechanism whose law is not known.
    """
    if isinstance(mechanism, CounterMechanism):
        std = mechanism.sigma * mechanism.counter.noise_std(run_length, mechanism.horizon)
        return counter_misselection(np.array(gaps, np.float64), np.array(std), np.array(float(n_targets)))
    if isinstance(mechanism, MemorylessMechanism):
        counts = np.zeros((len(gaps), n_targets), dtype=np.int64)
        counts[:, 0] = gaps
        return -np.expm1(mechanism.log_probabilities(counts)[:, 0])
    return np.full(len(gaps), np.nan)


class _Cell:
    """The points of one number of targets, run length and delta: a gap each."""

    def __init__(
        self, n_targets: int, run_length: int, delta: float, setting: StaticSetting, draws: KeyedDraws
    ) -> None:
        self.shape = (setting.trials, n_targets)
        self.gaps = setting.gaps
        self.run_length = run_length
        self._keys = (n_targets, run_length, round(delta * 1e9))
        self._draws = draws
        self._challenges: list[FloatArray] = []

    def rows(self, mechanism: Mechanism) -> list[tuple[int | float | str, ...]]:
        """Trials and exact probabilities of one mechanism, a row per gap."""
        trials, n_targets = self.shape
        if isinstance(mechanism, CounterMechanism):
            missed = self._counter_misselections(mechanism)
        else:
            missed = self._misselections(mechanism)
        exact = exact_misselection(mechanism, self.gaps, self.run_length, n_targets).tolist()
        point = (n_targets, self.run_length, mechanism.delta)
        return [
            (*point, gap, mechanism.label, trials, count, count / trials, probability)
            for gap, count, probability in zip(self.gaps, missed, exact, strict=True)
        ]

    def _misselections(self, mechanism: Mechanism) -> list[int]:
        generator = self._generator(mechanism.label)
        counts: IntArray = np.zeros(self.shape, dtype=np.int64)
        missed = []
        for gap in self.gaps:
            counts[:, 0] = gap
            mechanism.reset(*self.shape, generator)
            missed.append(int(np.count_nonzero(mechanism.select(counts))))
        return missed

    def _counter_misselections(self, mechanism: CounterMechanism) -> list[int]:
        # without restarts the noise at this run length has a known normal law, independent over targets
        std = mechanism.sigma * mechanism.counter.noise_std(self.run_length, mechanism.horizon)
        if not self._challenges:
            generator = self._generator("counters")
            for _ in self.gaps:
                noise = generator.standard_normal(self.shape)
                self._challenges.append(noise[:, 1:].max(axis=1) - noise[:, 0])
        pairs = zip(self.gaps, self._challenges, strict=True)
        return [int(np.count_nonzero(std * challenge > gap)) for gap, challenge in pairs]

    def _generator(self, label: str) -> np.random.Generator:
        return bulk_generator(self._draws, f"paper.static.{label}", *self._keys)
