"""A table that overrides some keys of another table, checked by that table's own rules."""

from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from .base import Table

__all__ = ["OverridesOf"]


@dataclass(frozen=True)
class OverridesOf:
    """Marks a mapping whose keys and values must be keys and values of `model`.

    Only the keys that are set are kept, with the values that the model gives them (3 becomes 3.0 in a float field).
    """

    model: type[Table]

    def check(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the overrides as the model understands them."""
        parsed = self.model.model_validate(values)
        return {name: getattr(parsed, name) for name in values}

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # an error inside the model's own validation keeps its place below this key
        return core_schema.no_info_after_validator_function(
            self.check, core_schema.dict_schema(core_schema.str_schema(strict=True), strict=True)
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        full = handler.resolve_ref_schema(handler(self.model.__pydantic_core_schema__))
        properties = {
            name: {key: value for key, value in field.items() if key != "default"}
            for name, field in full["properties"].items()
        }
        return {"type": "object", "properties": properties, "additionalProperties": False}
