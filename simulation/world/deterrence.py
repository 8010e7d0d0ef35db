"""Deterrence: for a while after an audit that found misconduct, a lab does less wrong."""

from ...scenarios.schema import Incidents

__all__ = ["Deterrence"]


class Deterrence:
    """What share of their incidents the labs refrain from.

    Every audit that finds something prevents `deterrence` of what is not prevented already; the effect halves in
    `deterrence_weeks`. Nothing is done per period.

    Parameters
    ----------
    n_labs
        Number of labs.
    """

    def __init__(self, n_labs: int) -> None:
        self._level = [0.0] * n_labs
        self._since = [0.0] * n_labs

    def level(self, lab: int, weeks: float, incidents: Incidents) -> float:
        """Chance at time `weeks` that an incident at the lab, due otherwise, does not happen."""
        if self._level[lab] == 0.0:
            return 0.0
        return float(self._level[lab] * 0.5 ** ((weeks - self._since[lab]) / incidents.deterrence_weeks))

    def found(self, lab: int, weeks: float, incidents: Incidents) -> None:
        """Take note of an audit that brought misconduct at the lab to light."""
        if incidents.deterrence > 0.0:
            level = self.level(lab, weeks, incidents)
            self._level[lab] = 1.0 - (1.0 - level) * (1.0 - incidents.deterrence)
            self._since[lab] = weeks
