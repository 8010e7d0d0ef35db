"""What every mechanism promises, whatever its rule: one inherited class of tests, a subclass per mechanism.

Statistical tests fail a correct mechanism with probability 1e-6 each (`ERROR_RATE`).
"""

import copy
import pickle

import numpy as np
import pytest
from scipy import stats

from deniability.agents.auditor.counters import COUNTERS
from deniability.agents.auditor.mechanisms import (
    MECHANISMS,
    NO_CANDIDATE,
    CounterMechanism,
    MemorylessMechanism,
    build,
    mechanism,
)
from deniability.scenarios.errors import InputError

ERROR_RATE = 1e-6
COUNTS = np.array([3, 0, 5, 5, 1, 2])


def started(made, n_replicates=4, n_targets=6, seed=7):
    made.reset(n_replicates, n_targets, np.random.default_rng(seed))
    return made


def run(made, reports):
    """Play the mechanism on reports of shape (periods, replicates, targets), with resets; the transcript."""
    counts = np.zeros(reports.shape[1:], dtype=np.int64)
    transcript = []
    for new in reports:
        counts += new
        audited = made.select(counts)
        transcript.append(audited)
        counts[np.arange(len(counts)), audited] = 0
    return np.array(transcript)


def frequencies(made, counts, n=20_000, seed=1):
    """How often each target is audited at a first decision."""
    started(made, n, len(counts), seed)
    audited = made.select(np.tile(counts, (n, 1)))
    return np.bincount(audited, minlength=len(counts))


class MechanismContract:
    id: str
    counter = "toeplitz"

    def make(self, delta=0.3, horizon=50):
        return build(self.id, delta, horizon, self.counter)

    def reports(self, periods=20, n_replicates=4, n_targets=6):
        return np.random.default_rng(3).poisson(0.5, (periods, n_replicates, n_targets))

    def test_is_found_by_its_name(self):
        assert type(self.make()) is MECHANISMS[self.id] is mechanism(self.id)

    def test_selects_one_valid_target_per_replicate_and_leaves_the_counts_alone(self):
        counts = np.tile(COUNTS, (4, 1))
        audited = started(self.make()).select(counts)
        assert audited.shape == (4,)
        assert audited.dtype == np.int64
        assert np.all((audited >= 0) & (audited < 6))
        assert np.all(counts == COUNTS)

    def test_the_same_generator_gives_the_same_transcript(self):
        first, second = (run(started(self.make()), self.reports()) for _ in range(2))
        assert np.array_equal(first, second)

    def test_another_generator_gives_another_transcript(self):
        if self.id != "greedy":  # whose only randomness is in ties
            first, second = (run(started(self.make(), seed=s), self.reports()) for s in (1, 2))
            assert not np.array_equal(first, second)

    def test_reset_forgets_everything(self):
        made = started(self.make())
        fresh = run(made, self.reports())
        assert np.array_equal(run(started(made), self.reports()), fresh)

    @pytest.mark.parametrize("cloned", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
    def test_a_clone_taken_halfway_goes_on_alike(self, cloned):
        made, reports = started(self.make()), self.reports()
        run(made, reports[:10])
        clone = cloned(made)
        assert np.array_equal(run(made, reports[10:]), run(clone, reports[10:]))

    def test_draws_the_same_random_numbers_whatever_the_counts(self):
        """Twin runs that differ in one report stay on the same random numbers."""
        states = []
        for counts in (COUNTS, COUNTS * 0, COUNTS * 1000, np.where(COUNTS == 0, NO_CANDIDATE, COUNTS)):
            made = started(self.make())
            made.select(np.tile(counts, (4, 1)))
            states.append(made.generator.bit_generator.state)
        assert all(s == states[0] for s in states)

    def test_replicates_do_not_touch_one_another(self):
        """A report in one replicate changes nothing in the others."""
        reports = self.reports()
        changed = reports.copy()
        changed[2, 1, 3] += 40
        first, second = (run(started(self.make()), r) for r in (reports, changed))
        assert np.array_equal(first[:, [0, 2, 3]], second[:, [0, 2, 3]])

    def test_replicates_are_independent(self):
        """Pairs of neighbouring replicates hit the same target as often as independent ones would."""
        made = started(self.make(), 20_000, 4)
        audited = made.select(np.zeros((20_000, 4), dtype=np.int64))
        matches = np.count_nonzero(audited[::2] == audited[1::2])
        assert stats.binomtest(matches, 10_000, 0.25).pvalue > ERROR_RATE

    def test_ties_are_broken_uniformly(self):
        seen = frequencies(self.make(), np.full(5, 2))
        assert stats.chisquare(seen).pvalue > ERROR_RATE

    def test_treats_targets_alike(self):
        """Permuted counts give permuted frequencies: two samples of the same law."""
        order = np.array([4, 2, 0, 5, 3, 1])
        plain = frequencies(self.make(), COUNTS, seed=1)[order]
        permuted = frequencies(self.make(), COUNTS[order], seed=2)
        both = np.array([plain, permuted])
        assert stats.chi2_contingency(both[:, both.sum(axis=0) > 0]).pvalue > ERROR_RATE

    def test_a_target_that_is_no_candidate_is_never_selected(self):
        counts = np.array([9, NO_CANDIDATE, 0, NO_CANDIDATE])
        seen = frequencies(self.make(), counts, n=2_000)
        assert np.all(seen[[1, 3]] == 0)

    def test_several_audits_in_one_period_are_of_different_targets(self):
        counts = np.tile(COUNTS, (50, 1))
        audited = started(self.make(), 50).select_many(counts, 4)
        assert audited.shape == (50, 4)
        assert all(len(set(row)) == 4 for row in audited.tolist())
        assert np.all(counts == COUNTS)

    @pytest.mark.parametrize("n_audits", [0, 7])
    def test_more_audits_than_targets_are_refused(self, n_audits):
        with pytest.raises(ValueError, match="n_audits must be from 1 to 6"):
            started(self.make()).select_many(np.tile(COUNTS, (4, 1)), n_audits)

    def test_guarantee_is_a_probability(self):
        assert 0.0 <= self.make().guarantee() <= 1.0

    @pytest.mark.parametrize(("delta", "horizon"), [(0.0, 1), (1.0, 1), (float("nan"), 1), (0.1, 0)])
    def test_refuses_settings_out_of_range(self, delta, horizon):
        with pytest.raises(ValueError, match="must"):
            self.make(delta, horizon)


class MemorylessContract(MechanismContract):
    COUNTS_TRIED = (COUNTS, np.zeros(3, dtype=np.int64), np.array([4, 4, 4, 0]), np.array([0, -1, 2, -1]))

    def test_probabilities_sum_to_one(self):
        for counts in self.COUNTS_TRIED:
            table = np.exp(self.make().log_probabilities(counts))
            assert table.sum() == pytest.approx(1.0, abs=1e-12)
            assert np.all(table[counts < 0] == 0.0)

    def test_selects_with_its_stated_probabilities(self):
        for counts in self.COUNTS_TRIED:
            probabilities = np.exp(self.make(horizon=1).log_probabilities(counts))
            seen = frequencies(self.make(horizon=1), counts)
            possible = probabilities > 0.0
            assert np.all(seen[~possible] == 0)
            if possible.sum() > 1:
                expected = probabilities[possible] * seen.sum()
                assert stats.chisquare(seen[possible], expected, sum_check=False).pvalue > ERROR_RATE

    def test_stated_probabilities_are_permuted_with_the_targets(self):
        order = np.array([4, 2, 0, 5, 3, 1])
        made = self.make()
        assert np.allclose(made.log_probabilities(COUNTS)[order], made.log_probabilities(COUNTS[order]))

    def test_log_likelihood_picks_the_audited_target(self):
        made, counts = self.make(), np.array([[0, 1, 2], [2, 2, 2]])
        table = made.log_probabilities(counts)
        audited = np.array([2, 0])
        assert np.array_equal(made.log_likelihood(counts, audited), [table[0, 2], table[1, 0]])


class HorizonContract(MechanismContract):
    """For mechanisms whose guarantee ends with the horizon."""

    def test_refuses_a_decision_beyond_its_horizon(self):
        made = started(self.make(horizon=3))
        counts = np.tile(COUNTS, (4, 1))
        for _ in range(3):
            made.select(counts)
        with pytest.raises(InputError, match=r"auditor\.horizon: .* calibrated for 3 decisions"):
            made.select(counts)
        started(made).select(counts)


class TestGreedy(MemorylessContract):
    id = "greedy"

    def test_never_passes_a_leader_over(self):
        assert np.exp(self.make().log_probabilities(COUNTS)).tolist() == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0]
        assert self.make().guarantee() == 1.0


class TestUniform(MemorylessContract):
    id = "uniform"

    def test_does_not_look_at_the_reports(self):
        first, second = (run(started(self.make()), self.reports() * k) for k in (0, 100))
        assert np.array_equal(first, second)
        assert self.make().guarantee() == 0.0


class TestRandomizedResponse(MemorylessContract, HorizonContract):
    id = "rr"

    def test_each_decision_of_a_period_counts_against_the_horizon(self):
        made = started(self.make(horizon=3))
        with pytest.raises(InputError, match="horizon"):
            made.select_many(np.tile(COUNTS, (4, 1)), 4)
        assert type(made).horizon_of(10, 4) == 40


class TestExponential(MemorylessContract):
    id = "exponential"

    def test_the_table_and_the_logarithms_decide_alike(self):
        """Counts beyond the table take another way to the same decision on the same random numbers."""
        made = self.make()
        counts = self.reports(1)[0] * 10
        tabulated = started(made).select(counts)
        made._most_tabulated = -1
        assert np.array_equal(started(made).select(counts), tabulated)

    def test_counts_of_any_size(self):
        huge = np.array([10**12, 10**12 + 10**4, 0])
        assert np.all(frequencies(self.make(), huge, 100) == [0, 100, 0])

    def test_one_more_report_only_ever_draws_the_audit_to_its_target(self):
        """The coupling: between twin worlds on the same randomness nobody else's audit changes."""
        made, reports = self.make(), self.reports(1, 500)
        extra = reports.copy()
        extra[0, :, 2] += 1
        plain, drawn = run(started(made, 500), reports)[0], run(started(made, 500), extra)[0]
        assert np.all((plain == drawn) | (drawn == 2))
        assert np.any(plain != drawn)


class CounterBasedContract(HorizonContract):
    id = "tca"

    def test_label_names_the_counter(self):
        expected = "tca" if self.counter == "toeplitz" else f"tca-{self.counter}"
        assert self.make().label == expected

    def test_several_audits_are_the_largest_noisy_counts_and_cost_one_decision(self):
        one, many = started(self.make(horizon=1)), started(self.make(horizon=1))
        counts = np.tile(COUNTS, (4, 1))
        assert np.array_equal(many.select_many(counts, 3)[:, 0], one.select(counts))
        assert type(one).horizon_of(10, 3) == 10

    def test_all_audited_counters_restart(self):
        made = started(self.make())
        audited = made.select_many(np.tile(COUNTS, (4, 1)), 2)
        carried = made.paths.carried()
        assert np.all(np.take_along_axis(carried, audited, axis=1) == 0.0)
        assert np.count_nonzero(carried == 0.0) >= 8


class TestToeplitzContinualAuditing(CounterBasedContract):
    counter = "toeplitz"


class TestTcaBinaryTree(CounterBasedContract):
    counter = "binary_tree"


class TestTcaBlt(CounterBasedContract):
    counter = "blt"


class TestTcaIndependent(CounterBasedContract):
    counter = "independent"


def test_every_mechanism_and_counter_has_its_contract():
    """Nobody adds one without tests."""
    tested = {c for c in globals().values() if isinstance(c, type) and issubclass(c, MechanismContract)}
    pairs = {(c.id, c.counter) for c in tested if hasattr(c, "id")}
    wanted = {(m, "toeplitz") for m in MECHANISMS} | {("tca", c) for c in COUNTERS}
    assert wanted <= pairs


def test_every_mechanism_is_of_one_of_the_two_kinds():
    assert all(issubclass(MECHANISMS[m], CounterMechanism | MemorylessMechanism) for m in MECHANISMS)
