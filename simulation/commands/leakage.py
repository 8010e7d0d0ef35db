"""The verb `leakage`: what a transcript betrays about one report."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from .options import Plugins, Seed, folder, load_plugins

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb to the application."""
    app.command("leakage")(leakage)


def leakage(
    mechanism: Annotated[str, typer.Option(metavar="M", help="Mechanism that the auditor uses.")],
    targets: Annotated[int, typer.Option(metavar="C", min=2, max=10_000, help="Audit targets.")],
    horizon: Annotated[int, typer.Option(metavar="T", min=1, max=5_000, help="Periods, one audit in each.")],
    delta: Annotated[float, typer.Option(metavar="D", help="Per-report deniability level, 0 < D < 1.")],
    transcripts: Annotated[
        int, typer.Option(metavar="N", min=1, help="Transcripts in each of the two worlds.")
    ],
    counter: Annotated[
        str | None, typer.Option(metavar="K", help="Continual counter of a counter mechanism [toeplitz].")
    ] = None,
    stream: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="New reports: a row per period, a column per target, commas, no header [Poisson].",
        ),
    ] = None,
    report_at: Annotated[
        str | None,
        typer.Option(
            metavar="t,c", help="The report's period (from 1) and target (from 0) [middle, target 0]."
        ),
    ] = None,
    rate_lead: Annotated[
        float | None, typer.Option(help="Poisson reports per period about target 0 [1.0].")
    ] = None,
    rate_other: Annotated[
        float | None, typer.Option(help="Poisson reports per period about each other [0.2].")
    ] = None,
    particles: Annotated[
        int, typer.Option(min=1, help="Particles, where the likelihood is not exact.")
    ] = 200,
    plugins: Plugins = None,
    seed: Seed = 1,
    out: Annotated[Path | None, folder("--out", "Write scores, figure and tables here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a directory of other content.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no account.")] = False,
) -> None:
    """Play the distinguishing game: tell transcripts with one report from those without.

    The adversary knows the mechanism and every other report, and says "filed" where the likelihood ratio exceeds 1.
    """
    from ...agents.auditor.counters import counter as counter_class
    from ...agents.auditor.mechanisms import CounterMechanism, build
    from ...agents.auditor.mechanisms import mechanism as mechanism_class
    from ...scenarios.errors import InputError
    from ..draws import KeyedDraws
    from ..leakage import measure_leakage
    from ..leakage_streams import parse_report_at, poisson_stream, read_stream
    from ..progress import progress
    from ..store import check_directory

    started = datetime.now(UTC)
    load_plugins(plugins)
    problems: list[str] = []
    if not 0.0 < delta < 1.0:
        problems.append(f"--delta {delta:g}: must lie strictly between 0 and 1")
    counts = True
    try:
        counts = issubclass(mechanism_class(mechanism), CounterMechanism)
    except InputError as error:
        problems += [f"--mechanism {mechanism}: {message}" for message in error.messages]
    try:
        if counter is not None and not counts:
            problems.append(f'--counter {counter}: mechanism "{mechanism}" has no counter')
        elif counter is not None:
            counter_class(counter)
    except InputError as error:
        problems += [f"--counter {counter}: {message}" for message in error.messages]
    if stream is not None:
        rates = {"--rate-lead": rate_lead, "--rate-other": rate_other}
        problems += [
            f"{option} {rate:g}: is about drawn reports, and --stream gives them"
            for option, rate in rates.items()
            if rate is not None
        ]
    if problems:
        raise InputError(problems)
    rate_lead = 1.0 if rate_lead is None else rate_lead
    rate_other = 0.2 if rate_other is None else rate_other
    made = build(mechanism, delta, horizon, counter or "toeplitz")
    period, target = parse_report_at(report_at, horizon, targets)
    draws = KeyedDraws(seed)
    if stream is None:
        reports = poisson_stream(draws, horizon, targets, rate_lead, rate_other)
    else:
        reports = read_stream(stream, horizon, targets)
    choice = {
        "mechanism": mechanism,
        "counter": made.counter.id if isinstance(made, CounterMechanism) else None,
        "targets": targets,
        "horizon": horizon,
        "delta": delta,
        "stream": f"poisson {rate_lead:g} {rate_other:g}" if stream is None else stream.name,
        "report_at": [period + 1, target],
        "transcripts": transcripts,
        "particles": particles,
        "seed": seed,
    }
    identity = json.dumps(choice | {"reports": int(reports.sum())}, sort_keys=True)
    if out is not None:
        check_directory(out, kind="leakage", identity=identity, force=force)
    with progress(f"leakage, {made.label}: transcripts scored", 2 * transcripts, quiet=quiet) as advance:
        result = measure_leakage(
            made,
            reports,
            period=period,
            target=target,
            n_transcripts=transcripts,
            draws=draws,
            n_particles=particles,
            progress=advance,
        )
    if out is not None:
        from ..leakage_files import write_leakage

        write_leakage(
            result, reports, out, choice=choice, identity=identity, command=sys.argv, started=started
        )
    if as_json:
        typer.echo(json.dumps(result.summary(), allow_nan=False))
    elif not quiet:
        from ..leakage_files import leakage_account

        typer.echo(leakage_account(result, targets, horizon, out))
