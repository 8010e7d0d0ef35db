"""The hash that tells two scenarios apart by what happens in them, and by nothing else."""

import hashlib
import json
from typing import Any

from .linked import with_contents
from .schema import ScenarioConfig

__all__ = ["behaviour", "content_hash"]


def behaviour(config: ScenarioConfig) -> dict[str, Any]:
    """Everything that changes a run, as plain values.

    Titles, questions, evidence and sweep are left out. Labs come as a list, for their order is the order of the
    targets, and each with its full access and organization, so that it does not matter which table set a value.
    A file counts by its content, not by its name or place.

    Raises
    ------
    InputError
        A file that the scenario names cannot be read.
    """
    sections = config.model_dump(
        mode="json",
        include={"time", "auditor", "colleagues", "incidents", "employees", "reports", "changes"},
    )
    sections["labs"] = [
        {
            "id": lab_id,
            "employees": lab.employees,
            "targets": list(lab.targets),
            "access": config.access_of(lab_id).model_dump(mode="json"),
            "organization": config.organization_of(lab_id).model_dump(mode="json"),
        }
        for lab_id, lab in config.labs.items()
    ]
    return with_contents(sections)


def content_hash(config: ScenarioConfig) -> str:
    """SHA-256 of the canonical JSON of `behaviour`, in hexadecimal."""
    text = json.dumps(
        behaviour(config), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
