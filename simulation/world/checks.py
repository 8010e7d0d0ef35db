"""What of a scenario only its world can check: whether the network files that it names fit its labs."""

import numpy as np

from ...scenarios import ScenarioConfig
from ..draws import KeyedDraws
from .access import Access
from .colleagues import colleague_graph
from .layout import Layout

__all__ = ["check_networks"]


def check_networks(config: ScenarioConfig) -> None:
    """Read all network files that a scenario uses, without drawing anything.

    Raises
    ------
    InputError
        One is wrong, does not fit its lab, or is missing where a generator needs it.
    """
    layout = Layout.of(config)
    if config.colleagues.generator == "imported":
        nothing = np.zeros(0, dtype=np.int64)
        colleague_graph(config, layout, Access(nothing, nothing, ()), KeyedDraws(0))
