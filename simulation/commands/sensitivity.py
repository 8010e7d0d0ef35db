"""The verb `sensitivity`: which parameters move a result, by Morris screening or Sobol indices."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Plugins, Seed, Settings, folder, load_plugins

if TYPE_CHECKING:
    from ..sensitivity import SensitivityResult

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("sensitivity")(sensitivity)


def sensitivity(
    scenario: Annotated[
        str, typer.Argument(help="A shipped scenario's name or a TOML file.", metavar="SCENARIO")
    ],
    out: Annotated[Path, folder("--out", "Where results go; the same command again goes on there.")],
    method: Annotated[
        str, typer.Option(metavar="morris|sobol", help="Screening, or shares of the variance.")
    ] = "morris",
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric to explain [retaliation_rate]. May be repeated.")
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(min=2, help="Trajectories for morris [10], rows of the base sample for sobol [64]."),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(min=1, help="Runs at each point [the scenario's].")
    ] = None,
    settings: Settings = None,
    plugins: Plugins = None,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes [all cores].")] = None,
    force: Annotated[bool, typer.Option("--force", help="Go on in a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Vary the parameters that [sweep.sample] gives ranges for, and say how much each moves a metric."""
    from ..batch_errors import BatchError
    from ..progress import progress
    from ..runs import load_scenario
    from ..sensitivity import design_of
    from ..sensitivity import sensitivity as run_sensitivity
    from ..sensitivity_files import check_study, write_sensitivity

    started = datetime.now(UTC)
    load_plugins(plugins)
    resolved = load_scenario(scenario, overrides=settings or ())
    design = design_of(resolved, method, samples)
    check_study(out, force=force)
    total = len(design.cells) * (replicates or resolved.config.sweep.replicates)
    name = resolved.config.scenario.name
    try:
        with progress(f"{name}: {method}", total, quiet=quiet, resumes=True) as advance:
            result = run_sensitivity(
                resolved,
                out,
                metric or ["retaliation_rate"],
                method=method,
                samples=samples,
                replicates=replicates,
                seed=seed,
                jobs=jobs,
                force=force,
                command=sys.argv,
                progress=advance,
                tell=lambda sentence: typer.echo(sentence, err=True),
            )
    except BatchError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    write_sensitivity(result, out, resolved, seed=seed, command=sys.argv, started=started)
    if as_json:
        typer.echo(json.dumps(_summary(name, result, seed), allow_nan=False))
    elif not quiet:
        _tell(result, out)


def _summary(name: str, result: "SensitivityResult", seed: int) -> dict[str, Any]:
    rows = [
        {key: None if isinstance(value, float) and value != value else value for key, value in row.items()}
        for row in result.indices.to_dict("records")
    ]
    return {
        "scenario": name,
        "method": result.design.method,
        "seed": seed,
        "points": len(result.design.values),
        "runs": result.batch.n_runs,
        "indices": rows,
    }


def _tell(result: "SensitivityResult", out: Path) -> None:
    from ...scenarios.wording import shell_word

    typer.echo(
        f"{len(result.design.values)} points over {len(result.design.parameters)} parameters, "
        f"{result.batch.n_runs} runs."
    )
    leading = "ST" if result.design.method == "sobol" else "mu_star"
    for metric, rows in result.indices[result.indices["index"] == leading].groupby("metric", sort=False):
        typer.echo(f"{metric} ({'total-order index' if leading == 'ST' else 'mean absolute effect, mu*'}):")
        for row in rows.sort_values("value", ascending=False, kind="stable").to_dict("records"):
            typer.echo(f"  {row['parameter']}: {row['value']:.3g} ({row['low']:.3g} to {row['high']:.3g})")
    typer.echo(f"Written to {out}; `deniability report {shell_word(str(out))}` makes the page.")
