"""What every table of a scenario file has in common: strict, frozen, and every parameter explained."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

__all__ = [
    "FILE_UNIT",
    "FilePath",
    "Identifier",
    "Number",
    "Probability",
    "RegistryName",
    "Table",
    "Text",
    "Whole",
    "YesNo",
    "each_once",
    "parameter",
]

KEBAB = r"^[a-z0-9]+(-[a-z0-9]+)*$"
REGISTRY_NAME = r"^[a-z0-9]+([_-][a-z0-9]+)*$"

type Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
"""A finite number. Whole numbers are taken too; text and booleans are not."""

type Probability = Annotated[float, Strict(), Field(allow_inf_nan=False, ge=0.0, le=1.0)]
"""A number from 0 to 1, both included."""

type Whole = Annotated[int, Strict()]
"""A whole number, written without a decimal point."""

type YesNo = Annotated[bool, Strict()]
"""true or false, and nothing that merely resembles it."""

type Text = Annotated[str, Strict()]
"""Text."""

type FilePath = Annotated[str, Strict(), Field(max_length=4096)]
"""The path of a file that belongs to the scenario; empty for none."""

FILE_UNIT = "file"
"""Unit of a parameter that names a file: its path is made absolute, and its content counts, not its name."""

type Identifier = Annotated[str, Strict(), Field(pattern=KEBAB, max_length=64)]
"""A name that can stand in a dotted path and in a file name: lower-case letters, digits, single hyphens."""

type RegistryName = Annotated[str, Strict(), Field(pattern=REGISTRY_NAME, max_length=64)]
"""The id of a mechanism, counter, rule or generator. Which ones exist is known to the layers above."""


class Table(BaseModel):
    """A table of a scenario file: unknown keys are refused, and nothing can be changed once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False)


def parameter(default: Any, description: str, unit: str, **bounds: Any) -> Any:
    """Declare one parameter.

    Parameters
    ----------
    default
        Its value where no file sets it; `...` for a parameter that every file must set.
    description
        One sentence for the reference and the JSON Schema.
    unit
        What the number counts, "none" for a choice or a name.
    **bounds
        `gt`, `ge`, `lt`, `le`, `min_length`, `max_length` as pydantic knows them.
    """
    return Field(default, description=description, json_schema_extra={"unit": unit}, **bounds)


def each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse names that stand more than once."""
    repeated = (
        sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    )
    if repeated:
        raise PydanticCustomError(
            "repeated_names", "every name once; repeated: {names}", {"names": ", ".join(repeated)}
        )
    return names
