"""The readable account of one run on the terminal: what happened, in plain sentences, then the numbers."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..scenarios import ScenarioConfig
from .intervals import wilson
from .metrics import CHANNELS, METRICS
from .style import channel_label, mechanism_label

__all__ = ["account", "setting", "story"]

type Metrics = Mapping[str, float | int | None]

_RATE_NAMES = {
    "reporting_rate": "Noticed and reported",
    "silent_incident_rate": "Incidents nobody reported",
    "retaliation_rate": "Reporters retaliated against",
    **{f"retaliation_rate_{c}": f"  {channel_label(c)}" for c in CHANNELS},
    "false_retaliation_rate": "Others with access hit",
    "strong_identification_rate": "Reports identified, worst case",
    "strong_false_alarm_rate": "False alarms, worst case",
    "productive_audit_rate": "Audits that found something",
    "misselection_rate": "Audits that missed the leader",
}
_MEAN_NAMES = {
    "mean_deficit": "Reports behind the leader, per audit",
    "reports_resolved_per_audit": "Reports resolved, per audit",
    "restricted_weeks_to_audit": "Weeks from incident to audit, at most 26",
    "harm": "Harm (severity × weeks open)",
    "final_fear": "Fear at the end (probability)",
    "final_efficacy": "Efficacy at the end (probability)",
}
_THROUGH = {
    "transcript": "suspected from the audit transcript",
    "side_information": "given away by a leak",
    "self_disclosure": "known to have reported",
    "audit_scope": "given away by what an audit found",
}


def account(
    metrics: Metrics,
    config: ScenarioConfig,
    *,
    seed: int,
    directory: Path | None = None,
    files: Sequence[str] = (),
    guarantee: str = "",
) -> RenderableType:
    """Tell what happened in one run.

    Parameters
    ----------
    metrics
        Of the run (`run_metrics`). What is undefined is passed over.
    config
        The scenario that was run.
    seed
        Its root seed.
    directory
        Where results were written, if anywhere.
    files
        What to name in it; by default the figures and tables of a single run.
    guarantee
        What the scenario guarantees, in sentences.

    Returns
    -------
    rich renderable
        To be printed on a console of any width.
    """
    study = config.scenario
    parts: list[RenderableType] = [Text(study.title or study.name, style="bold")]
    if study.question:
        parts.append(Text(study.question, style="italic"))
    parts += [Text(" ".join(filter(None, (setting(config, seed), guarantee)))), Text("")]
    parts += [Padding(Text(sentence), (0, 0, 1, 0)) for sentence in story(metrics)]
    rates, means = _rates(metrics), _means(metrics)
    if rates.row_count:
        parts += [rates, Text("")]
    if means.row_count:
        parts += [means, Text("")]
    if rates.row_count:
        parts.append(
            Text(
                "Intervals are Wilson's and treat the people of this one run as independent; for more than this run "
                "use `deniability batch`. Rates of reporters and of others differ for many reasons; what reporting "
                "itself adds is estimated by `deniability twin`, and delta bounds that through the transcript only.",
                style="dim",
            )
        )
    if directory is not None:
        named = files or ("figures/timeline.pdf", "figures/retaliation_rates.pdf", "runs.parquet", "events/")
        parts += [Text(""), Text.assemble("Written to ", (str(directory), "bold"), ": ", ", ".join(named))]
    return Group(*parts)


def setting(config: ScenarioConfig, seed: int) -> str:
    """Say in one line what was run: mechanism, guarantee, length, size, seed.

    What it says of the guarantee of `greedy` and `uniform` does not depend on delta, which they ignore.
    """
    auditor, time = config.auditor, config.time
    variant = f"tca-{auditor.counter}" if auditor.mechanism == "tca" and auditor.counter != "toeplitz" else ""
    guarantee = {"greedy": "no guarantee", "uniform": "audits ignore reports"}.get(
        auditor.mechanism, f"delta = {auditor.delta:g} per report"
    )
    weeks = time.periods * time.period_weeks
    length = _count(time.periods, "period") + ("" if time.period_weeks == 1 else f" ({weeks:.0f} weeks)")
    name = mechanism_label(variant or auditor.mechanism).replace(" (no privacy)", "")
    return (
        f"{name}, {guarantee}; {length}, {_count(len(config.labs), 'lab')}, "
        f"{_count(config.n_targets, 'audit target')}; seed {seed}."
    )


def story(metrics: Metrics) -> list[str]:
    """Tell what happened in paragraphs of plain sentences; silent about whatever is undefined (0/0)."""
    paragraphs = (_incidents(metrics), _audits(metrics), _retaliation(metrics))
    return [" ".join(sentences) for sentences in paragraphs if sentences]


def _incidents(metrics: Metrics) -> list[str]:
    incidents, observers = _whole(metrics, "incidents"), _whole(metrics, "observers")
    told = [f"{_count(incidents, 'incident')} of misconduct happened.".capitalize()]
    if metrics["reporting_rate"] is not None:
        reported, noticed = _parts(metrics, "reporting_rate")
        told.append(
            f"{_count(observers, 'person', 'people')} noticed something, {_times(noticed)} in all, and decided "
            f"{_times(reported) if reported else 'never'} to report ({_percent(reported, noticed)})."
        )
    elif incidents:
        told.append("Nobody noticed.")
    if metrics["silent_incident_rate"] is not None:
        silent, _ = _parts(metrics, "silent_incident_rate")
        about = "incident" if silent == 1 else "incidents"
        told.append(
            f"Nothing was ever reported about {silent} {about}."
            if silent
            else "Every incident was reported by somebody."
        )
    return told


def _audits(metrics: Metrics) -> list[str]:
    told = []
    if metrics["productive_audit_rate"] is not None:
        found, audits = _parts(metrics, "productive_audit_rate")
        told.append(
            f"The auditor received {_count(_whole(metrics, 'reports'), 'report')} and made "
            f"{_count(audits, 'audit')}; {found or 'none'} of them brought an open incident to light."
        )
    if metrics["misselection_rate"] is not None:
        missed, audits = _parts(metrics, "misselection_rate")
        behind = metrics["mean_deficit"]
        told.append(
            f"{_count(missed, 'audit')} ({_percent(missed, audits)}) went to a target with fewer reports "
            f"than another had, and over all audits the gap was {behind:.1f} reports on average."
            if missed
            else "Every audit went to a target with most reports."
        )
    if metrics["restricted_weeks_to_audit"] is not None:
        weeks = metrics["restricted_weeks_to_audit"]
        told.append(
            f"From an incident to the next audit of its target it took {weeks:.1f} weeks on average, "
            "counting at most 26."
        )
    never = _whole(metrics, "incidents_never_audited")
    if never:
        told.append(f"{_count(never, 'incident').capitalize()} saw no audit of the target any more.")
    return told


def _retaliation(metrics: Metrics) -> list[str]:
    told = []
    if metrics["retaliation_rate"] is not None:
        hit, reporters = _parts(metrics, "retaliation_rate")
        told.append(
            f"Of {_count(reporters, 'person', 'people')} who reported, "
            + (f"{hit} ({_percent(hit, reporters)}) were" if hit != 1 else "1 was")
            + " retaliated against afterwards"
            + (f": {_channels(metrics)}." if hit else ".")
        )
    else:
        told.append("Nobody who works at a lab reported." if metrics["reports"] else "Nobody reported.")
    if metrics["false_retaliation_rate"] is not None:
        hit, others = _parts(metrics, "false_retaliation_rate")
        who = f"{_count(others, 'person', 'people')} with access to an incident who never reported"
        if hit:
            told.append(
                f"Of {who}, {hit} ({_percent(hit, others)}) {'was' if hit == 1 else 'were'} hit as well."
            )
        else:
            told.append(f"Of {who}, none was hit.")
    if metrics["strong_identification_rate"] is not None:
        caught, scored = _parts(metrics, "strong_identification_rate")
        told.append(
            f"An adversary who knows everything but whether the one report was filed would have identified "
            f"{caught or 'none'} of {_count(scored, 'report')} from the transcript."
        )
    return told


def _channels(metrics: Metrics) -> str:
    parts = []
    for channel in CHANNELS:
        hit, _ = _parts(metrics, f"retaliation_rate_{channel}")
        if hit:
            parts.append(f"{hit} {_THROUGH[channel]}")
    return ", ".join(parts)


def _rates(metrics: Metrics) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("Rate")
    for name in ("Of", "Share", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in METRICS:
        if one.kind != "rate" or metrics[one.key] is None:
            continue
        above, below = _parts(metrics, one.key)
        estimate = wilson(above, below)
        interval = f"{100 * (estimate.low or 0):.1f} – {100 * (estimate.high or 0):.1f} %"
        table.add_row(Text(_RATE_NAMES[one.key]), f"{above} / {below}", _percent(above, below), interval)
    return table


def _means(metrics: Metrics) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    for key, name in _MEAN_NAMES.items():
        value = metrics[key]
        # a run without incidents did no harm that is worth a line
        if value is not None and not (key == "harm" and not metrics["incidents"]):
            table.add_row(name, f"{value:,.2f}")
    return table


def _whole(metrics: Metrics, key: str) -> int:
    return round(metrics[key] or 0)


def _parts(metrics: Metrics, key: str) -> tuple[int, int]:
    return _whole(metrics, f"{key}_numerator"), _whole(metrics, f"{key}_denominator")


def _percent(above: float, below: float) -> str:
    return f"{100 * above / below:.1f} %"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}" if number else f"no {one}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
