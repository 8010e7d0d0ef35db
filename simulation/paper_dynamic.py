"""The paper's Experiment 2: every mechanism on the same Poisson reports, decision after decision."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ..agents.auditor.mechanisms import Mechanism
from ..agents.ports import FloatArray, IntArray
from .draws import KeyedDraws
from .paper_draws import bulk_generator
from .paper_setting import DynamicSetting

__all__ = ["METRICS", "report_blocks", "run_dynamic"]

METRICS = ("deficit", "normalized_deficit", "resolved")
"""Columns of the result: running means of what a decision left unaudited, and of what it took up."""

_BLOCK_ELEMENTS = 1_000_000  # of reports drawn ahead; no result depends on it
_RARE = 0.5  # reports per target and period


def run_dynamic(
    setting: DynamicSetting,
    mechanisms: Sequence[Mechanism],
    draws: KeyedDraws,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Run Experiment 2.

    Every mechanism sees the same stream and keeps its own active counts. Metrics are taken before the
    reset: with counts n and audited target a, the deficit is `max n - n_a`, the normalised deficit that
    over `max n + 1`, and the reports resolved `n_a`.

    Parameters
    ----------
    setting
        Sizes and rates.
    mechanisms
        Reset here.
    draws
        Streams `paper.reports.lead`, `paper.reports.other` and `paper.mechanism.<label>`.
    progress
        Called with the number of decisions done.

    Returns
    -------
    DataFrame
        Per mechanism and step (from 1): for each metric the mean over seeds of the running mean up to
        this step, with the bounds of its 95 % interval (Student's t over seeds; undefined for a single seed).
    """
    runs = [_Run(m, setting, bulk_generator(draws, f"paper.mechanism.{m.label}")) for m in mechanisms]
    done = 0
    for block in report_blocks(setting, draws):
        for run in runs:
            run.advance(block)
        done += len(block)
        if progress is not None:
            progress(done)
    return pd.concat([run.table() for run in runs], ignore_index=True)


def report_blocks(setting: DynamicSetting, draws: KeyedDraws) -> Iterator[IntArray]:
    """New reports of consecutive periods, in blocks of shape (periods, seeds, targets).

    The numbers do not depend on how many periods a block holds.
    """
    s = setting
    lead, total, which = (
        bulk_generator(draws, f"paper.reports.{part}") for part in ("lead", "total", "which")
    )
    size = max(1, _BLOCK_ELEMENTS // (s.seeds * s.n_targets))
    for start in range(0, s.horizon, size):
        shape = (min(size, s.horizon - start), s.seeds, s.n_targets)
        if s.rate_other > _RARE:
            block = total.poisson(s.rate_other, shape)
        else:
            # the same law, quicker where reports are few: draw how many there are in all, then whose each is
            n_other = total.poisson(s.rate_other * (s.n_targets - 1), shape[:2]).ravel()
            where = np.repeat(np.arange(1, n_other.size * s.n_targets, s.n_targets), n_other)
            where += (which.random(where.size) * (s.n_targets - 1)).astype(np.int64)
            block = np.bincount(where, minlength=n_other.size * s.n_targets).reshape(shape)
        block[:, :, 0] = lead.poisson(s.rate_lead, shape[:2])
        yield block


class _Run:
    """One mechanism's counts and what has been summed up so far."""

    def __init__(self, mechanism: Mechanism, setting: DynamicSetting, generator: np.random.Generator) -> None:
        self.mechanism = mechanism
        mechanism.reset(setting.seeds, setting.n_targets, generator)
        self.counts: IntArray = np.zeros((setting.seeds, setting.n_targets), dtype=np.int64)
        self.sums: FloatArray = np.zeros((len(METRICS), setting.seeds))
        self.steps = 0
        self.columns: list[FloatArray] = []

    def advance(self, block: IntArray) -> None:
        """Make a block's decisions."""
        most = np.empty(block.shape[:2], dtype=np.int64)
        resolved = np.empty_like(most)
        seeds = np.arange(block.shape[1])
        for t, reports in enumerate(block):
            self.counts += reports
            audited = self.mechanism.select(self.counts)
            self.counts.max(axis=1, out=most[t])
            resolved[t] = self.counts[seeds, audited]
            self.counts[seeds, audited] = 0
        self._summarise(most, resolved)

    def _summarise(self, most: IntArray, resolved: IntArray) -> None:
        deficit = most - resolved
        values = np.stack([deficit, deficit / (most + 1), resolved])  # (metrics, periods, seeds)
        values = np.cumsum(values, axis=1, out=values) + self.sums[:, None]
        self.sums = values[:, -1].copy()
        values /= np.arange(self.steps + 1, self.steps + len(most) + 1)[:, None]
        self.steps += len(most)
        n = values.shape[2]
        means = values.mean(axis=2)
        half = np.full_like(means, np.nan)
        if n > 1:
            half = stdtrit(n - 1, 0.975) * values.std(axis=2, ddof=1) / np.sqrt(n)
        self.columns.append(np.stack([means, means - half, means + half], axis=1))

    def table(self) -> pd.DataFrame:
        """Everything up to now, a row per step."""
        values = np.concatenate(self.columns, axis=2)
        table: dict[str, object] = {"mechanism": self.mechanism.label, "step": np.arange(1, self.steps + 1)}
        for metric, (mean, low, high) in zip(METRICS, values, strict=True):
            table |= {metric: mean, f"{metric}_low": low, f"{metric}_high": high}
        return pd.DataFrame(table)
