"""Labs that suspect everybody: whose prior alone is enough to believe a person identified."""

from collections.abc import Iterator

from .loading import ResolvedScenario
from .paths import render_path
from .schema import Organizations
from .wording import written

__all__ = ["suspects_everybody", "suspicion_warnings"]


def suspects_everybody(policy: Organizations) -> bool:
    """Whether a lab acts against everybody with access before it has read anything of the transcript.

    >>> suspects_everybody(Organizations(prior=0.3, threshold=0.3))
    True
    >>> suspects_everybody(Organizations(prior=0.3, threshold=0.5))
    False
    """
    if policy.criterion == "expected-gain":
        return policy.prior * policy.gain > (1.0 - policy.prior) * policy.cost
    return policy.prior >= policy.threshold


def suspicion_warnings(resolved: ResolvedScenario) -> list[str]:
    """One warning for each setting of `[organizations]`, or of a lab's own, under which everybody is suspected.

    What only a sweep or a change in the middle of a run sets is not looked at.
    """
    return list(dict.fromkeys(_warnings(resolved)))


def _warnings(resolved: ResolvedScenario) -> Iterator[str]:
    config = resolved.config
    parents = {"default", *resolved.parents}
    for lab, about in config.labs.items():
        policy = config.organization_of(lab)
        if not suspects_everybody(policy):
            continue
        keys = ("prior", "threshold") if policy.criterion == "threshold" else ("prior", "gain", "cost")
        paths = [
            render_path(
                ("labs", lab, "organization", key) if key in about.organization else ("organizations", key)
            )
            for key in keys
        ]
        values = [f"{path} = {written(getattr(policy, key))}" for path, key in zip(paths, keys, strict=True)]
        origins = [origin for path in reversed(paths) if (origin := resolved.origins.get(path))]
        own = [
            origin for origin in origins if origin.file not in parents
        ]  # the file is its reader's to change
        place = next(iter([*own, *origins]), resolved.source or config.scenario.name)
        reason = (
            f"{values[1]} is at or below {values[0]}"
            if policy.criterion == "threshold"
            else f"{values[0]} is enough to expect a gain from {values[1]} and {values[2]}"
        )
        yield f"{place}: warning: {reason}: everybody with access is suspected without any evidence"
