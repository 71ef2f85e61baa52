"""Plant one wrong rule at a time in a copy of the library, and see that the tests notice.

    python tests/tools/mutants.py [--only WORD] [--jobs 2]

Prints a line a mutant: which test caught it, or that it survived.  Exits with 1 if one survives or no longer applies.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["test_cases", "test_known_mistakes", "test_rules_corners", "test_view", "test_encode", "test_notation"]
"""The tests that are about rules and take a moment: most mutants get no further."""
SLOWER = [
    *("test_perft", "test_invariants", "test_rules", "test_explain", "test_records", "test_fuzz", "test_worlds"),
    *("test_witness", "test_engine", "test_golden"),
]
"""The others about rules.  The recorded games come last: they notice any change."""
SECONDS = 900.0


@dataclass(frozen=True)
class Mutant:
    """A wrong rule: `old` becomes `new`, once, in a module of hearts_env."""

    says: str
    module: str
    old: str
    new: str


# One mutant a row, however long, so that the table can be read down.
# fmt: off
MUTANTS = [
    Mutant(*row)
    for row in (
        # -- what is legal, what breaks --------------------------------------------------------------------------------
        ("hearts may be led at any time", "rulebook", "free = broken | rules.free | empty(plain) | only_queen", "free = broken | ~broken"),
        ("a hand of hearts may not lead one", "rulebook", "rules.free | empty(plain) |", "rules.free |"),
        ("hearts and QS may always lead hearts", "rulebook", "empty(plain ^ QS_SET) & rules.queen_frees", "empty(plain ^ QS_SET)"),
        ("hearts and QS may never lead hearts", "rulebook", "empty(plain ^ QS_SET) & rules.queen_frees", "plain & 0"),
        ("any spade frees hearts as QS does", "rulebook", "empty(plain ^ QS_SET) &", "empty(plain & (plain - 1)) &"),
        ("QS may not be led before hearts are broken", "rulebook", "plain = hand & ~HEARTS", "plain = hand & ~HEARTS & ~(QS_SET & ~broken)"),
        ("no way out of the ban for a hand of penalty cards", "rulebook", "either(safe, dump) & ban", "safe & ban"),
        ("the ban holds on every trick", "rulebook", "ban = first & rules.ban", "ban = first & 0 | rules.ban"),
        ("no ban on the first trick", "rulebook", "ban = first & rules.ban", "ban = first & 0"),
        ("suit need not be followed", "rulebook", "return either(hand & led, discard)", "return hand & led | discard"),
        ("any discard breaks hearts", "rulebook", "(off_suit & rules.void_breaks)", "off_suit"),
        ("a lead or a following card cannot break hearts", "rulebook", "return ~empty(card & rules.breakers) |", "return (~empty(card & rules.breakers) & off_suit) |"),
        ("the opening card need not be led", "rulebook", "return either(hand & opening, plain | (hand & free))", "return plain | (hand & free)"),
        ("the ban ignores QS", "lookup", "            penalty=penalty,\n            ban", "            penalty=penalty & HEARTS,\n            ban"),
        ("the bonus card is barred from the first trick", "lookup", "            penalty=penalty,\n            ban", "            penalty=penalty | bonus,\n            ban"),
        ("a hand of penalty cards must always discard a heart", "lookup", 'HEARTS if rules.first_trick_all_points == "hearts" else 0', "HEARTS"),
        ("QS does not break hearts", "lookup", '"heart_or_qs": HEARTS | QS_SET', '"heart_or_qs": HEARTS'),
        ("QS breaks hearts where only a heart should", "lookup", '"heart": HEARTS,', '"heart": HEARTS | QS_SET,'),
        ('a discard does not break hearts under "void"', "lookup", '_mask(rules.hearts_broken_by == "void")', "0"),
        ("hearts break in the Greek game", "lookup", '"never": 0,', '"never": HEARTS,'),
        ("trumps do not win", "lookup", "trumps = HEARTS if trump else 0", "trumps = 0"),
        ("hearts are always trumps", "lookup", "trumps = HEARTS if trump else 0", "trumps = HEARTS"),
        ("the last heart wins a trick in trumps", "lookup", "(trumps if suit != HEARTS else 0)", "trumps"),
        ("any club may open the play", "lookup", '"forced": ALL_ONES', '"forced": CLUBS'),
        ("the seat left of the dealer must lead a club", "lookup", "        return 0\n    return {", "        return CLUBS\n    return {"),
        # -- points, moons, the end ------------------------------------------------------------------------------------
        ("a card worth less than nothing does not count in a moon", "lookup", "in points.items() if value < 0}", "in points.items() if value < -99}"),
        ("a moon never needs the bonus card", "lookup", "penalty | (sum(cards for cards, _ in bonus) if rules.moon_needs_bonus else 0)", "penalty"),
        ("the bonus card counts besides a moon that needs it", "lookup", "() if rules.moon_needs_bonus else extras", "extras"),
        ("a moon is told by the sum of points", "tally", "shot = possible & empty(needed & ~side_cards(rules, taken, seat))", "shot = possible & same(points_in(rules.points, taken[seat]), 26)"),
        ("dead penalty cards prevent a moon", "tally", "needed = cards & rules.moon_set", "needed = cards & 0 | rules.moon_set"),
        ("a deal without penalty cards is a moon", "tally", "possible = ~empty(cards & rules.penalty) & rules.moons", "possible = ~empty(cards) & rules.moons"),
        ("a seat without a trick gets its bonus in a moon too", "tally", "moved + points_in(rules.moon_extras, cards), plain", "moved + points_in(rules.moon_extras, cards) + (empty(cards) & rules.no_tricks_bonus), plain"),
        ("no bonus for a seat without a trick", "tally", "+ (empty(cards) & rules.no_tricks_bonus)", ""),
        ("the shooter's partner pays", "lookup", "side_bits=PARTNER - 1 if teams else ALL_ONES", "side_bits=ALL_ONES"),
        ("subtracting adds", "tally", "own & -value", "own & value"),
        ("adding leaves the next seat out", "tally", "~own & value", "~own & ~same(shooters, (seat + 1) % rules.num_players) & value"),
        ("the exact reset is ignored", "lookup", "resets=_mask(rules.exact_reset is not None)", "resets=0"),
        ("the exact reset happens past the target", "tally", "same(score, rules.target) & rules.resets", "~less(score, rules.target) & rules.resets"),
        ("reaching the target is enough where it must be passed", "lookup", "end=rules.target + rules.end_strict", "end=rules.target"),
        ("the target must be passed", "lookup", "end=rules.target + rules.end_strict", "end=rules.target + 1"),
        ("ties are always shared", "lookup", 'shares_ties=_mask(rules.tie == "shared")', "shares_ties=ALL_ONES"),
        ("ties are always played on", "lookup", 'shares_ties=_mask(rules.tie == "shared")', "shares_ties=0"),
        ("two partners count as a tie", "lookup", "single=PARTNER if teams else 1", "single=1"),
        ("a side's sum ends the game where a player's score should", "lookup", '_mask(rules.team_end == "team" and teams)', "_mask(teams)"),
        ("one player's score ends a game of sides", "lookup", '_mask(rules.team_end == "team" and teams)', "0"),
        ("the automatic moon always adds", "tally", "& ~wins, SUBTRACT,", "& ~wins, ADD,"),
        ("the automatic moon forgets the exact reset", "tally", "totals[seat] = reset_exact(rules, scores[seat] + totals[seat])", "totals[seat] = scores[seat] + totals[seat]"),
        ("the extra for every trick is ignored", "tally", " + (sun & rules.sun_value)", ""),
        ("every moon gets the extra for every trick", "tally", "(sun & rules.sun_value)", "rules.sun_value"),
        ("dead penalty cards count in the moon value", "lookup", 'available = rules.moon_value == "available"\n    fixed = sum(penalties.values()) if rules.moon_value is None else', "available = False\n    fixed = sum(penalties.values()) if not isinstance(rules.moon_value, int) else"),
        ('there are moons under "none"', "lookup", '_mask(rules.moon != "none")', "ALL_ONES"),
        ("the partner of the taker of QS may choose", "tally", "& _QUEEN_DECIDES", "& 0"),
        ("any team may shoot the moon together", "lookup", '_mask(rules.team_moon == "team")', "_mask(teams)"),
        ("partners do not share their score", "lookup", "sides=_mask(teams),", "sides=0,"),
        ("a score never goes below zero", "engine", "reset_exact(lookup, state.scores[rows] + points)", "reset_exact(lookup, np.maximum(state.scores[rows] + points, 0))"),
        # -- passing, leading, the course of a deal --------------------------------------------------------------------
        ("the pass goes the other way", "engine", "(np.arange(lookup.num_players) - offset[:, None])", "(np.arange(lookup.num_players) + offset[:, None])"),
        ("the pass always goes the same way", "engine", "lookup.pass_offsets[deal_no % len(lookup.pass_offsets)]", "lookup.pass_offsets[deal_no * 0]"),
        ("a card may be picked twice", "engine", "hand & ~picked, np.where", "hand, np.where"),
        ("seat 0 leads first", "engine", "leader = np.argmax(hands & opening_card(hands)[:, None], axis=1)", "leader = np.zeros(len(hands), np.int64)"),
        ("the dealer leads first", "engine", "leader = (state.deal_no[rows] + 1) % lookup.num_players", "leader = state.deal_no[rows] % lookup.num_players"),
        ("the leader wins every trick", "engine", "winner = state.best_seat[rows]", "winner = state.turn[rows]"),
        ("only the second seat is barred on the first trick", "engine", "state.count[rows] < lookup.num_players", "state.count[rows] < 2"),
        ("a void is inferred from the card and not from the suit led", "engine", "(led & 3)", "(suit & 3)"),
        ("hearts stay broken in the next deal", "engine", "        (state.broken, False),\n", ""),
        ("seat 0 makes the moon choice", "engine", "state.turn[choosing] = state.shooter[choosing]", "state.turn[choosing] = 0"),
        ("scores go on into the next game", "engine", "*= ~new_game[:, None]", "*= True"),
        ("a forced subtraction adds", "engine", 'SUBTRACT if lookup.rules.moon == "subtract" else ADD', "ADD"),
        # -- defaults and presets --------------------------------------------------------------------------------------
        ("the pass is left, across, right, hold", "rules", "return (1, 3, 2, 0)", "return (1, 2, 3, 0)"),
        ("only a heart breaks hearts by default", "rules", '"heart" if two else "heart_or_qs"', '"heart"'),
        ("the two players choose what a moon does", "rules", '"add" if two else "choice"', '"choice"'),
        ("the pack for six lacks 2C in place of 4C", "rules", '6: ("3C", "4C", "2D", "3D")', '6: ("2C", "3C", "2D", "3D")'),
        ("the hearts of Spot Hearts are worth one less", "rules", "place + 2)", "place + 1)"),
        ("one dead card too few is fine", "rules", "live % self.num_players == 0", "True"),
        ("the Greek pass goes left", "variants", '{"hearts_broken_by": "never", "pass_cycle": [-1], "moon": "add"}', '{"hearts_broken_by": "never", "pass_cycle": [1], "moon": "add"}'),
        # -- what a seat may know --------------------------------------------------------------------------------------
        ("a view leaks the picks of the others", "view", "picks=state.picks.take(here)", "picks=np.bitwise_or.reduce(state.picks, axis=1)"),
        ("cards received are seen before the pass", "view", "(state.phase == PASS) | (offset == 0)", "offset == 0"),
        ("a view shows the hand of the seat to act", "view", "hand=state.hands.take(here)", "hand=state.hands.take(begins + np.maximum(turn, 0))"),
        ("a view counts seats to the right", "view", "(seats - seats[:, None]) % num_players", "(seats[:, None] - seats) % num_players"),
        ("a view has the cards of the wrong giver", "view", "(seat - offset) % lookup.num_players", "(seat + offset) % lookup.num_players"),
        ("cards passed are thought kept after they are played", "view", "passed & ~self.played.take(at)", "passed & -1"),
        ("every viewer sees what the seat to act may do", "view", "np.where(turn == seat, actions, 0)", "actions"),
        ("cards of the current trick count as not seen", "view", "seen = self.hand | np.bitwise_or.reduce(self.played, axis=1)", "seen = self.hand | np.bitwise_or.reduce(self.taken, axis=1)"),
        # -- encodings -------------------------------------------------------------------------------------------------
        ("the steps of points are off by one", "encode", "sum((value >= step) << i", "sum((value > step) << i"),
        ("tenths of the target are rounded wrongly", "encode", "* SCORE_STEPS // target", "* SCORE_STEPS // (target + 1)"),
        ("the taker of KS counts as that of QS", "encode", "v.taken >> BLACK_MARIA & 1", "v.taken >> BLACK_MARIA + 1 & 1"),
        ("blocks that cross a word lose bits", "encode", "words[word + 1] |= bits >> (WORD_BITS - shift)", "words[word + 1] |= bits >> WORD_BITS - 1"),
        ("the encoding tells every rule flag of trumps", "encode", "rules.trump is not None", "True"),
        # -- worlds ----------------------------------------------------------------------------------------------------
        ("worlds ignore who is void", "worlds", "~void & _only(view)", "_only(view)"),
        ("worlds ignore what a forced play shows", "worlds", "~void & _only(view)", "~void"),
        ("worlds forget the cards passed", "worlds", "forced = view.known", "forced = view.known * 0"),
        ("worlds give away clubs below the opening card", "worlds", "below = CLUBS & (opening - 1)", "below = opening & 0"),
        ("worlds forget the giver's cards", "worlds", "np.where(gives, view.got, picks[rows, giver])", "picks[rows, giver]"),
        # -- text ------------------------------------------------------------------------------------------------------
        ("two seats may hold a card", "notation", "        if hand & seen:\n", "        if False:\n"),
        ("a hand may have any size", "notation", "if hand.bit_count() != info.hand_size:", "if False:"),
        ("illegal actions are replayed", "notation", "(actions != NO_CARD) & (bit(np.maximum(actions, 0)) & allowed != 0)", "actions != NO_CARD"),
        ("hands as dealt are found with the pass turned round", "notation", "(np.arange(info.num_players) - offset) % info.num_players", "(np.arange(info.num_players) + offset) % info.num_players"),
        ("cards may be passed in a hold deal", "notation", "if due == 0 and any(counts):", "if False:"),
        ("a pass may lack a card", "notation", "if number > due or not (under_way or number == due):", "if number > due:"),
        ("a position forgets its key", "notation", "    if one.key[0]:\n", "    if False:\n"),
        ("a key may stand twice in a record", "record", "if len(result) < len(pairs):", "if False:"),
        ("the dead cards of a record are not checked", "record", "if dead is not None and", "if False and"),
        ("true is a number", "record", "isinstance(value, bool) or not isinstance(value, int) or not low", "not isinstance(value, int) or not low"),
        ("a record names a choice that nobody made", "record", "if chose and state.choice[row] != NO_CARD", "if state.choice[row] != NO_CARD"),
        ("the points of a record are not compared", "replay", "if given is not None and given != found:", "if False:"),
    )
]
# fmt: on


def copy_of_the_library(folder: Path) -> None:
    """What the tests need, with the folders findable by their import names."""
    for name in ("hearts_env", "agents", "train", "benchmarks", "apps", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)


def run_tests(folder: Path) -> tuple[int, str]:
    """The exit code of the tests, and the first that failed."""
    code, by = run_files(folder, QUICK)
    return (code, by) if code else run_files(folder, SLOWER)


def run_files(folder: Path, names: list[str]) -> tuple[int, str]:
    # Without the cached bytecode, which goes by the second: two mutants may be written in one.
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "HEARTS_EXECUTOR": "numpy"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow"]
    try:
        done = subprocess.run(
            [*command, *(f"tests/{name}.py" for name in names)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 1, f"nothing: the tests did not end within {SECONDS:.0f} s"
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return done.returncode, failed[1].removeprefix("tests/") if failed else done.stdout[-300:]


def source_of(mutant: Mutant, folder: Path) -> Path:
    return folder / "hearts_env" / f"{mutant.module}.py"


def planted(mutant: Mutant, text: str) -> str:
    """The module with the bug.  Raises ValueError unless what it replaces stands there exactly once."""
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.old!r} stands {text.count(mutant.old)} times in {mutant.module}.py")
    return text.replace(mutant.old, mutant.new)


def try_mutant(mutant: Mutant, folders: queue.Queue[Path]) -> tuple[bool, str, float]:
    """Is it caught, by what, and how long did that take?"""
    folder = folders.get()
    begin = time.monotonic()
    path = source_of(mutant, folder)
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(planted(mutant, text), encoding="utf-8")
        code, by = run_tests(folder)
    finally:
        path.write_text(text, encoding="utf-8")
        folders.put(folder)
    return code in (1, 2), by, time.monotonic() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="mutants whose description or module has this in it")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if options.only in f"{mutant.module}: {mutant.says}"]
    survivors = []
    with tempfile.TemporaryDirectory() as name:
        folders: queue.Queue[Path] = queue.Queue()
        for job in range(options.jobs):
            folder = Path(name) / str(job)
            copy_of_the_library(folder)
            folders.put(folder)
        for mutant in chosen:
            planted(mutant, source_of(mutant, folder).read_text(encoding="utf-8"))
        code, by = run_tests(folder)
        if code:
            print(f"the tests fail without any mutant: {by}")
            return 1
        print(f"{len(chosen)} mutants; all tests pass without them", flush=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, (caught, by, seconds) in zip(
                chosen, pool.map(lambda one: try_mutant(one, folders), chosen), strict=True
            ):
                verdict = f"caught by {by}" if caught else f"SURVIVED {by}"
                print(f"{mutant.module}: {mutant.says}: {verdict} ({seconds:.0f} s)", flush=True)
                if not caught:
                    survivors.append(mutant)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
