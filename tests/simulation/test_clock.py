"""The model's clock is Mesa's: it can be read, and watched."""

import pytest

from deniability.simulation import load_scenario
from deniability.simulation.model import DeniabilityModel


@pytest.fixture
def model():
    overrides = ["employees.scale=0.01", "employees.turnover=0.0", "incidents.rate=0.0"]
    return DeniabilityModel(load_scenario("five-labs", mechanism="greedy", overrides=overrides).config, 1)


def test_time_begins_at_0_and_is_what_mesa_sets(model):
    assert model.time == 0.0
    model.run_until(1.5)
    assert model.time == 1.5


def test_whoever_subscribes_hears_of_every_change(model):
    heard = []

    def hear(signal):
        heard.append(signal.additional_kwargs["new"])

    model.run_until(1.5)
    model.observe("time", "changed", hear)
    model.run_until(4.0)
    assert heard == [2.0, 3.0, 4.0]  # nothing happens but decisions; at 1.5 nobody had subscribed
