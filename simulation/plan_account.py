"""A plan in plain words, for someone who has to choose granularity, horizon and delta."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..agents.auditor import privacy
from ..scenarios.errors import InputError
from .plan_crossings import Crossing, crossings, longest_run_for_the_counter
from .plans import COUNTER_KEYS, GAPS, MECHANISM_KEYS, Plan, make_plan

__all__ = ["plan_account"]

_SHOWN_GAPS = (5, 10, 20, 50)
_SHOWN_GROUPS = (1, 2, 3, 5, 10)
_PRIOR, _THRESHOLD = 0.3, 0.5
_APART = (
    "Periods apart: at least so many between any two of the reports, all about one target. Dash: so many do not "
    "fit into the horizon."
)


def plan_account(plan: Plan) -> RenderableType:
    """Lay out what the guarantee means, what it costs, where the rules cross, and what other choices cost."""
    return Group(
        Text(
            f"A guarantee for {plan.n_targets:,} audit target{_s(plan.n_targets)}, {plan.horizon:,} "
            f"decision{_s(plan.horizon)}, delta = {plan.delta:g}",
            style="bold",
        ),
        _paragraph(_meaning(plan)),
        _costs(plan),
        _paragraph(
            "Lead: active reports of the leading target, the others having none. Dash: no lead is enough. Noise: "
            f"standard deviation of a count, in reports, at run length {plan.run_length:,} (periods since the "
            "restart, that one included). "
            "binary_tree, blt and independent are tca with other counters. The floor holds for rules that treat "
            "targets alike."
        ),
        _crossing_table(plan),
        _paragraph(_crossing_words(plan)),
        _group_table(plan),
        *([_paragraph(_APART)] if plan.separated else []),
        _paragraph(_evidence(plan)),
        _alternatives(plan),
        _paragraph(
            "All of this covers what the published audit decisions reveal, with ideal random numbers and a trusted "
            "auditor. It does not cover access logs, findings, channels that are not anonymous, or a scope so "
            "narrow that only one person can have known."
        ),
    )


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _periods(count: int) -> str:
    return f"{count:,} period{_s(count)}"


def _paragraph(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 1, 0))


def _percent(value: float) -> str:
    if 0.0 < value < 0.0005:
        return "<0.1 %"
    return f"{100.0 * value:.1f} %"


def _lead(gap: int | None) -> str:
    return "-" if gap is None else f"{gap:,}"


def _meaning(plan: Plan) -> str:
    points = f"{100.0 * plan.delta:.3g}"
    return (
        f"Whoever watches all decisions, and tests whether one given report was filed, is at most {points} "
        "percentage points more likely to accuse if it was than if it was not. At even odds a guess is right "
        f"{_percent(0.5 + plan.delta / 2.0)} of the time at most, instead of 50 %."
    )


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _costs(plan: Plan) -> Table:
    table = _table("What each rule costs: chance of auditing another target than the leader")
    table.add_column("rule")
    table.add_column("setting")
    table.add_column("lead for\n90 %", justify="right")
    for gap in _SHOWN_GAPS:
        table.add_column(f"lead\n{gap}", justify="right")
    for key in MECHANISM_KEYS:
        errors = plan.misselection[key]
        shown = [_percent(float(errors[GAPS.index(gap)])) for gap in _SHOWN_GAPS]
        table.add_row(key, _setting(plan, key), _lead(plan.gap_for_90[key]), *shown)
    floor = [_percent(float(plan.lower_bound[GAPS.index(gap)])) for gap in _SHOWN_GAPS]
    table.add_section()
    table.add_row("(floor)", "any private rule", "", *floor)
    return table


def _setting(plan: Plan, key: str) -> str:
    if key == "rr":
        return f"p_rand {plan.p_rand:.6g}"
    if key == "exponential":
        return f"epsilon {plan.epsilon:.4g}"
    if key == "tca":
        return f"sigma {plan.sigma:.3g}, noise {plan.noise_std(key):.3g}"
    if key in COUNTER_KEYS:
        return f"noise {plan.noise_std(key):.3g}"
    return "no privacy" if key == "greedy" else "ignores reports"


def _crossing_table(plan: Plan) -> Table:
    table = _table("tca against exponential, at the same delta")
    table.add_column("run length", justify="right")
    for programme in ("programme of that length", f"programme of {plan.horizon:,}"):
        table.add_column(f"{programme}:\ntca's lead for 90 %", justify="right")
        table.add_column("exponential errs\nless at leads", justify="right")
    rows = zip(crossings(plan, whole_programme=True), crossings(plan, whole_programme=False), strict=True)
    for whole, part in rows:
        cells = (f"{whole.counter_gap:,}", _range(whole), f"{part.counter_gap:,}", _range(part))
        table.add_row(f"{whole.run_length:,}", *cells)
    return table


def _range(crossing: Crossing) -> str:
    if crossing.exponential_from is None:
        return "none"
    if crossing.exponential_to is None:
        return "all" if crossing.exponential_from == 1 else f"{crossing.exponential_from:,} and more"
    return f"{crossing.exponential_from:,} to {crossing.exponential_to:,}"


def _crossing_words(plan: Plan) -> str:
    lead = _lead(plan.gap_for_90["exponential"])
    whole = longest_run_for_the_counter(plan, whole_programme=True)
    part = longest_run_for_the_counter(plan, whole_programme=False)
    words = f"exponential needs a lead of {lead} for 90 % at every run length and horizon. "
    if whole == plan.horizon:
        return words + "tca needs no more than that at any run length here: a short programme is its home."
    words += (
        f"tca needs no more than that in a programme of at most {whole:,} decision{_s(whole)} in all"
        if whole
        else "tca needs more than that even in a programme of one decision"
    )
    if part:
        words += f", and in this one within {_periods(part)} of a restart."
    else:
        words += ", and in this one never."
    return words


def _group_table(plan: Plan) -> Table:
    table = _table("Several reports by one person: total variation at most")
    table.add_column("where they fall")
    for k in _SHOWN_GROUPS:
        table.add_column(f"{k} report{_s(k)}", justify="right")
    rows: dict[str, Sequence[float | None]] = {
        "any rule": plan.group["linear"].tolist(),
        "tca, anywhere": plan.group["same_counter"].tolist(),
        **{f"tca, {b} periods apart": values for b, values in plan.separated.items()},
        "tca, different targets": plan.group["different_targets"].tolist(),
        "exponential, anywhere": plan.group["exponential"].tolist(),
    }
    for name, values in rows.items():
        shown = (values[k - 1] for k in _SHOWN_GROUPS)
        table.add_row(name, *("-" if value is None else f"{value:.4f}" for value in shown))
    table.add_row("rr, anywhere", *(f"{plan.delta:.4f}" for _ in _SHOWN_GROUPS))
    return table


def _evidence(plan: Plan) -> str:
    cap = privacy.posterior_cap(_PRIOR, plan.odds_cap)
    largest = privacy.delta_for_posterior_cap(_PRIOR, _THRESHOLD)
    verdict = (
        f"so one that punishes at {100 * _THRESHOLD:.0f} % never does so on the transcript"
        if cap < _THRESHOLD
        else f"enough for one that punishes at {100 * _THRESHOLD:.0f} %; below delta = {largest:.3f} it is not"
    )
    return (
        f"Under exponential no transcript multiplies the odds of one report by more than {plan.odds_cap:.3g} "
        f"(k reports that move together: to the power k). A lab that is {100 * _PRIOR:.0f} % sure beforehand ends at "
        f"{_percent(cap)} at most, {verdict}. Counters have no such cap."
    )


def _alternatives(plan: Plan) -> Table:
    table = _table("Other choices: lead for 90 %")
    table.add_column("choice")
    for title in ("targets", "decisions", "delta", "tca, at its worst", "exponential"):
        table.add_column(title, justify="right")
    choices = {
        "this one": (plan.n_targets, plan.horizon, plan.delta),
        "a fifth of targets": (round(plan.n_targets / 5), plan.horizon, plan.delta),
        "five times targets": (plan.n_targets * 5, plan.horizon, plan.delta),
        "a tenth of horizon": (plan.n_targets, round(plan.horizon / 10), plan.delta),
        "ten times horizon": (plan.n_targets, plan.horizon * 10, plan.delta),
        "half of delta": (plan.n_targets, plan.horizon, plan.delta / 2.0),
        "twice delta": (plan.n_targets, plan.horizon, plan.delta * 2.0),
    }
    for name, (n_targets, horizon, delta) in choices.items():
        try:
            other = make_plan(n_targets, horizon, delta)
        except InputError:
            continue  # a neighbour of an extreme choice may lie outside what can be planned
        leads = (_lead(other.lead_for_90(key)) for key in ("tca", "exponential"))
        table.add_row(name, f"{n_targets:,}", f"{horizon:,}", f"{delta:g}", *leads)
    return table
