"""How a lab judges and acts, as a scenario has it: its rule, its policy, and what findings tell it."""

from ...agents.organization.inference import Inference, inference
from ...agents.organization.inference.scope import ScopeEvidence
from ...scenarios import ScenarioConfig
from ...scenarios.schema import Organizations
from .layout import Layout
from .public import public_knowledge

__all__ = ["policy_of"]


def policy_of(
    scenario: ScenarioConfig, in_force: ScenarioConfig, layout: Layout, lab: str
) -> tuple[Inference, Organizations, ScopeEvidence | None]:
    """Give a lab's inference rule, fed with what is public, its policy, and how findings depend on reports.

    Parameters
    ----------
    scenario
        The scenario of the run, with its changes.
    in_force
        What of it holds now.
    layout
        Labs and targets.
    lab
        Id of the lab.
    """
    policy, auditor = in_force.organization_of(lab), in_force.auditor
    rule = inference(policy.inference)(public_knowledge(scenario, in_force, layout, lab))
    if auditor.scope == "independent":
        return rule, policy, None
    scope = ScopeEvidence(auditor.discovery_probability, auditor.unreported_discovery_factor, policy.prior)
    return rule, policy, scope
