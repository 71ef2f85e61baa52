"""Where agents meet: `tournament` holds a duplicate tournament, `duplicate` compares one agent with others.

The names in `__all__` are public; whatever else is in this package may move without notice.
"""

from hearts_arena.duplicate_evaluation import Payoff, duplicate
from hearts_arena.run import tournament
from hearts_arena.standings import Standings
from hearts_arena.tournament_plan import TournamentError

__all__ = ["Payoff", "Standings", "TournamentError", "duplicate", "tournament"]
