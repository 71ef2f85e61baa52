"""The rule sources as data: the texts, the named variants, and the points on which sources differ.

Nothing here is code of the game: `rules` makes Rules of the variants, `explain` and docs/build.py put them in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Source:
    """A rules text: what it is, and where it was read."""

    title: str
    where: str


SOURCES: Final[dict[str, Source]] = {
    "SC": Source("The Spruce Crafts, Hearts for three to seven players", "copies of the page on other sites"),
    "GR": Source("gamerules.com, 2-player Hearts", "gamerules.com/rules/2-player-hearts"),
    "FB": Source("Final Boss, 2-player Hearts, questions and answers", "finalbosscardgame.com"),
    "PG": Source("pagat.com, Hearts", "copies of the page on other sites"),
    "PA": Source("Parlett, The Penguin Book of Card Games", "the chapter on Hearts"),
    "YH": Source("Yahoo Games, Hearts", "games.yahoo.com/help/rules/he"),
    "BI": Source("Bicycle, Hearts and Omnibus Hearts", "bicyclecards.com"),
    "MS": Source("Windows Hearts", "its help text, as quoted by others"),
    "WC": Source("World of Card Games, Hearts", "worldofcardgames.com, as quoted by others"),
    "GO": Source("Jeff Goldsmith, My Favorite Rules for Hearts", "jeff-goldsmith.com/games/hearts.html"),
    "OS": Source("OpenSpiel", "open_spiel/games/hearts, and the program itself"),
    "HG": Source("hearts-gym", "github.com/HelmholtzAI-FZJ/hearts-gym"),
    "WP": Source("Wikipedia, Partner hearts", "a copy of the article"),
    "GK": Source("Greek Hearts and Koupes", "thanoscardgames.jimdofree.com, pokerwiner.com"),
    "SE": Source("SerenityOS Hearts", "github.com/SerenityOS/serenity, Userland/Games/Hearts"),
    "SM": Source("Small Hearts, packs of this library for exact algorithms", "docs/small_hearts.md"),
}
"""Every source by its tag, as docstrings, presets and readings cite it."""


@dataclass(frozen=True)
class Preset:
    """A named variant: the fields that differ, the tags of its sources, one line on it, and what it leaves out."""

    fields: Mapping[str, Any]
    source: str
    summary: str
    note: str = ""


PRESETS: Final[dict[str, Preset]] = {
    "standard": Preset({}, "SC", "four players, pass left, right, across, hold; the shooter chooses"),
    "two_player": Preset({"num_players": 2}, "GR", "28 cards, hearts are trumps, two dead cards, no pass"),
    "two_player_pass": Preset(
        {"num_players": 2, "pass_count": 1, "pass_cycle": [1, 0]},
        "FB",
        "two players who exchange one card every other deal",
    ),
    "three": Preset({"num_players": 3}, "SC", "three players, 17 cards each"),
    "four": Preset({"num_players": 4}, "SC", "the standard game by its player count"),
    "five": Preset({"num_players": 5}, "SC", "five players, 10 cards each"),
    "six": Preset({"num_players": 6}, "SC", "six players, 8 cards each"),
    "seven": Preset({"num_players": 7}, "SC", "seven players, 7 cards each"),
    "partnership": Preset(
        {"teams": "fixed", "moon": "add", "target": 200},
        "WP",
        "seats 0 and 2 against 1 and 3, sides to 200",
        "A moon is 26 to each opponent, so 52 to their side.",
    ),
    "partnership_pagat": Preset(
        {"teams": "fixed", "moon": "add", "team_end": "player"},
        "PG",
        "sides; a player at 100 ends the game",
        "Read in an Italian copy (vincenzotaormina.net); the sides' sums then decide.",
    ),
    "partnership_parlett": Preset(
        {"teams": "fixed", "moon": "add", "team_moon": "player"},
        "PA",
        "sides to 100; a moon must fall to one player",
        "Not covered: the form in which the winners of the first two tricks become partners.",
    ),
    "omnibus": Preset(
        {"bonus_card": "JD"},
        "PG, OS",
        "the jack of diamonds takes 10 off",
        "Whoever shoots the moon needs no JD for it; JD counts besides.",
    ),
    "omnibus_bicycle": Preset(
        {"bonus_card": "TD", "moon_needs_bonus": True},
        "BI",
        "the ten of diamonds; a moon needs all fifteen cards",
        'Bicycle counts for its shooter "26 plus instead of 16 minus"; moon="subtract" plays just that.',
    ),
    "spot": Preset(
        {"scoring": "spot", "target": 500},
        "PG",
        "hearts count their pips, the queen 25, to 500",
        "25 is as pagat is remembered; others give the queen 0, 13 or 50 points (eliters.com: and 150 for a moon, "
        "-40 for JD), some to 500: write scoring={...}, moon_value and target for another.",
    ),
    "black_maria": Preset(
        {
            "num_players": 3,
            "scoring": "black_maria",
            "pass_cycle": [-1],
            "first_leader": "left_of_dealer",
            "first_lead": "any",
            "moon": "none",
        },
        "PA",
        "three players; queen 13, king 10, ace of spades 7; always pass right; no moon",
        "Others pass left, or four, three or two cards by player count; a pack that ranks spades first isn't covered.",
    ),
    "microsoft": Preset({"hearts_broken_by": "heart", "moon": "add"}, "MS", "Windows: only a heart breaks hearts"),
    "pagat": Preset(
        {"hearts_broken_by": "heart", "first_trick_points": "allowed"},
        "PG",
        "points may fall on the first trick",
        "That the queen breaks hearts too is an option there.",
    ),
    "yahoo": Preset({"lead_hearts_with_qs": True}, "YH", "hearts may be led from hearts and the queen"),
    "openspiel": Preset(
        {"moon": "add"},
        "OS",
        "moon adds; OpenSpiel draws the pass direction at random, here it cycles",
        "Not covered: the pass direction drawn at random in each deal. Its returns are 26 minus points.",
    ),
    "hearts_gym": Preset(
        {
            "deck": "morehead",
            "pass_count": 0,
            "hearts_broken_by": "heart",
            "moon": "add",
            "first_trick_points": "allowed",
        },
        "HG",
        "no pass, points allowed on the first trick",
        "Its text bars points from the first trick, its code allows them. It plays single deals, for three to six.",
    ),
    "greek": Preset(
        {"hearts_broken_by": "never", "pass_cycle": [-1], "moon": "add"},
        "GK",
        "hearts are led only from a hand of hearts; always pass right",
        "Not covered: the queen of spades may not be led either while another card is held.",
    ),
    "koupes": Preset(
        {"hearts_broken_by": "never", "pass_count": 0, "moon": "add"},
        "GK",
        "the Greek game without passing",
        "Not covered: the queen of spades may not be led either while another card is held.",
    ),
    "goldsmith": Preset(
        {"hearts_broken_by": "heart", "moon": "auto", "exact_reset": 50},
        "GO",
        "moon adds unless that loses the game; a score of exactly 100 goes back to 50",
        "Covered as far as the fields go: his other rules are not claimed.",
    ),
    "morehead": Preset(
        {"num_players": 3, "deck": "morehead"},
        "HG",
        "three players without 2C, so that 3C leads; for five or six add num_players",
        "Also at blu-con.com. Five leave out 2C 2D, six 2C 3C 2D 2S.",
    ),
    "old_moon": Preset({"moon": "add"}, "MS, OS, HG", "a moon is always 26 to each of the others"),
    "new_moon": Preset(
        {"moon": "subtract"},
        "SC",
        "a moon is always 26 off the shooter's score",
        "Half of the standard choice; the name is from bcnvisualsound.org.",
    ),
    "fifty": Preset({"target": 50}, "SC", "the standard game to 50, a good minimum"),
    "no_pass": Preset({"pass_count": 0}, "SC", "the standard game without passing"),
    "small_two": Preset(
        {"num_players": 2, "deck": "C246 H68A SQA"}, "SM", "two players, eight cards, two of them dead"
    ),
    "small_two_pass": Preset(
        {"num_players": 2, "deck": "C246 H68A SQA", "pass_count": 1, "pass_cycle": [1]}, "SM", "the same with a pass"
    ),
    "small_two_ten": Preset({"num_players": 2, "deck": "C246 H468A SQKA"}, "SM", "two players, ten cards, two dead"),
    "small_three": Preset(
        {"num_players": 3, "deck": "C234 H234 SJQK", "pass_count": 0}, "SM", "three players, nine cards, no pass"
    ),
    "small_three_pass": Preset(
        {"num_players": 3, "deck": "C234 H234 SJQK", "pass_count": 1, "pass_cycle": [1]},
        "SM",
        "three players, nine cards, each passes one to the left",
    ),
    "small_four": Preset({"deck": "C23 D2 H23 SJQK", "pass_count": 0}, "SM", "four players, eight cards, no pass"),
    "small_four_twenty": Preset(
        {"deck": "C23456 D2345 H23456 S9TJQKA", "pass_count": 1, "pass_cycle": [1]},
        "SM",
        "four players, twenty cards, each passes one to the left: for algorithms that sample",
    ),
}
"""Named variants: what each changes and where it comes from."""


@dataclass(frozen=True)
class Way:
    """One reading of a point, who reads it so, and the fields that select it: {} by default, None if not covered."""

    says: str
    sources: str
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Reading:
    """A point on which sources differ or are silent."""

    point: str
    ways: tuple[Way, ...]
    """The default first."""
    num_players: int = 4
    """The player count that the fields of the ways are added to."""
    base: Mapping[str, Any] | None = None
    """Fields without which the point does not arise."""


READINGS: Final[tuple[Reading, ...]] = (
    Reading(
        "five players: who opens, 2C being out",
        (
            Way("the holder of 3C, the lowest club in play", "SC, by its rule for three players", {}),
            Way("2C stays in, 2D and 2S are out", "TabletopGames", {"deck": ["2D", "2S"]}),
        ),
        num_players=5,
    ),
    Reading(
        '"3C leads in a 3-player game"',
        (
            Way("2C leads: the pack of the same page keeps it", "SC", {}),
            Way("2C is out of the pack", "HG", {"deck": "morehead"}),
        ),
        num_players=3,
    ),
    Reading(
        '"hearts may not be played until ..."',
        (
            Way("they may not be led", "SC", {}),
            Way("not even discarded; hearts could then never be broken", "GR to the letter"),
        ),
    ),
    Reading(
        "does QS break hearts, three and more players",
        (Way("yes", "SC, YH, OS, BI", {}), Way("no", "MS, PG, HG, GO", {"hearts_broken_by": "heart"})),
    ),
    Reading(
        "does QS break hearts, two players",
        (
            Way("no: only failing to follow suit is named", "GR", {}),
            Way("yes", "as with more players", {"hearts_broken_by": "heart_or_qs"}),
        ),
        num_players=2,
    ),
    Reading(
        'two players: broken "when a player cannot follow suit"',
        (
            Way("when a heart is then discarded", "GR read with SC", {}),
            Way("by any discard", "GR to the letter", {"hearts_broken_by": "void"}),
        ),
        num_players=2,
    ),
    Reading(
        'two players: "or has only spades left"',
        (
            Way("a slip for hearts: a hand of hearts may lead one", "PG, PA, YH, OS, HG", {}),
            Way("spades; pointless, such a hand has no heart to lead", "GR to the letter"),
        ),
        num_players=2,
    ),
    Reading(
        "two players: penalty cards on the first trick",
        (
            Way("allowed to a seat void in the led suit", "GR", {}),
            Way("barred, as with four players", "SC", {"first_trick_points": "forbidden"}),
        ),
        num_players=2,
    ),
    Reading(
        "two players: a moon while penalty cards are dead",
        (Way("20 all the same", "GR, FB", {}), Way("what is not dead", "FB", {"moon_value": "available"})),
        num_players=2,
    ),
    Reading(
        "two players: both at 100 or more",
        (
            Way("deals go on only while the scores are equal", "GR", {}),
            Way("deals go on while both are there, which has no end of its own", "GR to the letter"),
        ),
        num_players=2,
    ),
    Reading(
        "two players: passing",
        (
            Way("none", "GR", {}),
            Way("one card every other deal", "FB", {"pass_count": 1, "pass_cycle": [1, 0]}),
            Way(
                "three cards, pass and hold in turn",
                "wlux_test_site, a web game",
                {"pass_count": 3, "pass_cycle": [1, 0]},
            ),
        ),
        num_players=2,
    ),
    Reading(
        "first trick, void, nothing but penalty cards",
        (
            Way("any of them", "WC, OS", {}),
            Way("a heart if there is one", "SE", {"first_trick_all_points": "hearts"}),
            Way("no move at all", "a fault of several programs"),
        ),
    ),
    Reading(
        "lead from hearts and QS while hearts are unbroken",
        (Way("QS is forced", "PG, OS", {}), Way("hearts are free", "YH, PA", {"lead_hearts_with_qs": True})),
    ),
    Reading(
        "three players: passing",
        (
            Way("three cards left, then right", "SC", {}),
            Way("left, right, hold", "wlux_test_site, a web game", {"pass_cycle": [1, 2, 0]}),
            Way("four cards left, then right", "PA", {"pass_count": 4}),
            Way("two cards to each neighbour in one deal", "PA"),
        ),
        num_players=3,
    ),
    Reading(
        "six and seven players: cards passed",
        (Way("three", "SC", {}), Way("two", "t_games, family-games-treasurehouse.com", {"pass_count": 2})),
        num_players=6,
    ),
    Reading(
        "what a moon does",
        (
            Way("the shooter chooses", "SC", {}),
            Way("26 to each of the others", "MS, OS, HG, GR", {"moon": "add"}),
            Way("26 off the shooter's score", "bcnvisualsound.org", {"moon": "subtract"}),
            Way("to the others unless the shooter would lose by it", "GO", {"moon": "auto"}),
        ),
    ),
    Reading(
        "Omnibus: does a moon need the bonus card",
        (Way("no, it counts besides", "PG, OS", {}), Way("yes", "BI", {"moon_needs_bonus": True})),
        base={"bonus_card": "JD"},
    ),
    Reading(
        "the end: a score reaches the target, or passes it",
        (
            Way("reaches", "SC", {}),
            Way("passes", "others, unnamed", {"end_strict": True}),
        ),
    ),
    Reading(
        "exactly 100",
        (
            Way("ends the game like any score from 100 on", "SC", {}),
            Way("goes back to 50", "GO", {"exact_reset": 50}),
            Way("wins", "letsplayhearts.com"),
        ),
    ),
    Reading(
        "ties for the lowest score, three and more players",
        (Way("shared", "GO, HG", {}), Way("further deals decide", "PA", {"tie": "continue"})),
    ),
    Reading(
        "partnership: who must take all for a moon",
        (Way("one player", "PA, WP", {}), Way("the side", "others, unnamed", {"team_moon": "team"})),
        base={"teams": "fixed", "moon": "add"},
    ),
    Reading(
        "partnership: what a moon is to the other side",
        (Way("52, 26 to each", "WP", {}), Way("26 in all", "others, unnamed", {"moon_value": 13})),
        base={"teams": "fixed", "moon": "add"},
    ),
    Reading(
        "partnership: what ends the game",
        (
            Way("a side's sum at the target, which preset `partnership` puts at 200", "WP", {}),
            Way("a player's score at 100", "PG", {"team_end": "player"}),
        ),
        base={"teams": "fixed", "moon": "add"},
    ),
    Reading(
        "is the bonus card barred from the first trick",
        (Way("no: it is no penalty card", "OS", {}),),
        base={"bonus_card": "JD"},
    ),
    Reading(
        "cards that cannot be dealt evenly",
        (
            Way("low cards leave the pack", "SC", {}),
            Way("other low cards leave it", "HG", {"deck": "morehead"}),
            Way("a kitty goes to the taker of a trick", "PG, PA"),
        ),
        num_players=3,
    ),
)
"""The points on which sources differ, in the order of the game."""
