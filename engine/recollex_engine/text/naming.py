"""How do names become entities? When two are one, and who says what they are."""

from dataclasses import dataclass

from recollex_engine.text.entity_table import EntityRule, check_entity_rule
from recollex_engine.text.spacy_types import TypedBy, check_typed_by


@dataclass(frozen=True, slots=True)
class Naming:
    """rule: of new agents, see `entity_table`. typed_by: see `spacy_types`. Raises `InputError`."""

    rule: EntityRule = "alike"
    typed_by: TypedBy = "rule"

    def __post_init__(self) -> None:
        check_entity_rule(self.rule)
        check_typed_by(self.typed_by)
