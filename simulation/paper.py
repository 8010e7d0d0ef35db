"""The paper's experiments with their figures, from settings to files."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from ..agents.auditor.counters import COUNTERS
from ..agents.auditor.mechanisms import MECHANISMS, CounterMechanism, build
from ..analysis.paper_figures import crossing_figure, dynamic_figure, save_static_figure
from ..scenarios.errors import InputError
from .draws import KeyedDraws
from .paper_dynamic import DynamicSetting, run_dynamic
from .paper_static import StaticSetting, exact_crossing, exact_curves, exact_misselection, run_static
from .progress import progress
from .provenance import code_hash, versions
from .store import MANIFEST, staged, write_json

__all__ = ["PaperResult", "PaperSetting", "contenders", "run_paper", "write_paper"]

_CROSSING_GAPS = (10, 15, 20, 30)
_CROSSING_RUN_LENGTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)
_HIGHEST_RATE = 1e6
_APPENDIX_DELTA = 0.1
_FEWEST_EXPECTED = 5.0  # of hits and of misses, for a point to enter the chi-square


@dataclass(frozen=True)
class PaperSetting:
    """What to run. Experiment 1 has its own grid; `delta` and `dynamic` are Experiment 2's."""

    seed: int = 1
    delta: float = 0.1
    dynamic: DynamicSetting = field(default_factory=DynamicSetting)
    static: StaticSetting = field(default_factory=StaticSetting)
    appendix: bool = True
    """Draw Experiment 1 also for more than the first number of targets."""

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises
        ------
        InputError
            With a message for each option that is out of range.
        """
        d = self.dynamic
        at_least = {
            "--seeds": (d.seeds, 1),
            "--trials": (self.static.trials, 1),
            "--targets": (d.n_targets, 2),
            "--horizon": (d.horizon, 1),
            "--seed": (self.seed, 0),
        }
        messages = [f"{k}: must be at least {low}, got {v}" for k, (v, low) in at_least.items() if v < low]
        if not 0.0 < self.delta < 1.0:
            messages.append(f"--delta: must lie strictly between 0 and 1, got {self.delta}")
        for option, rate in (("--rate-lead", d.rate_lead), ("--rate-other", d.rate_other)):
            if not 0.0 <= rate <= _HIGHEST_RATE:
                messages.append(f"{option}: must be from 0 to {_HIGHEST_RATE:g} reports, got {rate}")
        if messages:
            raise InputError(messages)


@dataclass(frozen=True)
class PaperResult:
    """Tables of both experiments; columns as in DESIGN section 4."""

    setting: PaperSetting
    exp1: pd.DataFrame
    exp2: pd.DataFrame

    def final(self) -> dict[str, dict[str, float | None]]:
        """Experiment 2 at its end: mechanism to metric (and bound of its interval) to value; None if undefined."""
        last = self.exp2[self.exp2["step"] == self.setting.dynamic.horizon].set_index("mechanism")
        return {
            str(name): {str(k): None if np.isnan(v) else float(v) for k, v in row.drop("step").items()}
            for name, row in last.iterrows()
        }

    def agreement(self) -> dict[str, dict[str, float | int]]:
        """Chi-square of trials against exact probabilities: mechanism to `points, chi_square, p_value`.

        Over the points where at least 5 hits and 5 misses are expected; the trials of different points are
        independent.
        """
        table = self.exp1
        spread = table["trials"] * table["exact"] * (1.0 - table["exact"])
        used = np.minimum(table["exact"], 1.0 - table["exact"]) * table["trials"] >= _FEWEST_EXPECTED
        square = (table["misselections"] - table["trials"] * table["exact"]) ** 2 / spread.where(used)
        sums = square[used].groupby(table["mechanism"]).agg(["size", "sum"])
        return {
            str(name): {"points": int(n), "chi_square": float(x), "p_value": float(chdtrc(n, x))}
            for name, n, x in sums.itertuples()
        }


def contenders() -> list[tuple[str, str]]:
    """Every mechanism, and those based on counters with every counter: pairs (mechanism, counter).

    Ordered by their exact error in one static decision, best first; those whose law is not known come last.
    """
    pairs = [
        (name, counter)
        for name in MECHANISMS
        for counter in (COUNTERS if issubclass(MECHANISMS[name], CounterMechanism) else ("toeplitz",))
    ]

    def error(pair: tuple[str, str]) -> tuple[float, tuple[str, str]]:
        (value,) = exact_misselection(build(pair[0], 0.1, 100, pair[1]), [20], 100, 10)
        return (np.inf if np.isnan(value) else round(float(value), 6), pair)

    return sorted(pairs, key=error)


def run_paper(setting: PaperSetting, *, quiet: bool = False) -> PaperResult:
    """Run both experiments and write nothing."""
    setting.check()
    exp1 = _experiment_1(setting, quiet=quiet)
    return PaperResult(setting, exp1, _experiment_2(setting, quiet=quiet))


def write_paper(
    setting: PaperSetting, directory: Path, *, command: Sequence[str] = (), quiet: bool = False
) -> PaperResult:
    """Run both experiments and write tables, figures and manifest into `directory`.

    The figures of Experiment 1 are drawn in a process of their own while Experiment 2 runs.

    Raises
    ------
    InputError
        If a setting is out of range, or the directory cannot be written.
    """
    setting.check()
    started = datetime.now(UTC)
    provenance = {"study": "paper", "setting": asdict(setting), "code_hash": code_hash()}
    with staged(directory) as aside, _drawer() as drawer:
        figures = aside / "figures"
        exp1 = _experiment_1(setting, quiet=quiet)
        exp1.to_csv(aside / "exp1.csv", index=False)
        waiting = [
            drawer.submit(save_static_figure, *drawn, figures, provenance)
            for drawn in _static_figures(setting, exp1)
        ]
        exp2 = _experiment_2(setting, quiet=quiet)
        exp2.to_csv(aside / "exp2.csv", index=False)
        with progress("Figures", 2 + len(waiting), quiet=quiet) as advance:
            dynamic_figure(exp2, seeds=setting.dynamic.seeds, setting=_in_words(setting)).save(
                figures, provenance
            )
            advance(1)
            crossing = exact_crossing(
                setting.dynamic.n_targets, setting.delta, _CROSSING_GAPS, _CROSSING_RUN_LENGTHS
            )
            crossing_figure(crossing).save(figures, provenance)
            for done, drawing in enumerate(waiting, start=2):
                advance(done)
                drawing.result()
        manifest = provenance | {
            "kind": "paper",
            "identity": "paper",
            "files": sorted(f.relative_to(aside).as_posix() for f in aside.rglob("*") if f.is_file()),
            "versions": versions(),
            "command": list(command),
            "started": started.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        write_json(manifest, aside / MANIFEST)
    return PaperResult(setting, exp1, exp2)


def _experiment_1(setting: PaperSetting, *, quiet: bool) -> pd.DataFrame:
    n_cells = len(list(setting.static.cells()))
    with progress("Experiment 1", n_cells, quiet=quiet) as advance:
        return run_static(setting.static, contenders(), KeyedDraws(setting.seed), advance)


def _experiment_2(setting: PaperSetting, *, quiet: bool) -> pd.DataFrame:
    horizon = setting.dynamic.horizon
    mechanisms = [build(name, setting.delta, horizon, counter) for name, counter in contenders()]
    with progress("Experiment 2", horizon, quiet=quiet) as advance:
        return run_dynamic(setting.dynamic, mechanisms, KeyedDraws(setting.seed), advance)


def _static_figures(
    setting: PaperSetting, exp1: pd.DataFrame
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame, str, str]]:
    """What to draw of Experiment 1: trials, exact curves, what differs between rows of panels, file name."""
    s = setting.static
    yield _static_figure(replace(s, n_targets=s.n_targets[:1]), exp1, "delta", "exp1")
    if setting.appendix:
        grid = replace(s, n_targets=s.n_targets[1:], deltas=(_APPENDIX_DELTA,))
        yield _static_figure(grid, exp1, "n_targets", "exp1-appendix")


def _static_figure(
    grid: StaticSetting, exp1: pd.DataFrame, rows: str, stem: str
) -> tuple[pd.DataFrame, pd.DataFrame, str, str]:
    points = exp1[exp1["n_targets"].isin(grid.n_targets) & exp1["delta"].isin(grid.deltas)]
    return points, exact_curves(grid, contenders()), rows, stem


def _in_words(setting: PaperSetting) -> str:
    d = setting.dynamic
    return (
        f"{d.n_targets} targets, {d.horizon} decisions, δ = {setting.delta:g}, Poisson reports with rate "
        f"{d.rate_lead:g} per period on the leader and {d.rate_other:g} on every other target"
    )


@contextmanager
def _drawer() -> Iterator[Executor]:
    """A process that has loaded what figures need by the time there is something to draw."""
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    try:
        pool.submit(import_module, save_static_figure.__module__)
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
