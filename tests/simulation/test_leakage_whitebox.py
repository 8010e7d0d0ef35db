"""On a counter's raw output the advantage equals delta, and planted faults are flagged.

Intervals at the level 0.999, so a right counter is flagged about once in 500 (the seeds are fixed).
"""

import numpy as np
import pytest

from deniability.agents.auditor.counters import counter
from deniability.agents.auditor.counters.base import NoisePaths
from deniability.simulation.leakage_whitebox import white_box

COUNTERS = ("toeplitz", "binary_tree", "blt", "independent")
N = 20_000


class Faulty(NoisePaths):
    """Wraps paths so that a fault can be planted in one method."""

    def __init__(self, inner):
        self.inner = inner

    def step(self, innovations):
        return self.inner.step(innovations)

    def carried(self):
        return self.inner.carried()

    def restart(self, audited):
        self.inner.restart(audited)

    def take(self, replicates):
        self.inner.take(replicates)


class NeverRestarts(Faulty):
    def restart(self, audited):
        pass


class SameNoiseAgain(Faulty):
    """After a restart the innovations of the first run come again."""

    def __init__(self, inner):
        super().__init__(inner)
        self.seen, self.again = [], None

    def step(self, innovations):
        if self.again:
            innovations = self.again.pop(0)
        else:
            self.seen.append(innovations)
        return self.inner.step(innovations)

    def restart(self, audited):
        self.again = list(self.seen)
        self.inner.restart(audited)


class RestartsLate(Faulty):
    """The first period after an audit still belongs to the old run."""

    pending = False

    def step(self, innovations):
        result = self.inner.step(innovations)
        if self.pending:
            self.inner.restart(np.zeros(len(innovations), dtype=np.int64))
            self.pending = False
        return result

    def restart(self, audited):
        self.pending = True


@pytest.mark.parametrize("delta", [0.1, 0.5])
@pytest.mark.parametrize("name", COUNTERS)
def test_advantage_equals_delta(name, delta):
    result = white_box(counter(name)(), delta, 12, N, np.random.default_rng(1))
    assert result.faults == ()
    assert result.nominal[0] == pytest.approx(delta, abs=4 * 0.5**0.5 / N**0.5)
    assert result.nominal[1] < delta < result.nominal[2]


@pytest.mark.parametrize("name", COUNTERS)
def test_too_little_noise_is_flagged(name):
    result = white_box(counter(name)(), 0.3, 12, N, np.random.default_rng(2), noise=1 / 1.25)
    assert "the output betrays more than delta" in result.faults


@pytest.mark.parametrize("name", COUNTERS)
def test_too_much_noise_is_flagged(name):
    result = white_box(counter(name)(), 0.3, 12, N, np.random.default_rng(3), noise=1.25)
    assert result.faults == ("the noise is not what the calibration assumes",)


@pytest.mark.parametrize("name", COUNTERS)
def test_noise_that_is_not_fresh_after_an_audit_is_flagged(name):
    """The second run by itself looks right: only both together show it."""
    made = counter(name)()
    result = white_box(
        made, 0.3, 12, N, np.random.default_rng(4), paths=lambda n: SameNoiseAgain(made.paths(n, 1, 12))
    )
    assert result.faults == ("both runs together betray more than delta",)
    assert result.attack[0] > 0.99


@pytest.mark.parametrize("fault", [NeverRestarts, RestartsLate])
@pytest.mark.parametrize("name", ["toeplitz", "binary_tree", "independent"])
def test_wrong_restart_is_flagged(name, fault):
    """A run that goes on carries noise that the calibration does not count on: too much, or too well known."""
    made = counter(name)()
    # paths of twice the horizon, so that the run can go on
    result = white_box(
        made, 0.3, 12, N, np.random.default_rng(5), paths=lambda n: fault(made.paths(n, 1, 24))
    )
    assert result.faults != ()
