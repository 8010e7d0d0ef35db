"""The verb `paper`: the paper's experiments, tables and figures."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Plugins, Seed, folder, load_plugins

if TYPE_CHECKING:
    from ..paper import PaperResult

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("paper")(paper)


def paper(
    seeds: Annotated[int | None, typer.Option(help="Seeds of Experiment 2 [100; 20 with --quick].")] = None,
    trials: Annotated[
        int | None, typer.Option(help="Trials per point of Experiment 1 [1000; 200 with --quick].")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds and trials, and no figure for the appendix.")
    ] = False,
    targets: Annotated[int, typer.Option(help="Number of targets in Experiment 2.")] = 50,
    horizon: Annotated[int, typer.Option(help="Number of decisions in Experiment 2.")] = 1000,
    delta: Annotated[float, typer.Option(help="Per-report deniability level in Experiment 2.")] = 0.1,
    rate_lead: Annotated[float, typer.Option(help="Reports per period about the leader.")] = 1.0,
    rate_other: Annotated[float, typer.Option(help="Reports per period about each other target.")] = 0.2,
    plugins: Plugins = None,
    seed: Seed = 1,
    out: Annotated[Path | None, folder("--out", "Where results go [results/paper].")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; without --out write nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Reproduce the paper's experiments: exp1.csv, exp2.csv and figures.

    Experiment 1 asks how often one decision misses the target with most reports; it keeps its grid, of which
    only the number of trials can be changed. Experiment 2 follows all mechanisms through a stream of reports.
    """
    import time

    from ..paper_helper import helper
    from ..paper_setting import DynamicSetting, PaperSetting, StaticSetting

    started = time.perf_counter()
    default_seeds, default_trials = (20, 200) if quick else (100, 1000)
    setting = PaperSetting(
        seed=seed,
        delta=delta,
        dynamic=DynamicSetting(
            targets, horizon, rate_lead, rate_other, default_seeds if seeds is None else seeds
        ),
        static=StaticSetting(trials=default_trials if trials is None else trials),
        appendix=not quick,
    )
    setting.check()
    load_plugins(plugins)
    directory = Path("results") / "paper" if out is None and not as_json else out
    if directory is None:
        from ..paper import run_paper

        result = run_paper(setting, quiet=quiet)
    else:
        with helper() as executor:  # first, for it says how the two processes load what they need
            from ..paper import write_paper
            from ..store import check_directory

            check_directory(directory, kind="paper", identity="paper", force=force)
            result = write_paper(setting, directory, executor, command=sys.argv, quiet=quiet)
    if as_json:
        summary = {
            "delta": delta,
            "seed": seed,
            "seeds": setting.dynamic.seeds,
            "trials": setting.static.trials,
            "targets": targets,
            "horizon": horizon,
            "rate_lead": rate_lead,
            "rate_other": rate_other,
            "exp1": result.agreement(),
            "exp2": result.final(),
            "out": None if directory is None else str(directory),
            "seconds": round(time.perf_counter() - started, 3),
        }
        typer.echo(json.dumps(summary, allow_nan=False))
    elif not quiet:
        _tell(result, directory, time.perf_counter() - started)


def _tell(result: "PaperResult", directory: Path | None, seconds: float) -> None:
    from rich.console import Console
    from rich.table import Table

    from ...analysis.style import mechanism_label
    from ..paper import WRITTEN

    setting, agreement = result.setting, result.agreement()
    table = Table(
        box=None,
        padding=(0, 2, 0, 0),
        title=f"Experiment 2 after {setting.dynamic.horizon} decisions, mean over {setting.dynamic.seeds} seeds "
        "± half the 95 % interval",
        caption="Exp. 1: chi-square test of the trials against the exact probabilities, p-value. "
        f"All took {seconds:.1f} s.",
    )
    table.add_column("Mechanism", no_wrap=True)
    for heading in ("Deficit", "Normalised", "Resolved", "Exp. 1"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, row in result.final().items():
        cells = []
        for metric, digits in (("deficit", 2), ("normalized_deficit", 3), ("resolved", 2)):
            mean, low, high = (row[f"{metric}{end}"] for end in ("", "_low", "_high"))
            half = "" if low is None or high is None else f" ± {(high - low) / 2.0:.{digits}f}"
            cells.append(f"{mean:.{digits}f}{half}")
        checked = agreement.get(name)
        table.add_row(mechanism_label(name), *cells, "" if checked is None else f"{checked['p_value']:.2f}")
    Console().print(table)
    if directory is not None:
        typer.echo(f"Written to {directory}: {', '.join(WRITTEN)}")
