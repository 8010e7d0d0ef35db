"""The tidy tables of a finished run: what was recorded, with names in place of numbers, and what follows from it."""

from typing import Any

import numpy as np
import pandas as pd

from ..agents.organization.retaliation import acts_on
from ..agents.ports import FloatArray, IntArray
from .model import DeniabilityModel
from .records import COLUMNS
from .world.anonymity import anonymity_sets

__all__ = ["run_tables"]


def run_tables(model: DeniabilityModel) -> dict[str, pd.DataFrame]:
    """All tables of a run by name (docs/results.md); times in audit periods.

    Parameters
    ----------
    model
        A model that has been run.
    """
    tables = {name: model.log.frame(name) for name in COLUMNS}
    candidates = _candidates(model)
    tables["incidents"] = _incidents(model, tables["audits"])
    tables["reports"] = _scored(tables["reports"], candidates, tables["audits"])
    tables["candidates"] = candidates
    n_compartments = model.access.n_compartments_of(model.population.n_slots)
    tables["people"] = model.population.frame(n_compartments, model.layout.employee_ids())
    tables["access"] = _access(model)
    tables["compartments"] = anonymity_sets(model.access, model.layout)
    tables["audits"].insert(2, "lab", model.layout.lab_of_target[tables["audits"]["target"].to_numpy()])
    return {name: _named(table, model) for name, table in tables.items()}


def _named(table: pd.DataFrame, model: DeniabilityModel) -> pd.DataFrame:
    """Lab and target numbers become names."""
    for column, names in (("lab", model.layout.lab_names), ("target", model.layout.target_names)):
        if column in table and pd.api.types.is_integer_dtype(table[column].dtype):
            table[column] = pd.Series(np.asarray(names, dtype=object)[table[column].to_numpy()], dtype="str")
    return table


def _first_audit(audits: pd.DataFrame, target: IntArray, from_decision: IntArray) -> FloatArray:
    """Time of the first audit of each `target` at or after each `from_decision`; NaN if there is none."""
    result = np.full(len(target), np.nan)
    decisions, audited = audits["decision"].to_numpy(), audits["target"].to_numpy()
    for one in np.unique(target):
        times = decisions[audited == one]
        rows = np.flatnonzero(target == one)
        position = np.searchsorted(times, from_decision[rows], side="left")
        known = position < len(times)
        result[rows[known]] = times[position[known]]
    return result


def _incidents(model: DeniabilityModel, audits: pd.DataFrame) -> pd.DataFrame:
    weeks, end = model.period_weeks, float(model.config.time.periods)
    incidents = [i for i in model.incidents if i.happened]
    table = pd.DataFrame(
        {
            "incident": np.array([i.incident for i in incidents], dtype=np.int64),
            "time": np.array([i.time for i in incidents], dtype=np.float64),
            "lab": np.array([i.lab for i in incidents], dtype=np.int64),
            "target": np.array([i.target for i in incidents], dtype=np.int64),
            "compartment": np.array([i.compartment for i in incidents], dtype=np.int64),
            "severity": np.array([i.severity for i in incidents], dtype=np.float64),
            "anonymity_set": np.array([i.anonymity_set for i in incidents], dtype=np.int64),
            "notices": np.array([i.n_notices for i in incidents], dtype=np.int64),
            "reports": np.array([i.n_reports for i in incidents], dtype=np.int64),
            "found_time": np.array([i.found_time for i in incidents], dtype=np.float64),
        }
    )
    found = table["found_time"]
    table.insert(9, "status", pd.Series(np.where(found.isna(), "open", "found"), dtype="str"))
    first_decision = np.ceil(table["time"].to_numpy()).astype(np.int64)
    table["first_audit_time"] = _first_audit(audits, table["target"].to_numpy(), first_decision)
    table["harm"] = table["severity"] * (found.fillna(end) - table["time"]) * weeks
    return table


def _candidates(model: DeniabilityModel) -> pd.DataFrame:
    """Everyone with access to each incident, with the decision at which the report first counted or would have."""
    happened = [i for i in model.incidents if i.happened]
    sizes = [i.anonymity_set for i in happened]

    def joined(parts: list[np.ndarray], kind: type) -> np.ndarray:
        return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)

    candidate = joined([i.candidate for i in happened], np.int64)
    log_ratio = model.meter.log_likelihood_ratios(candidate)
    log_ratio[candidate < 0] = np.nan
    with np.errstate(over="ignore"):
        ratio = np.exp(log_ratio)
    lab = np.repeat(np.array([i.lab for i in happened], dtype=np.int64), sizes)
    prior = np.array([o.policy.prior for o in model.organizations])[lab]
    posterior = _posterior(prior, ratio)
    return pd.DataFrame(
        {
            "incident": np.repeat(np.array([i.incident for i in happened], dtype=np.int64), sizes),
            "person": joined([i.people for i in happened], np.int64),
            "lab": lab,
            "target": np.repeat(np.array([i.target for i in happened], dtype=np.int64), sizes),
            "period": joined([i.due_period for i in happened], np.int64),
            "filed": joined([i.filed for i in happened], np.bool_),
            "likelihood_ratio": ratio,
            "strong_posterior": posterior,
            "strong_identified": _passed(posterior, lab, model),
        }
    )


def _posterior(prior: FloatArray, ratio: FloatArray) -> FloatArray:
    """Bayes' rule; an infinite ratio is certainty."""
    with np.errstate(invalid="ignore"):
        posterior = prior * ratio / (prior * ratio + 1.0 - prior)
    return np.where(np.isposinf(ratio), 1.0, posterior)


def _scored(reports: pd.DataFrame, candidates: pd.DataFrame, audits: pd.DataFrame) -> pd.DataFrame:
    reports = reports.copy()
    reports["audited_time"] = _first_audit(audits, reports["target"].to_numpy(), reports["period"].to_numpy())
    columns = ["incident", "person", "likelihood_ratio", "strong_posterior", "strong_identified"]
    scores = candidates.loc[candidates["filed"], columns]
    # what is scored is the first report about an incident; outside reports are about none
    scores = scores.assign(repeat=np.int64(0))
    return reports.merge(scores, how="left", on=["incident", "person", "repeat"], validate="many_to_one")


def _passed(posterior: FloatArray, lab: IntArray, model: DeniabilityModel) -> Any:
    """Whether the lab, as it is at the end, acts on the posterior; missing where there is none."""
    passed = pd.array(np.zeros(len(posterior), dtype=np.bool_), dtype="boolean")
    for organization in model.organizations:
        rows = np.flatnonzero(lab == organization.lab)
        passed[rows] = acts_on(posterior[rows], organization.policy)
    passed[np.isnan(posterior)] = pd.NA
    return passed


def _access(model: DeniabilityModel) -> pd.DataFrame:
    access, sizes = model.access, [len(m) for m in model.access.members]
    return pd.DataFrame(
        {
            "person": np.concatenate([np.zeros(0, dtype=np.int64), *access.members]),
            "lab": np.repeat(access.lab, sizes),
            "target": np.repeat(access.target, sizes),
            "compartment": np.repeat(np.arange(access.n_compartments), sizes),
        }
    )
