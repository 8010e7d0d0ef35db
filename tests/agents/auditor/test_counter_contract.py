"""What every counter promises: its factors, its sensitivity, and that the stream is exactly the decoder's.

The noise is linear in the innovations, so feeding unit impulses shows the covariance exactly, without sampling.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest

from deniability.agents.auditor.counters import COUNTERS, counter
from deniability.agents.auditor.counters.exponentials import toeplitz_terms
from deniability.agents.auditor.privacy import sigma_for_delta, toeplitz_coefficients, toeplitz_sensitivity

T = 37  # neither a power of two nor near one


class CounterContract:
    id: str
    table: tuple[float, float, float]
    """Noise s.d. at delta = 0.1 and T = 1000: at run length 1, on average, at worst."""

    @pytest.fixture
    def made(self):
        return counter(self.id)()

    def response(self, made, restarts=()):
        """Noise of a counter at each period (rows) to a unit impulse in each period (columns).

        One replicate per impulse. `restarts` are periods after which the counter starts anew.
        """
        paths = made.paths(T, 2, T)
        rows = []
        for t in range(T):
            impulse = np.zeros((T, 2))
            impulse[t, 0] = 1.0
            rows.append(paths.step(impulse)[:, 0])
            if t in restarts:
                paths.restart(np.zeros(T, dtype=np.int64))
        return np.array(rows)

    def test_is_found_by_its_name(self, made):
        assert type(made) is COUNTERS[self.id]

    @pytest.mark.parametrize("horizon", [1, 2, T, 64])
    def test_factors_multiply_to_the_prefix_sums(self, made, horizon):
        product = made.decoder(horizon) @ made.encoder(horizon)
        assert np.allclose(product, np.tri(horizon), atol=1e-12)

    @pytest.mark.parametrize("horizon", [1, 2, T, 64])
    def test_factors_are_causal_and_a_period_adds_one_innovation(self, made, horizon):
        for factor in (made.decoder(horizon), made.encoder(horizon)):
            assert np.array_equal(factor, np.tril(factor))
        assert np.all(np.diag(made.decoder(horizon)) == 1.0)

    @pytest.mark.parametrize("horizon", [1, 2, 3, 7, 8, T, 64, 200])
    def test_sensitivity_is_the_largest_column_norm_of_the_encoder(self, made, horizon):
        norms = np.linalg.norm(made.encoder(horizon), axis=0)
        assert made.sensitivity(horizon) == pytest.approx(norms.max(), rel=1e-12)

    def test_noise_std_is_the_row_norm_of_the_decoder(self, made):
        norms = np.linalg.norm(made.decoder(T), axis=1)
        assert [made.noise_std(length, T) for length in range(1, T + 1)] == pytest.approx(norms, rel=1e-12)

    def test_stream_is_the_decoder(self, made):
        assert np.allclose(self.response(made), made.decoder(T), atol=1e-12)

    @pytest.mark.parametrize("restarts", [(0,), (4, 5), (9, 20, 31), tuple(range(T))])
    def test_stream_with_restarts_is_one_decoder_block_per_run(self, made, restarts):
        expected = np.zeros((T, T))
        bounds = [0, *(r + 1 for r in restarts if r + 1 < T), T]
        for start, end in itertools.pairwise(bounds):
            expected[start:end, start:end] = made.decoder(T)[: end - start, : end - start]
        assert np.allclose(self.response(made, restarts), expected, atol=1e-12)

    def test_a_restart_changes_nobody_elses_noise(self, made):
        innovations = np.random.default_rng(1).standard_normal((T, 3, 4))
        plain, restarted = made.paths(3, 4, T), made.paths(3, 4, T)
        others = np.ones((3, 4), dtype=bool)
        others[[0, 1, 2], [1, 3, 0]] = False
        for t, z in enumerate(innovations):
            first, second = plain.step(z), restarted.step(z)
            assert np.array_equal(first[others], second[others])
            if t == 5:
                restarted.restart(np.array([1, 3, 0]))
        assert not np.any(first[~others] == second[~others])

    def test_several_restarts_at_once(self, made):
        innovations = np.random.default_rng(1).standard_normal((4, 2, 5))
        together, apart = made.paths(2, 5, T), made.paths(2, 5, T)
        for z in innovations[:3]:
            together.step(z)
            apart.step(z)
        together.restart(np.array([[0, 4], [2, 1]]))
        apart.restart(np.array([0, 2]))
        apart.restart(np.array([4, 1]))
        assert np.array_equal(together.step(innovations[3]), apart.step(innovations[3]))

    def test_carried_is_the_next_noise_without_its_innovation(self, made):
        paths = made.paths(2, 3, T)
        for z in np.random.default_rng(2).standard_normal((T, 2, 3)):
            carried = paths.carried()
            assert np.allclose(paths.step(z), carried + z, atol=1e-12)
        paths.restart(np.array([0, 2]))
        assert paths.carried()[0, 0] == paths.carried()[1, 2] == 0.0

    def test_take_resamples_replicates(self, made):
        innovations = np.random.default_rng(3).standard_normal((9, 3, 2))
        paths, chosen = made.paths(3, 2, T), np.array([2, 0, 2, 1])
        for z in innovations[:8]:
            paths.step(z)
        reference = copy.deepcopy(paths).step(innovations[8])
        paths.take(chosen)
        taken = paths.step(innovations[8][chosen])
        assert np.array_equal(taken, reference[chosen])
        paths.restart(np.array([0, 1, 0, 1]))  # still one state per new replicate
        assert np.count_nonzero(paths.carried()) == 4

    def test_a_pickled_stream_goes_on_alike(self, made):
        paths = made.paths(2, 2, T)
        z = np.random.default_rng(4).standard_normal((2, 2, 2))
        paths.step(z[0])
        clone = pickle.loads(pickle.dumps(paths))
        assert np.array_equal(paths.step(z[1]), clone.step(z[1]))

    def test_step_returns_an_array_of_its_own(self, made):
        paths, untouched = made.paths(2, 2, T), made.paths(2, 2, T)
        z = np.ones((2, 2))
        paths.step(z)[:] = 1e9
        untouched.step(z)
        assert np.array_equal(paths.step(z), untouched.step(z))
        assert np.all(z == 1.0)

    def test_noise_at_the_paper_s_horizon(self, made):
        sigma = sigma_for_delta(0.1, made.sensitivity(1000))
        std = sigma * np.array([made.noise_std(length, 1000) for length in range(1, 1001)])
        measured = std[0], std.mean(), std.max()
        assert measured == pytest.approx(self.table, abs=0.5 * 10.0**-self.digits)

    digits = 2


class TestToeplitz(CounterContract):
    id = "toeplitz"
    table = (7.19, 12.32, 12.99)


class TestBinaryTree(CounterContract):
    id = "binary_tree"
    table = (12.58, 27.59, 37.75)

    def test_a_node_covers_as_many_steps_as_the_lowest_digit_of_its_end(self, made):
        assert made.encoder(8).sum(axis=1).tolist() == [1, 2, 1, 4, 1, 2, 1, 8]
        assert made.decoder(8).sum(axis=1).tolist() == [1, 1, 2, 1, 2, 2, 3, 1]
        assert made.sensitivity(1000) == pytest.approx(np.sqrt(10.0))


class TestIndependent(CounterContract):
    id = "independent"
    table = (3.98, 84.0, 126.0)
    digits = 0

    def test_first_noise_of_a_run(self, made):
        assert sigma_for_delta(0.1, made.sensitivity(1000)) == pytest.approx(3.98, abs=0.005)

    def test_noise_at_the_paper_s_horizon(self, made):
        std = sigma_for_delta(0.1, 1.0) * np.sqrt(np.arange(1, 1001))
        assert (std.mean(), std.max()) == pytest.approx(self.table[1:], abs=0.5)


class TestBufferedLinearToeplitz(CounterContract):
    id = "blt"
    table = (7.20, 12.33, 13.00)

    @pytest.mark.parametrize("horizon", [1, 10, 1000, 10_000])
    def test_worst_noise_is_within_a_thousandth_of_the_toeplitz_counter_s(self, made, horizon):
        loss = made.sensitivity(horizon) * made.noise_std(horizon, horizon)
        assert 1.0 - 1e-9 <= loss / toeplitz_sensitivity(horizon) ** 2 <= 1.001

    @pytest.mark.parametrize(("horizon", "n_buffers"), [(10, 2), (100, 3), (1000, 4), (10_000, 6)])
    def test_a_handful_of_buffers_will_do(self, made, horizon, n_buffers):
        assert len(made.paths(1, 1, horizon)._buffers) == n_buffers

    def test_calibrating_it_like_the_toeplitz_counter_would_break_the_guarantee(self, made):
        """Negative control: its own encoder is a little larger, so its own sensitivity must be used."""
        assert made.sensitivity(1000) > 1.001 * toeplitz_sensitivity(1000)


def test_every_counter_has_its_contract():
    tested = {
        c.id for c in globals().values() if isinstance(c, type) and hasattr(c, "table") and hasattr(c, "id")
    }
    assert set(COUNTERS) <= tested


@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 100, 1000, 10_000, 100_000])
def test_exponential_sums_give_the_toeplitz_coefficients(horizon):
    terms = toeplitz_terms(horizon)
    assert np.max(np.abs(terms.coefficients(horizon) - toeplitz_coefficients(horizon))) < 1e-12
    assert np.all(terms.weights >= 0.0)
    assert np.all((terms.rates > 0.0) & (terms.rates < 1.0 + 1e-12))
    assert len(terms.rates) < 45  # grows like the log of the horizon


def test_too_few_terms_are_seen():
    """Negative control of the accuracy test above."""
    error = toeplitz_terms(1000, 12).coefficients(1000) - toeplitz_coefficients(1000)
    assert np.max(np.abs(error)) > 1e-9


def test_a_long_stream_keeps_its_accuracy():
    """The response to the first impulse after 20,000 periods, where rounding has had its time."""
    horizon = 20_000
    paths = counter("toeplitz")().paths(1, 1, horizon)
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    noise = [paths.step(one if t == 0 else zero)[0, 0] for t in range(horizon)]
    assert np.max(np.abs(noise - toeplitz_coefficients(horizon))) < 1e-12
