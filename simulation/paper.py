"""The paper's experiments with their figures, from settings to files."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from ..agents.auditor.counters import COUNTERS
from ..agents.auditor.mechanisms import MECHANISMS, CounterMechanism, build
from ..agents.registry import load_plugin, loaded_plugins
from ..analysis.paper_figures import dynamic_figure, static_figure
from .draws import KeyedDraws
from .paper_dynamic import run_dynamic
from .paper_setting import PaperSetting
from .paper_static import exact_crossing, exact_curves, exact_misselection, run_static
from .progress import progress
from .provenance import code_hash, versions
from .store import MANIFEST, staged, write_json

__all__ = ["WRITTEN", "PaperResult", "contenders", "run_paper", "write_paper"]

WRITTEN = ("manifest.json", "exp1.csv", "exp2.csv", "figures/")
"""What `write_paper` leaves in its directory."""

_CROSSING_TARGETS = 50
_CROSSING_GAPS = (10, 15, 20)
_CROSSING_RUN_LENGTHS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000)
_FEWEST_EXPECTED = 5.0  # of hits and of misses, for a point to enter the chi-square


@dataclass(frozen=True)
class PaperResult:
    """Tables of both experiments; a row per point, and a row per mechanism and step."""

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
    with progress("Experiment 1", len(list(setting.static.cells())), quiet=quiet) as advance:
        exp1 = run_static(setting.static, contenders(), KeyedDraws(setting.seed), advance)
    return PaperResult(setting, exp1, _experiment_2(setting, quiet=quiet))


def write_paper(
    setting: PaperSetting,
    directory: Path,
    executor: Executor,
    *,
    command: Sequence[str] = (),
    quiet: bool = False,
) -> PaperResult:
    """Run both experiments and write tables, figures and manifest into `directory`.

    Parameters
    ----------
    setting
        What to run.
    directory
        Where to; files of the same names are replaced.
    executor
        Does about half of the work while this process does the other (see `paper_helper`). Results do not
        depend on it.
    command
        The command line, for the manifest.
    quiet
        No progress.

    Raises
    ------
    InputError
        If a setting is out of range, or the directory cannot be written.
    """
    setting.check()
    started = datetime.now(UTC)
    provenance = {"study": "paper", "setting": asdict(setting), "code_hash": code_hash()}
    with staged(directory) as aside:
        figures = aside / "figures"
        plugins = loaded_plugins()
        experiment = executor.submit(_experiment_1, setting, aside / "exp1.csv", plugins)
        if setting.appendix:  # the helper goes on to this at once
            appendix = executor.submit(
                _draw_appendix, setting, aside / "exp1.csv", figures, provenance, plugins
            )
        exp2 = _experiment_2(setting, quiet=quiet)
        exp2.to_csv(aside / "exp2.csv", index=False)
        with progress("Figures", 3 if setting.appendix else 2, quiet=quiet) as advance:
            _draw_dynamic(setting, exp2, figures, provenance)
            advance(1)
            exp1 = experiment.result()
            _draw_main(setting, exp1, figures, provenance)
            advance(2)
            if setting.appendix:
                appendix.result()
                advance(3)
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


def _experiment_1(setting: PaperSetting, path: Path, plugins: Sequence[Path]) -> pd.DataFrame:
    """In the helper: run the experiment and write its table."""
    for plugin in plugins:
        load_plugin(plugin)
    table = run_static(setting.static, contenders(), KeyedDraws(setting.seed))
    table.to_csv(path, index=False)
    return table


def _experiment_2(setting: PaperSetting, *, quiet: bool) -> pd.DataFrame:
    horizon = setting.dynamic.horizon
    mechanisms = [build(name, setting.delta, horizon, counter) for name, counter in contenders()]
    with progress("Experiment 2", horizon, quiet=quiet) as advance:
        return run_dynamic(setting.dynamic, mechanisms, KeyedDraws(setting.seed), advance)


def _draw_main(setting: PaperSetting, exp1: pd.DataFrame, figures: Path, provenance: dict[str, Any]) -> None:
    grid = replace(setting.static, n_targets=setting.static.n_targets[:1])
    points = exp1[exp1["n_targets"].isin(grid.n_targets)]
    static_figure(points, exact_curves(grid, contenders()), rows="delta", stem="exp1").save(
        figures, provenance
    )


def _draw_appendix(
    setting: PaperSetting,
    path: Path,
    figures: Path,
    provenance: dict[str, Any],
    plugins: Sequence[Path],
) -> None:
    """In the helper: draw from the table that `_experiment_1` has written."""
    for plugin in plugins:
        load_plugin(plugin)
    exp1 = pd.read_csv(path)
    s = setting.static
    delta = s.deltas[len(s.deltas) // 2]
    grid = replace(s, n_targets=s.n_targets[1:], deltas=(delta,))
    points = exp1[exp1["n_targets"].isin(grid.n_targets) & (exp1["delta"] == delta)]
    gaps = _CROSSING_GAPS[: len(s.run_lengths)]
    crossing = exact_crossing(_CROSSING_TARGETS, delta, gaps, _CROSSING_RUN_LENGTHS)
    static_figure(
        points,
        exact_curves(grid, contenders()),
        rows="n_targets",
        stem="exp1-appendix",
        crossing=crossing,
    ).save(figures, provenance)


def _draw_dynamic(
    setting: PaperSetting, exp2: pd.DataFrame, figures: Path, provenance: dict[str, Any]
) -> None:
    d = setting.dynamic
    text = (
        f"{d.n_targets} targets, {d.horizon} decisions, δ = {setting.delta:g}, Poisson reports with rate "
        f"{d.rate_lead:g} per period on the leader and {d.rate_other:g} on every other target"
    )
    dynamic_figure(exp2, seeds=d.seeds, setting=text).save(figures, provenance)
