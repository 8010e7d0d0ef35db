"""The series of a run: one row per period, written when its decision has been made and judged."""

from typing import Any

from ...agents.ports import IntArray

__all__ = ["Chronicle"]


class Chronicle:
    """Writes the table `series`.

    Parameters
    ----------
    model
        The Mesa model.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._lab_of_target: list[int] = model.layout.lab_of_target.tolist()
        self._retaliations = 0

    def close_period(self, active_reports: IntArray, audited: list[int]) -> None:
        """Write the row of the period whose decision has just been made.

        Parameters
        ----------
        active_reports
            Counts that the decision used, shape (targets,).
        audited
            The targets that were audited.
        """
        model, layout, counts = self._model, self._model.layout, active_reports.tolist()
        weeks = model.time * model.period_weeks
        labs = dict.fromkeys(self._lab_of_target[target] for target in audited)
        retaliations = model.log.count("retaliations")
        model.log.record(
            "series",
            time=model.time,
            reports=model.desk.close_period(),
            active_reports=sum(counts),
            audited="; ".join(layout.target_names[target] for target in audited),
            lab="; ".join(layout.lab_names[lab] for lab in labs),
            deficit=max(counts) - counts[audited[0]],
            open_incidents=model.book.n_open,
            retaliations=retaliations - self._retaliations,
            fear=model.society.fear.average(weeks),
            efficacy=model.society.efficacy.average(weeks),
        )
        self._retaliations = retaliations
