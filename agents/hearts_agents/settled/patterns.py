"""The table of dominated choices: each pattern by name, with the reason why the choice is worse than another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from hearts_agents.settled.by_the_book import bonus_patterns, partner_patterns, queen_patterns
from hearts_agents.settled.ending import ending_patterns
from hearts_agents.settled.last_points import last_points_patterns
from hearts_agents.settled.moon_choice import moon_patterns
from hearts_agents.settled.touching import touching_patterns
from hearts_env.cards import Sets
from hearts_env.game.view import View

Grounds = Literal["proof", "exchange", "book"]
"""Bounds that hold whatever the hidden cards are; equal cards exchanged; or what every book says."""


@dataclass(frozen=True)
class Pattern:
    """A kind of choice that another one dominates."""

    family: str
    grounds: Grounds
    reason: str
    """Which choice is dominated, and why, in a sentence."""


FAMILIES: dict[str, Callable[[View], dict[str, Sets]]] = {
    "moon choice": moon_patterns,
    "last points": last_points_patterns,
    "ending": ending_patterns,
    "touching cards": touching_patterns,
    "bonus card": bonus_patterns,
    "partner": partner_patterns,
    "queen": queen_patterns,
}
"""The function of each family that finds the dominated actions of its patterns: by name, int64 [N] each."""

PATTERNS: dict[str, Pattern] = {
    "moon_add_wins": Pattern("moon choice", "proof", "Subtracts, where adding ends the game and wins it."),
    "moon_add_loses": Pattern(
        "moon choice", "proof", "Adds, where that ends the game for another seat to win and subtracting does not."
    ),
    "game_given_away": Pattern(
        "last points",
        "proof",
        "Plays a card after which the game is lost for certain, such as points to one who reaches the target by them.",
    ),
    "game_win_declined": Pattern("last points", "proof", "Plays another card than one that ends and wins the game."),
    "own_moon_declined": Pattern("last points", "proof", "Leaves to others the last card that its own moon needs."),
    "other_moon_completed": Pattern(
        "last points", "proof", "Leaves to a seat the last card that its moon needs, and could take it."
    ),
    "large_trick_taken": Pattern(
        "last points", "proof", "Takes a trick that is worth as much as all that is left, and could leave it."
    ),
    "last_points_taken": Pattern("last points", "proof", "Takes the last points of a deal and could leave them."),
    "last_points_to_partner": Pattern(
        "last points", "proof", "Lets its partner have the last points, where another card keeps them from its side."
    ),
    "last_bonus_declined": Pattern("last points", "proof", "Leaves to others a bonus card that settles the deal."),
    "last_bonus_given": Pattern(
        "last points", "proof", "Throws the bonus card on a trick of others, when no other points are left to fear."
    ),
    "last_penalty_kept": Pattern(
        "last points", "proof", "Keeps the last penalty card of the deal and could give it to an opponent."
    ),
    "last_points_other": Pattern("last points", "proof", "Any other card that another one's worst outcome matches."),
    "ending_in_a_game": Pattern(
        "ending", "proof", "With two cards left in a deal of a game, plays the one that is better in no world."
    ),
    "ending_last_to_play": Pattern(
        "ending", "proof", "With two cards left and last to play, plays the one that is better in no world."
    ),
    "ending_with_choices_behind": Pattern(
        "ending", "proof", "The worst of the one card is never below the best of the other, whatever those behind do."
    ),
    "touching_bonus": Pattern(
        "touching cards", "exchange", "Of cards that take the same tricks, keeps (or throws away) the bonus card."
    ),
    "touching_penalty_taken": Pattern(
        "touching cards", "exchange", "Takes a trick with more points than a touching card would add."
    ),
    "touching_penalty_given": Pattern(
        "touching cards", "exchange", "Gives an opponent fewer points than with a touching card."
    ),
    "free_bonus_not_played": Pattern(
        "bonus card", "book", "Last to play, does not take a trick without penalty cards with the bonus card."
    ),
    "free_bonus_not_taken": Pattern(
        "bonus card", "book", "Last to play, leaves the bonus card in a trick without penalty cards."
    ),
    "bonus_thrown_away": Pattern(
        "bonus card", "book", "Last to play, gives the bonus card to an opponent and has another losing card."
    ),
    "queen_follows_partner": Pattern("partner", "book", "Plays QS under its partner's higher spade."),
    "queen_discarded_on_partner": Pattern("partner", "book", "Throws QS on a trick of its partner."),
    "costly_spade_kept_under_higher": Pattern(
        "queen", "book", "Last to play under an opponent's higher spade, does not get rid of QS (or KS)."
    ),
    "costly_spade_kept_when_void": Pattern(
        "queen", "book", "Last to play, void, on an opponent's trick, does not get rid of QS (or KS, AS)."
    ),
    "costly_spade_wins_own_trick": Pattern(
        "queen", "book", "Last to play, takes a trick with its own QS, which another card avoids."
    ),
    "large_trick_taken_last": Pattern(
        "queen", "book", "Last to play, takes a trick of 13 points or more that it could leave to an opponent."
    ),
    "queen_led_alone": Pattern("queen", "book", "Leads QS when no other hand can beat her."),
}
"""Every pattern by its name.  Those of the moon are for seats that cannot shoot one unless the name says so."""


def dominated_choices(view: View) -> dict[str, Sets]:
    """The dominated actions by the name of each of PATTERNS, int64 [N] each; 0 where there is none."""
    return {name: sets for find in FAMILIES.values() for name, sets in find(view).items()}
