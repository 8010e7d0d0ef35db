"""Which figures a directory of results gets, in the order in which a report shows them."""

from collections.abc import Callable, Iterator

from ..drawing import Drawing
from ..metrics import metric_keys
from ..rates_figure import retaliation_rates_figure
from ..results import DELTA, Results
from ..slices import numeric_keys
from ..style import house_style
from ..timeline_figure import timeline_figure
from .access_graph import access_graph_figure
from .anonymity import anonymity_figure
from .frontier import frontier_figure
from .indices import indices_figure
from .marks import freeze
from .mechanisms import mechanisms_figure
from .posteriors import posteriors_figure
from .reporting import reporting_figure
from .sweeps import sweep_figure
from .tipping import tipping_figure
from .twins import effects_figure

__all__ = ["chosen_figures"]

_MOST_SWEEPS = 6


def chosen_figures(results: Results) -> Iterator[Drawing]:
    """Make every figure that these results have something for, one at a time."""
    if results.kind == "run" and results.events:
        makers = _of_one_run(results)
    elif results.kind == "sensitivity":
        makers = [lambda: indices_figure(results)]
    else:
        makers = _of_many_runs(results)
    makers.append(lambda: effects_figure(results))
    for make in makers:
        drawing = make()
        if drawing is not None:
            with house_style():
                freeze(drawing.figure)
            yield drawing


def _of_many_runs(results: Results) -> list[Callable[[], Drawing | None]]:
    if not len(results.runs):
        return []
    others = [key for key in numeric_keys(results.runs) if key != DELTA][:_MOST_SWEEPS]
    return [
        lambda: mechanisms_figure(results),
        lambda: sweep_figure(results, DELTA),
        *[lambda key=key: sweep_figure(results, key) for key in others],
        lambda: frontier_figure(results),
        lambda: reporting_figure(results),
        lambda: anonymity_figure(results),
        lambda: tipping_figure(results),
    ]


def _of_one_run(results: Results) -> list[Callable[[], Drawing | None]]:
    tables = dict(results.events)
    if "series" in results.tables:
        tables["series"] = results.tables["series"]
    weeks = results.unit[1] if results.unit[0] == "weeks" else None
    metrics = {}
    if len(results.runs) == 1 and not set(metric_keys()) - set(results.runs.columns):
        metrics = {key: results.runs[key].iloc[0] for key in metric_keys()}

    def rates() -> Drawing | None:
        return retaliation_rates_figure(metrics, results.title) if metrics else None

    def timeline() -> Drawing | None:
        needed = {"incidents", "reports", "audits", "retaliations", "access", "series"}
        return timeline_figure(tables, results.title, period_weeks=weeks) if needed <= set(tables) else None

    return [
        rates,
        timeline,
        lambda: posteriors_figure(results),
        lambda: access_graph_figure(results),
    ]
