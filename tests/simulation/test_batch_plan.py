"""What a batch plans: seeds shared across cells, ids that are behaviour and seed, and plans that are refused."""

import pytest

from deniability.scenarios import InputError, cell_config, content_hash
from deniability.simulation.batch_plan import BatchPlan, replicate_seed
from deniability.simulation.provenance import run_id

from .batch_makers import STUDY, study


def test_a_replicate_has_the_same_seed_in_every_cell(tmp_path):
    plan = BatchPlan.of(study(tmp_path), 7)
    runs = list(plan.runs(3))
    assert [(run.cell, run.replicate) for run in runs] == [(c, r) for c in range(4) for r in range(3)]
    assert [run.seed for run in runs] == [replicate_seed(7, r) for r in range(3)] * 4
    assert len({run.seed for run in runs}) == 3
    assert len({run.run_id for run in runs}) == 12
    assert runs[7] == plan.run(2, 1)


def test_seeds_fit_into_a_signed_column_and_differ_by_root():
    seeds = [replicate_seed(root, i) for root in (0, 1, 2**63 - 1) for i in range(100)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert len(set(seeds)) == 300


def test_an_id_is_behaviour_and_seed_and_not_what_is_said_about_them(tmp_path):
    scenario = study(tmp_path)
    plan = BatchPlan.of(scenario, 7)
    cell = cell_config(scenario, plan.cells[2].values)
    assert plan.run(2, 1).run_id == run_id(content_hash(cell), replicate_seed(7, 1))
    renamed = study(tmp_path, STUDY, 'scenario.title="another"', "sweep.replicates=9")
    assert list(BatchPlan.of(renamed, 7).runs(3)) == list(plan.runs(3))
    assert BatchPlan.of(renamed, 7).identity == plan.identity
    for other in (
        BatchPlan.of(scenario, 8),
        BatchPlan.of(study(tmp_path, STUDY, "incidents.rate=4.5"), 7),
        BatchPlan.of(study(tmp_path, STUDY, 'sweep.grid."auditor.delta"=[0.1]'), 7),
    ):
        assert other.identity != plan.identity


def test_a_run_without_a_sweep_is_a_batch_of_one_cell(tmp_path):
    plan = BatchPlan.of(study(tmp_path, STUDY.partition("[sweep]")[0]), 1)
    assert (len(plan.cells), plan.keys) == (1, ())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["auditor.delta=0.2"],
            "--set auditor.delta: the scenario's sweep varies it, and would override this; to narrow the sweep: "
            "--set 'sweep.grid.\"auditor.delta\"=[…]'",
        ),
        (
            [
                "labs.lab-a.organization.prior=0.3",
                "labs.lab-b.organization.prior=0.3",
                'sweep.grid."organizations.prior"=[0.1, 0.2]',
            ],
            'sweep: the cells auditor.mechanism = "greedy", auditor.delta = 0.1, organizations.prior = 0.1 and '
            'auditor.mechanism = "greedy", auditor.delta = 0.1, organizations.prior = 0.2 are the same scenario, so '
            "one would be counted twice: what is swept is overridden elsewhere, in every lab perhaps",
        ),
    ],
)
def test_plans_that_would_mislead_are_refused(tmp_path, settings, message):
    with pytest.raises(InputError) as refused:
        BatchPlan.of(study(tmp_path, STUDY, *settings), 1)
    assert list(refused.value.messages) == [message]


def test_a_cell_whose_guarantee_ends_before_the_run_is_refused_before_anything_is_run(tmp_path):
    text = STUDY.replace('"auditor.delta" = [0.1, 0.4]', '"auditor.audits_per_period" = [1, 2]')
    text = text.replace('["greedy", "exponential"]', '["rr"]') + "[auditor]\nhorizon = 6\n"
    with pytest.raises(
        InputError, match=r"auditor.audits_per_period = 2: auditor.horizon = 6: less than the 10"
    ):
        BatchPlan.of(study(tmp_path, text), 1)
