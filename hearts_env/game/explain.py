"""Rules in words: the game in a paragraph, and each field that differs from the standard game with its source."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass

from hearts_env.cards import ALL_CARDS, NUM_CARDS, RANKS, show_suits
from hearts_env.game.rules import Rules
from hearts_env.game.variants import PRESETS, SOURCES

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

# What each value of a field means, and who plays so.  A value of several fields' making is a function below.
WORDS: dict[str, dict[object, tuple[str, str]]] = {
    "first_leader": {
        "lowest_club": ("the holder of the lowest club in any hand leads first", "SC, GR"),
        "left_of_dealer": ("the seat left of the dealer leads first", "PA"),
    },
    "first_lead": {
        "forced": ("leads that very card", "SC, GR"),
        "any_club": ("leads any club", "OS"),
        "any": ("leads anything but an unbroken heart", "PA"),
    },
    "first_trick_points": {
        "forbidden": ("no penalty card may be discarded on the first trick from a hand that has others", "SC, MS"),
        "allowed": ("penalty cards may be discarded on the first trick too", "GR, PG, HG"),
    },
    "first_trick_all_points": {
        "any": ("a hand of nothing but penalty cards may discard any of them there", "WC, OS"),
        "hearts": ("a hand of nothing but penalty cards must discard a heart there if it has one", "SE"),
    },
    "hearts_broken_by": {
        "heart_or_qs": ("hearts may not be led until a heart or QS has been played", "SC, YH, OS"),
        "heart": ("hearts may not be led until a heart has been played; QS does not break them", "MS, PG, GR, HG, GO"),
        "void": ("hearts may not be led until a heart has been played or any card discarded", "GR to the letter"),
        "free": ("hearts may be led at any time", "OS, an option"),
        "never": ("hearts may not be led while another suit is held, all through the deal", "GK"),
    },
    "lead_hearts_with_qs": {
        False: ("a hand of hearts and QS must lead QS while hearts are unbroken", "PG, OS"),
        True: ("a hand of hearts and QS may lead hearts unbroken", "YH, PA"),
    },
    "trump": {
        None: ("there are no trumps", "SC"),
        "H": ("hearts are trumps: the highest heart of a trick wins it", "GR"),
    },
    "scoring": {
        "standard": ("each heart is worth 1 and QS 13", "SC, GR"),
        "spot": ("hearts are worth their pips, J Q K A 11 to 14, and QS 25", "PG"),
        "black_maria": ("each heart is worth 1, QS 13, KS 10 and AS 7", "PA"),
    },
    "moon": {
        "choice": ("whoever takes every penalty card chooses: {value} to each opponent, or off the own score", "SC"),
        "add": ("if one seat takes every penalty card, each opponent gets {value} and the shooter 0", "MS, OS, HG, GR"),
        "subtract": ("whoever takes every penalty card gets {value} off the own score", "SC, as one of two choices"),
        "auto": (
            "if one seat takes every penalty card, each opponent gets {value}, unless that would end the game and "
            "the shooter not win it: then it is {value} off the own score",
            "GO",
        ),
        "none": ("taking every penalty card is worth nothing special", "PA"),
    },
    "moon_needs_bonus": {
        False: ("a moon does not need the bonus card, which counts besides", "PG, OS"),
        True: ("a moon needs the bonus card too, which then counts for nothing else", "BI"),
    },
    "teams": {
        None: ("each seat plays for itself", "SC"),
        "fixed": ("seats 0 and 2 play seats 1 and 3, and their scores add up", "WP"),
    },
    "team_moon": {
        "player": ("a moon must fall to one player", "PA, WP"),
        "team": ("the two of a side may shoot the moon together", "others, unnamed"),
    },
    "team_end": {
        "team": ("the sum of a side ends the game", "WP"),
        "player": ("the score of any one player ends the game", "PG"),
    },
    "end_strict": {
        False: ("the target need only be reached", "SC"),
        True: ("the target must be passed", "others, unnamed"),
    },
    "tie": {
        "shared": ("seats that tie for the lowest score share the win", "GO, HG"),
        "continue": ("a tie for the lowest score is broken by further deals", "PA, GR"),
    },
}


@dataclass(frozen=True)
class Difference:
    """A field in which rules differ from the standard game."""

    field: str
    value: str
    """As JSON."""
    meaning: str
    source: str
    """Tags of `variants.SOURCES`, with a word or two where they say it only in part."""
    standard: str
    """The value of the standard game, as JSON."""


def field_docs(record: type = Rules) -> dict[str, str]:
    """The text under each field of Rules, or of another dataclass, by its name."""
    body = ast.parse(inspect.getsource(record)).body[0]
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            docs[field.target.id] = " ".join(str(text.value.value).split())
    return docs


def differences(rules: Rules) -> list[Difference]:
    """Every field whose value is not that of the standard four-player game, or not that of the player count."""
    standard, changed = Rules(), rules.changes()
    result = []
    for field in dataclasses.fields(Rules):
        name = field.name
        value = changed.get(name, getattr(rules, name))
        if name in changed or value != getattr(standard, name):
            meaning, source = meaning_of(rules, name)
            plain = json.dumps(getattr(standard, name))
            result.append(Difference(name, json.dumps(value), meaning, source, plain))
    return result


def meaning_of(rules: Rules, field: str) -> tuple[str, str]:
    """The meaning of a field's value in these rules, in words, and the sources that play so."""
    value = getattr(rules, field)
    if field in WORDS and not isinstance(value, tuple) and value in WORDS[field]:
        words, source = WORDS[field][value]
        return words.format(value=_moon_value(rules)), source
    if field not in _MEANINGS:
        return _answer(field, value)
    return _MEANINGS[field](rules)


def _answer(field: str, value: bool) -> tuple[str, str]:
    """The meaning of a field that has no words here, from the question that its text under Rules asks.

    That reads: a question?  Yes: who plays so.  No: who does not.
    """
    answer = "Yes" if value else "No"
    question, _, answers = field_docs()[field].partition("? ")
    source = answers.partition(f"{answer}: ")[2].partition(". ")[0].rstrip(".")
    return f"{question[0].lower()}{question[1:]}? {answer.lower()}", source


def _answers(rules: Rules) -> list[str]:
    """A sentence for each field without words of its own here that has not its default."""
    unsaid = [name for name in rules.changes() if name not in WORDS and name not in _MEANINGS]
    return [meaning_of(rules, name)[0] for name in unsaid]


def paragraph(rules: Rules) -> str:
    """The game that the rules say, in a few sentences."""
    parts = (_cards(rules), _passing(rules), _leading(rules), _following(rules), _hearts(rules), _points(rules))
    sentences = [sentence for part in (*parts, _moon(rules), _end(rules), _answers(rules)) for sentence in part]
    return " ".join(sentence[0].upper() + sentence[1:] + "." for sentence in sentences)


def cited(source: str) -> list[str]:
    """The tags among the words of a source, spelled out: `SC: The Spruce Crafts, ... (where)`."""
    words = source.replace(",", " ").replace(";", " ").split()
    return [f"{tag}: {SOURCES[tag].title} ({SOURCES[tag].where})" for tag in dict.fromkeys(words) if tag in SOURCES]


# -- the sentences of the paragraph, part by part ----------------------------------------------------------------------


def _cards(rules: Rules) -> list[str]:
    size = rules.hand_size * rules.num_players + rules.dead_cards
    without = f" ({_pack(rules)})" if _is_small(rules) else f" without {_pack(rules)}" if rules.removed else ""
    dead = f"; {_number(rules.dead_cards)} more are dead and never seen" if rules.dead_cards else ""
    sides = f"; {meaning_of(rules, 'teams')[0]}" if rules.teams else ""
    return [f"{_number(rules.num_players)} players, {size} cards{without}, {rules.hand_size} each{dead}{sides}"]


def _pack(rules: Rules) -> str:
    """The cards left out, or of a small pack the cards that are in: whole ranks as such, in a short list."""
    removed = rules.removed
    if _is_small(rules):
        return show_suits(ALL_CARDS & ~rules.removed_set)
    ranks = [rank for rank in RANKS if sum(name[0] == rank for name in removed) == len("CDHS")]
    others = [name for name in removed if name[0] not in ranks]
    return " ".join([*([f"all {' '.join(ranks)}"] if ranks else []), *(["and"] if ranks and others else []), *others])


def _pack_side(rules: Rules) -> str:
    return "cards in" if _is_small(rules) else "left out of"


def _is_small(rules: Rules) -> bool:
    """Is it shorter to name the cards of the pack than those that are not in it?"""
    return len(rules.removed) >= NUM_CARDS // 2


def _passing(rules: Rules) -> list[str]:
    if rules.pass_count == 0 or not any(rules.pass_cycle):
        return ["nobody passes cards"]
    return [f"each player first passes {_count(rules.pass_count, 'card')}: {_directions(rules)}"]


def _directions(rules: Rules) -> str:
    seats = rules.num_players
    names = {0: "no pass", 1: "left", seats - 1: "right"}
    if seats % 2 == 0 and seats > 2:
        names[seats // 2] = "across"
    if seats == 2:
        names[1] = "to the other"
    ways = [names.get(offset, f"{_number(offset)} seats to the left") for offset in rules.pass_cycle]
    return f"always {ways[0]}" if len(ways) == 1 else f"{', '.join(ways)}, deal by deal"


def _leading(rules: Rules) -> list[str]:
    leader, lead = meaning_of(rules, "first_leader")[0], meaning_of(rules, "first_lead")[0]
    if rules.first_leader == "lowest_club":
        return [leader.replace("leads first", lead) + " to the first trick"]
    return [leader]


def _following(rules: Rules) -> list[str]:
    sentences = ["the suit led must be followed; a seat without it discards what it likes"]
    sentences.append(meaning_of(rules, "first_trick_points")[0])
    if rules.first_trick_points == "forbidden":
        sentences.append(meaning_of(rules, "first_trick_all_points")[0])
    if rules.trump:
        return [*sentences, meaning_of(rules, "trump")[0], "the winner of a trick leads the next"]
    return [*sentences, "the highest card of the suit led wins the trick and leads the next"]


def _hearts(rules: Rules) -> list[str]:
    if rules.hearts_broken_by == "free":
        return [meaning_of(rules, "hearts_broken_by")[0]]
    queen = [meaning_of(rules, "lead_hearts_with_qs")[0]] if rules.lead_hearts_with_qs else []
    return [f"{meaning_of(rules, 'hearts_broken_by')[0]}; a hand of hearts may lead one", *queen]


def _points(rules: Rules) -> list[str]:
    bonus = [meaning_of(rules, "bonus_card")[0]] if rules.bonus_card else []
    return [meaning_of(rules, "scoring")[0], *bonus, *_if(rules, "no_tricks_bonus")]


def _moon(rules: Rules) -> list[str]:
    sentences = [meaning_of(rules, "moon")[0]]
    if rules.moon == "none":
        return sentences
    if rules.bonus_card:
        sentences.append(meaning_of(rules, "moon_needs_bonus")[0])
    team = [meaning_of(rules, "team_moon")[0]] if rules.teams else []
    return [*sentences, *team, *_if(rules, "sun_value")]


def _end(rules: Rules) -> list[str]:
    whose = {True: "the sum of a side", False: "a score"}[rules.teams is not None and rules.team_end == "team"]
    verb = "passes" if rules.end_strict else "reaches"
    sides = "side" if rules.teams else "score"
    return [
        f"the game ends when {whose} {verb} {rules.target}; the lowest {sides} wins",
        *_if(rules, "exact_reset"),
        meaning_of(rules, "tie")[0].replace("seats that tie", "sides that tie" if rules.teams else "players that tie"),
    ]


def _if(rules: Rules, field: str) -> list[str]:
    return [meaning_of(rules, field)[0]] if getattr(rules, field) else []


# -- the fields whose value is a number or a list ----------------------------------------------------------------------


def _scoring_words(rules: Rules) -> str:
    pairs = [f"{name} is worth {points}" for name, points in rules.card_points]
    return ", ".join(pairs) or "no card is worth a point"


def _penalty_points(rules: Rules) -> int:
    return sum(points for _, points in rules.card_points if points > 0)


def _moon_value(rules: Rules) -> str:
    if rules.moon_value is None:
        return str(_penalty_points(rules))
    return "the penalty points not dead" if rules.moon_value == "available" else str(rules.moon_value)


def _exact_words(rules: Rules) -> str:
    if rules.exact_reset is None:
        return "a score of exactly the target is like any other"
    return f"a score of exactly {rules.target} goes back to {rules.exact_reset}"


def _cycle_source(rules: Rules) -> str:
    if rules.pass_cycle == Rules(num_players=rules.num_players).pass_cycle:
        return "GR" if rules.num_players == 2 else "SC"
    always_right = rules.pass_cycle == (rules.num_players - 1,) and rules.num_players > 2
    return (
        "PA, GK"
        if always_right
        else {(1, 0): "FB", (1,): "SM", (1, 2, 0): "wlux_test_site"}.get(rules.pass_cycle, "none known")
    )


_SMALL = [preset for preset in PRESETS.values() if preset.source == "SM"]


def _deck_source(rules: Rules) -> str:
    known = {"seed": "SC, GR", "morehead": "HG", **{str(one.fields.get("deck")): "SM" for one in _SMALL}}
    return known.get(str(rules.deck), "a pack of your own")


_MEANINGS: dict[str, Callable[[Rules], tuple[str, str]]] = {
    "num_players": lambda rules: (
        f"{_number(rules.num_players)} players, {rules.hand_size} cards each",
        "GR" if rules.num_players == 2 else "SC",
    ),
    "deck": lambda rules: (f"{_pack_side(rules)} the pack: {_pack(rules) or 'nothing'}", _deck_source(rules)),
    "dead_cards": lambda rules: (f"{_count(rules.dead_cards, 'card')} dealt to nobody and never shown", "GR"),
    "pass_count": lambda rules: (
        f"each player passes {_count(rules.pass_count, 'card')}",
        {0: "GR, HG", 1: "FB, SM", 2: "t_games", 3: "SC", 4: "PA"}.get(rules.pass_count, "none known"),
    ),
    "pass_cycle": lambda rules: (f"passing: {_directions(rules)}", _cycle_source(rules)),
    "scoring": lambda rules: (_scoring_words(rules), "a scoring of your own"),
    "bonus_card": lambda rules: (
        f"{rules.bonus_card} adds {rules.bonus_points} to its taker's score" if rules.bonus_card else "no bonus card",
        {"JD": "PG, OS", "TD": "BI"}.get(str(rules.bonus_card), "SC"),
    ),
    "bonus_points": lambda rules: (f"what the bonus card adds: {rules.bonus_points}", "PG, BI, OS: -10"),
    "no_tricks_bonus": lambda rules: (
        f"a seat without a trick gets {rules.no_tricks_bonus}, in a deal without a moon",
        "OS: -5, an option",
    ),
    "moon_value": lambda rules: (f"a moon is worth {_moon_value(rules)}", "SC: 26; GR: 20; FB: either for two"),
    "sun_value": lambda rules: (f"a moon with every trick is worth {rules.sun_value} more", "WC, the amount unsaid"),
    "target": lambda rules: (
        f"the game goes to {rules.target}",
        {50: "SC, a good minimum", 100: "SC, GR", 200: "WP", 500: "dreamanalyze.me"}.get(rules.target, "SC: as agreed"),
    ),
    "exact_reset": lambda rules: (_exact_words(rules), "GO"),
}


def _number(value: int) -> str:
    return NUMBERS[value] if 0 <= value < len(NUMBERS) else str(value)


def _count(value: int, noun: str) -> str:
    return f"{_number(value)} {noun}{'' if value == 1 else 's'}"
