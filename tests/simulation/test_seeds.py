"""Root seeds of the Python face: a whole number that a signed column can hold, or one clear sentence."""

import numpy as np
import pytest

from deniability.scenarios import InputError
from deniability.simulation import batch, load_scenario, run
from deniability.simulation.paper_setting import PaperSetting
from deniability.simulation.seeds import LARGEST_SEED, checked_seed
from deniability.simulation.sensitivity import sensitivity
from deniability.simulation.tuning import tune
from deniability.simulation.twins import twin_study
from deniability.simulation.validation import validate_patterns

BAD = ["a", 1.5, 1.0, -1, True, None, [1], 2**63, float("nan")]


@pytest.fixture(scope="module")
def scenario():
    return load_scenario("five-labs", overrides=['sweep.sample.linear."incidents.rate"=[0.5, 2.0]'])


@pytest.mark.parametrize("seed", BAD, ids=repr)
def test_every_function_refuses_what_is_no_seed(scenario, tmp_path, seed):
    calls = [
        lambda: run(scenario, seed=seed),
        lambda: batch(scenario, tmp_path / "out", seed=seed),
        lambda: twin_study(scenario.config, n_pairs=1, seed=seed),
        lambda: sensitivity(scenario, tmp_path / "out", ["harm"], seed=seed),
        lambda: validate_patterns(scenario, replicates=2, seed=seed),
        lambda: tune(scenario, seed=seed),
        lambda: PaperSetting(seed=seed).check(),
    ]
    for call in calls:
        with pytest.raises(InputError, match=rf"seed = .*: must be a whole number from 0 to {2**63 - 1}$"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_the_sentence_says_what_was_given():
    with pytest.raises(InputError, match=r'^seed = "a": must be'):
        checked_seed("a")
    with pytest.raises(InputError, match=r"^seed = 1.5: must be"):
        checked_seed(1.5)


@pytest.mark.parametrize("seed", [0, 7, LARGEST_SEED, np.int64(7), np.uint8(7)])
def test_whole_numbers_of_any_kind_are_seeds(seed):
    assert checked_seed(seed) == int(seed)
    assert type(checked_seed(seed)) is int


def test_a_seed_of_numpy_gives_the_same_run():
    small = ["time.periods=2", "employees.scale=0.02"]
    ours, theirs = (run("five-labs", seed=s, mechanism="greedy", overrides=small) for s in (3, np.int64(3)))
    assert (ours.metrics, ours.run_id) == (theirs.metrics, theirs.run_id)
    # nor does a level have to be Python's own number
    exact = run("five-labs", delta=np.float64(0.2), overrides=small).scenario.config.auditor.delta
    assert exact == 0.2
