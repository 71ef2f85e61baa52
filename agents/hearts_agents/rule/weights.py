"""The numbers that the rule agent weighs its choices with."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

CHANCES = frozenset(
    (
        "willing",
        "willing_clean",
        "known_over",
        "known_both",
        "known_under",
        "guard",
        "floor",
        "low",
        "spade_guard",
        "hunt",
        "pass_partner",
    )
)
"""The weights that are chances or shares, from 0 to 1."""

LARGEST = 16
"""No weight may be larger: what they make of points and chances, in 1/1024 each, is multiplied in 32 bits."""


class WeightsError(ValueError):
    """A file that holds no weights, a name of none, or a value that a weight can't have."""


@dataclass(frozen=True)
class Weights:
    """The rule agent's weights, in points of the deal unless a line says otherwise.

    The penalty cards are taken to make 26 points whatever the scoring.  Raises WeightsError (a ValueError) for a weight
    out of its range, see `limits`.
    """

    willing: float = 0.186
    """Chance that a seat that could duck takes the trick all the same, where the trick holds a penalty card."""
    willing_clean: float = 0.191
    """Chance that a seat that could duck takes the trick all the same, where the trick holds none."""
    known_over: float = 0.614
    """Chance that the receiver of the pass doesn't beat a card that it is known to be able to beat."""
    known_both: float = 0.381
    """Chance that the receiver doesn't beat a card that it is known to be able to beat and to duck."""
    known_under: float = 0.822
    """Chance that the receiver doesn't beat a card that it is only known to be able to duck."""
    give: float = 0.407
    """Worth of putting one point on somebody else, in points."""
    tempo: float = 0.435
    """Cost of winning a trick, that is of having to lead."""
    dump_queen: float = 2.04
    """How much it counts that a void seat may discard the queen; 1 would be its bare expectation."""
    dump_known: float = 1.97
    """How much it counts that the receiver of the pass may discard the queen that it is known to hold."""
    dump_small: float = 0.626
    """How much it counts that a void seat may discard another penalty card."""
    catch: float = 2.21
    """How much it counts that a later seat may play the queen under a higher spade."""
    shed: float = 1.97
    """Worth of getting rid of a card of clubs or diamonds that is sure to win one trick too many."""
    shed_heart: float = 2.23
    """Worth of getting rid of a heart that is sure to win one trick too many."""
    shed_spade: float = 1.87
    """Worth of getting rid of a spade that is sure to win one trick too many."""
    low: float = 0.393
    """Worth of keeping a card that loses to everything, relative to these."""
    guard: float = 0.12
    """How much each lower card in the suit takes off a card's danger, as a share."""
    floor: float = 0.288
    """Danger that remains when no penalty card is out, as a share."""
    spade_high: float = 2.04
    """Danger of the ace and king of spades while the queen is in another hand, with no spade below her."""
    spade_guard: float = 0.307
    """How much each spade below the queen takes off that, as a share."""
    short: float = 1.78
    """Worth of playing the only card of a suit; less by its square for longer suits."""
    queen_cover: float = 0.515
    """Worth of keeping a spade under one's own queen, of two of them."""
    queen_shed: float = 1.48
    """Worth of getting rid of one's own queen besides her points."""
    flush: float = 1.4
    """Worth of leading a spade below the queen while another hand has it."""
    flush_bare: float = 0.88
    """Cost of leading spades that guard one's own ace or king while the queen is in another hand."""
    flush_known: float = 2.96
    """Worth of a spade lead on top, where the receiver of the pass is known to hold the queen."""
    expose: float = 8.25
    """Cost of leading spades while holding the queen."""
    threat_base: float = -5.29
    """The only seat with penalty cards may shoot the moon: the log odds that it does, to begin with."""
    threat_heart: float = 0.134
    """Log odds more for each point it has but for the queen's."""
    threat_queen: float = 0.94
    """Log odds more if it has the queen."""
    threat_won: float = 0.593
    """Log odds more for each trick that it has won."""
    threat_lost: float = -0.227
    """Log odds more for each trick that others have won."""
    threat_lead: float = 1.02
    """Log odds more where it leads the trick."""
    stop: float = 3.18
    """Worth of a penalty card that breaks a moon, times its chance."""
    feed: float = 1.12
    """Cost of giving the shooter of a moon a penalty card, times its chance."""
    spread: float = 0.632
    """Worth of giving a penalty card to a third seat, times the chance of the moon."""
    keep_high: float = 0.0648
    """Worth of each rank of a card kept to stop a moon, times its chance."""
    keep_early: float = -0.494
    """Log odds more where it is a matter of what to keep, below."""
    keep_top: float = 4.0
    """Worth of holding the highest card of a suit back, times the chance of a moon."""
    keep_heart: float = 0.826
    """Worth of holding the highest heart back, on top of that, times the chance of a moon."""
    hunt: float = 0.15
    """Chance that a trick that could hold the bonus card does."""
    bonus_keep: float = 2.0
    """Worth of keeping a card that beats the bonus card."""
    pass_rank: float = 7.07
    """Passing: worth of the danger of a card of clubs or diamonds."""
    pass_rank_heart: float = 10.3
    """Passing: worth of the danger of a heart."""
    pass_rank_spade: float = 14.2
    """Passing: worth of the danger of a spade."""
    pass_low: float = 0.671
    """Passing: worth of keeping a card that loses to everything, relative to these."""
    pass_guard: float = 1.89
    """Passing: what each lower card of the suit takes off the worth of passing a card."""
    pass_guard_heart: float = 1.85
    """Passing: what each lower heart takes off the worth of passing a heart."""
    pass_void: float = 3.57
    """Passing: worth of the last card of a suit; less by its square for longer suits that the pass can empty."""
    pass_short: float = 14.3
    """Passing: worth of the last card of a suit; less by its square for longer suits that the pass can't empty."""
    pass_heart: float = -3.16
    """Passing: extra for hearts."""
    pass_heart_top: float = 0.401
    """Passing: extra for the ace of hearts, which stops moons."""
    pass_heart_king: float = 0.253
    """Passing: extra for the king of hearts."""
    pass_heart_queen: float = -0.512
    """Passing: extra for the queen of hearts."""
    pass_heart_low: float = -6.21
    """Passing: extra for hearts up to the five."""
    pass_queen: float = 6.28
    """Passing: worth of passing the queen of spades with no other spade."""
    pass_cover: float = 7.3
    """Passing: what each spade below the queen takes off the worth of passing Q, K or A."""
    pass_cover_high: float = -1.23
    """Passing: what each spade above the queen takes off the worth of passing her."""
    pass_spade_high: float = 9.19
    """Passing: worth of passing the ace or king of spades with no lower spade, besides its danger."""
    pass_spade_low: float = 9.41
    """Passing: worth of keeping a spade below the queen."""
    pass_partner: float = 0.3
    """Passing to a partner: what is left of the worth of passing a penalty card or a card above the queen."""
    drain: float = 1.26
    """Moon: cards of a suit that each opponent still has to play to a round of it."""
    moon_heart: float = 2.51
    """Moon: how much worse a lost trick in hearts is than another."""
    moon_queen: float = -0.586
    """Moon: losers that the queen in another hand counts for, without the highest spade."""
    moon_limit: float = 1.97
    """Moon: expected losers up to which it is tried."""
    moon_more: float = 3.85
    """Moon: losers more that it is tried with once all points are in, less in proportion."""
    moon_late: float = -3.09
    """Moon: losers more that it is tried with in the last trick, less in proportion."""
    moon_pass: float = 2.18
    """Moon: expected losers up to which one passes for it, the cards to pass not counted."""
    moon_lead_heart: float = 4.29
    """Moon: how much later than other suits hearts that can't lose are led, in cards of the suit."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, (least, most) = getattr(self, field.name), limits(field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
                raise WeightsError(f"{field.name} is {value!r:.40}, must be a number from {least} to {most}")


def limits(name: str) -> tuple[int, int]:
    """The least and the most that a weight of this name may be."""
    return (0, 1) if name in CHANCES else (-LARGEST, LARGEST)


def load(path: Path) -> Weights:
    """The weights of a JSON file that `hearts_arena.tune` wrote; those not named are the agent's.

    Raises WeightsError (a ValueError).
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"weights {str(path)!r:.80}: not a JSON file that can be read ({error})") from None
    known = {field.name for field in fields(Weights)}
    if not isinstance(given, dict):
        raise WeightsError(f"weights {str(path)!r:.80}: must be an object of names and numbers")
    for name in given:
        if name not in known:
            raise WeightsError(f"weights {str(path)!r:.80}: there is no weight {name!r:.40}")
    try:
        return Weights(**given)
    except WeightsError as error:
        raise WeightsError(f"weights {str(path)!r:.80}: {error}") from None
