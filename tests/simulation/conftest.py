"""The command line from the outside, and small worlds for the tests of the model."""

import pytest

from deniability.simulation import load_scenario, run
from deniability.simulation.command_line import main


@pytest.fixture
def deniability(monkeypatch, capsys):
    """Run the command line; gives exit code, stdout and stderr."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["deniability", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        told = capsys.readouterr()
        return int(stop.value.code or 0), told.out, told.err

    return call


@pytest.fixture(scope="session")
def world():
    """Run `five-labs` with overrides: `world("greedy", seed=3, set=["time.periods=20"])`, each once."""
    made = {}

    def make(mechanism="greedy", seed=1, inference="strong", delta=0.1, set=()):  # noqa: A002
        key = (mechanism, seed, inference, delta, tuple(set))
        if key not in made:
            overrides = [
                "time.periods=52",
                "incidents.rate=2.0",
                f'organizations.inference="{inference}"',
                *set,
            ]
            made[key] = run(
                load_scenario("five-labs", mechanism=mechanism, delta=delta, overrides=overrides), seed=seed
            )
        return made[key]

    return make
