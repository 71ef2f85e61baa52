"""`hearts deal`: the hands of deal ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import tyro

from hearts_cli.arguments import RulesText


@dataclass(frozen=True)
class ShowDeal:
    """Print the hands of deal ids: the same id gives the same hands everywhere."""

    ids: Annotated[tyro.conf.Positional[tuple[int, ...]], tyro.conf.arg(metavar="ID ...")]
    """Deal ids, whole numbers from 0 to 2**63 - 1."""
    rules: RulesText = "standard"

    def run(self) -> int:
        """Print the hands of each deal id, with an empty line between."""
        from hearts_env.game.rules import Rules
        from hearts_env.text.notation import show_deal

        if not self.ids:
            raise ValueError("which deal? give at least one deal id, as in: hearts deal 81723")
        rules = Rules.parse(self.rules)
        print("\n\n".join(show_deal(rules, deal_id) for deal_id in self.ids))
        return 0
