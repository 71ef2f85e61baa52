"""Plant one wrong rule at a time in a copy of the library, and see that the tests notice.

    python tests/tools/mutants.py [--only WORD] [--jobs 2]

Prints a line a mutant: which test caught it, or that it survived.  Exits with 1 if one survives or no longer applies.
"""

# ruff: noqa: E501
from __future__ import annotations

import argparse
import ast
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
COPIED = ("hearts_env", "agents", "train", "benchmarks", "apps", "tests", "docs")
IMPORTED = (".", "agents", "train", "benchmarks", "apps")
"""The folders whose packages the tests import."""
PACKAGE = "hearts_env"
UNTOUCHED = "hearts_env/fast"
"""The compiled twins are compared with the rest by tests of their own; here everything runs under numpy."""
QUICK = (
    "rules/test_cases.py",
    "rules/test_known_mistakes.py",
    "rules/test_rules_corners.py",
    "unit/test_view.py",
    "unit/test_encode.py",
    "unit/test_notation.py",
)
"""The tests that are about rules and take a moment: most mutants get no further."""
SLOWER = (
    "rules/test_perft.py",
    "rules/test_invariants.py",
    "rules/test_rules.py",
    "rules/test_explain.py",
    "unit/test_records.py",
    "unit/test_fuzz.py",
    "unit/test_worlds.py",
    "rules/test_witness.py",
    "rules/test_engine.py",
    "rules/test_golden.py",
)
"""The others about rules.  The recorded games come last: they notice any change."""
SECONDS = 900.0


@dataclass(frozen=True)
class Mutant:
    """A wrong rule: `old` becomes `new` in the one place of hearts_env where it stands.

    Places are found by their words, whatever the file, the line, the spaces and the line breaks.  function: where `old`
    stands in several functions, the one that is meant; names are those of `def`, without the class.
    """

    says: str
    old: str
    new: str
    function: str = ""


# One mutant a row, however long, so that the table can be read down.
# fmt: off
MUTANTS = [
    Mutant(*row)
    for row in (
        # -- what is legal, what breaks --------------------------------------------------------------------------------
        ("hearts may be led at any time", "free = broken | rules.free | empty(plain) | only_queen", "free = broken | ~broken"),
        ("a hand of hearts may not lead one", "rules.free | empty(plain) |", "rules.free |"),
        ("hearts and QS may always lead hearts", "empty(plain ^ QS_SET) & rules.queen_frees", "empty(plain ^ QS_SET)"),
        ("hearts and QS may never lead hearts", "empty(plain ^ QS_SET) & rules.queen_frees", "plain & 0"),
        ("any spade frees hearts as QS does", "empty(plain ^ QS_SET) &", "empty(plain & (plain - 1)) &"),
        ("QS may not be led before hearts are broken", "plain = hand & ~HEARTS", "plain = hand & ~HEARTS & ~(QS_SET & ~broken)"),
        ("no way out of the ban for a hand of penalty cards", "either(safe, dump) & ban", "safe & ban"),
        ("the ban holds on every trick", "ban = first & rules.ban", "ban = first & 0 | rules.ban"),
        ("no ban on the first trick", "ban = first & rules.ban", "ban = first & 0"),
        ("suit need not be followed", "return either(hand & led, discard)", "return hand & led | discard"),
        ("any discard breaks hearts", "(off & rules.void_breaks)", "off"),
        ("a lead or a following card cannot break hearts", "return ~empty(card & rules.breakers) |", "return (~empty(card & rules.breakers) & off) |"),
        ("the opening card need not be led", "return either(hand & opening, plain | (hand & free))", "return plain | (hand & free)"),
        ("the ban ignores QS", "penalty=penalty, ban", "penalty=penalty & HEARTS, ban"),
        ("the bonus card is barred from the first trick", "penalty=penalty, ban", "penalty=penalty | bonus, ban"),
        ("a hand of penalty cards must always discard a heart", 'HEARTS if rules.first_trick_all_points == "hearts" else 0', "HEARTS"),
        ("QS does not break hearts", '"heart_or_qs": HEARTS | QS_SET', '"heart_or_qs": HEARTS'),
        ("QS breaks hearts where only a heart should", '"heart": HEARTS', '"heart": HEARTS | QS_SET'),
        ('a discard does not break hearts under "void"', '_mask(rules.hearts_broken_by == "void")', "0"),
        ("hearts break in the Greek game", '"never": 0', '"never": HEARTS'),
        ("trumps do not win", "trumps = HEARTS if trump else 0", "trumps = 0"),
        ("hearts are always trumps", "trumps = HEARTS if trump else 0", "trumps = HEARTS"),
        ("the last heart wins a trick in trumps", "(trumps if suit != HEARTS else 0)", "trumps"),
        ("any club may open the play", "opening_suit | (rules.opening_alone & -clubs)", "opening_suit | rules.opening_alone"),
        ("the seat left of the dealer must lead a club", 'CLUBS if opened and rules.first_lead == "any_club" else 0', 'CLUBS if not opened or rules.first_lead == "any_club" else 0'),
        # -- points, moons, the end ------------------------------------------------------------------------------------
        ("a card worth less than nothing does not count in a moon", "in points.items() if value < 0}", "in points.items() if value < -99}"),
        ("a moon never needs the bonus card", "penalty | (sum(cards for cards, _ in bonus) if rules.moon_needs_bonus else 0)", "penalty"),
        ("the bonus card counts besides a moon that needs it", "() if rules.moon_needs_bonus else extras", "extras"),
        ("a moon is told by the sum of points", "possible & empty(needed & ~side_cards(rules, taken, seat))", "possible & same(points_in(rules.points, taken[seat]), 26)"),
        ("dead penalty cards prevent a moon", "needed = cards & rules.moon_set", "needed = cards & 0 | rules.moon_set"),
        ("a deal without penalty cards is a moon", "possible = ~empty(cards & rules.penalty) & rules.moons", "possible = ~empty(cards) & rules.moons"),
        ("a seat without a trick gets its bonus in a moon too", "moved + points_in(rules.moon_extras, cards), plain", "moved + points_in(rules.moon_extras, cards) + (empty(cards) & rules.no_tricks_bonus), plain"),
        ("no bonus for a seat without a trick", "+ (empty(cards) & rules.no_tricks_bonus)", ""),
        ("the shooter's partner pays", "side_bits=PARTNER - 1 if teams else ALL_ONES", "side_bits=ALL_ONES"),
        ("subtracting adds", "own & -value", "own & value"),
        ("adding leaves the next seat out", "~own & value", "~own & ~same(shooters, (seat + 1) % rules.num_players) & value"),
        ("the exact reset is ignored", "resets=_mask(rules.exact_reset is not None)", "resets=0"),
        ("the exact reset happens past the target", "same(score, rules.target) & rules.resets", "~less(score, rules.target) & rules.resets"),
        ("reaching the target is enough where it must be passed", "end=rules.target + rules.end_strict", "end=rules.target"),
        ("the target must be passed", "end=rules.target + rules.end_strict", "end=rules.target + 1"),
        ("ties are always shared", 'shares_ties=_mask(rules.tie == "shared")', "shares_ties=ALL_ONES"),
        ("ties are always played on", 'shares_ties=_mask(rules.tie == "shared")', "shares_ties=0"),
        ("two partners count as a tie", "single=PARTNER if teams else 1", "single=1"),
        ("a side's sum ends the game where a player's score should", '_mask(rules.team_end == "team" and teams)', "_mask(teams)"),
        ("one player's score ends a game of sides", '_mask(rules.team_end == "team" and teams)', "0"),
        ("the automatic moon always adds", "& ~wins, SUBTRACT,", "& ~wins, ADD,"),
        ("the automatic moon forgets the exact reset", "totals[seat] = reset_exact(rules, scores[seat] + totals[seat])", "totals[seat] = scores[seat] + totals[seat]"),
        ("the extra for every trick is ignored", " + (sun & rules.sun_value)", ""),
        ("every moon gets the extra for every trick", "(sun & rules.sun_value)", "rules.sun_value"),
        ("dead penalty cards count in the moon value", "points_in(rules.moon_worth, cards)", "points_in(rules.moon_worth, ~(cards & 0))"),
        ('there are moons under "none"', '_mask(rules.moon != "none")', "ALL_ONES"),
        ("the partner of the taker of QS may choose", "& _QUEEN_DECIDES", "& 0"),
        ("any team may shoot the moon together", '_mask(rules.team_moon == "team")', "_mask(teams)"),
        ("partners do not share their score", "sides=_mask(teams),", "sides=0,"),
        ("a score never goes below zero", "reset_exact(rules, _of(state.scores, rows) + points)", "reset_exact(rules, np.maximum(_of(state.scores, rows) + points, 0))"),
        # -- passing, leading, the course of a deal --------------------------------------------------------------------
        ("the pass goes the other way", "return relative(players, seat, offset)", "return seat_after(players, seat, offset)", "giver"),
        ("the pass always goes the same way", "cycle[deal_no % len(cycle)]", "cycle[deal_no * 0]"),
        ("a card may be picked twice", "hand & ~(picks | rules.unpassed)", "hand & ~rules.unpassed"),
        ("the queen may be passed at every table", "hand & ~(picks | rules.unpassed)", "hand & ~picks"),
        ("seat 0 leads first", "select(empty(hands[seat] & opening), leader, seat)", "select(empty(hands[seat] & opening), leader, leader & ~rules.club_leads)"),
        ("the dealer leads first", "((deal_no + 1) % rules.num_players)", "(deal_no % rules.num_players)"),
        ("the leader wins every trick", "winner, count = _of(state.best_seat, rows).copy()", "winner, count = _of(state.turn, rows).copy()"),
        ("only the second seat is barred on the first trick", "less(count, rules.num_players)", "less(count, 2)"),
        ("a void is inferred from the card and not from the suit led", "void_shown(turn.astype(np.int32), led, discarded)", "void_shown(turn.astype(np.int32), suit, discarded)"),
        ("hearts stay broken in the next deal", "(state.broken, False)", "(state.broken, state.broken[rows])"),
        ("seat 0 makes the moon choice", "state.turn[choosing] = state.shooter[choosing]", "state.turn[choosing] = 0"),
        ("scores go on into the next game", "*= ~new_game[:, None]", "*= True"),
        ("a forced subtraction adds", 'SUBTRACT if rules.moon == "subtract" else ADD', "ADD"),
        # -- defaults and presets --------------------------------------------------------------------------------------
        ("the pass is left, across, right, hold", "return (1, 3, 2, 0)", "return (1, 2, 3, 0)"),
        ("only a heart breaks hearts by default", '"heart" if two else "heart_or_qs"', '"heart"'),
        ("the two players choose what a moon does", '"add" if two else "choice"', '"choice"'),
        ("the pack for six lacks 2C in place of 4C", '6: ("3C", "4C", "2D", "3D")', '6: ("2C", "3C", "2D", "3D")'),
        ("the hearts of Spot Hearts are worth one less", "place + 2) for place, rank", "place + 1) for place, rank"),
        ("one dead card too few is fine", "live % self.num_players == 0", "True"),
        ("the Greek pass goes left", '{"hearts_broken_by": "never", "pass_cycle": [-1], "moon": "add"}', '{"hearts_broken_by": "never", "pass_cycle": [1], "moon": "add"}'),
        # -- what a seat may know --------------------------------------------------------------------------------------
        ("a view leaks the picks of the others", "picks=state.picks.take(here)", "picks=np.bitwise_or.reduce(state.picks, axis=1)"),
        ("cards received are seen before the pass", "less(PASS, phase) & less(0, offset)", "~(phase & 0) & less(0, offset)"),
        ("a view shows the hand of the seat to act", "hand=state.hands.take(here)", "hand=state.hands.take(begins + np.maximum(turn, 0))"),
        ("a view counts seats to the right", "seat_after(players, seat, _columns(players))", "relative(players, seat, _columns(players))"),
        ("a view has the cards of the wrong giver", "giver(players, seat, offset.astype(np.int8))", "seat_after(players, seat, offset.astype(np.int8))"),
        ("cards passed are thought kept after they are played", "passed & ~np.bitwise_or.reduce(self.played, axis=1)", "passed & -1"),
        ("every viewer sees what the seat to act may do", "actions & mask(turn == seat)", "actions"),
        ("cards of the current trick count as not seen", "seen = self.hand | np.bitwise_or.reduce(self.played, axis=1)", "seen = self.hand | np.bitwise_or.reduce(self.taken, axis=1)"),
        # -- encodings -------------------------------------------------------------------------------------------------
        ("the steps of points are off by one", "sum((value >= step) << i", "sum((value > step) << i"),
        ("tenths of the target are rounded wrongly", "* SCORE_STEPS // target", "* SCORE_STEPS // (target + 1)"),
        ("the taker of KS counts as that of QS", "of_rules=lambda _: BLACK_MARIA", "of_rules=lambda _: BLACK_MARIA + 1"),
        ("blocks that cross a word lose bits", "words[word + 1] |= bits >> (WORD_BITS - shift)", "words[word + 1] |= bits >> WORD_BITS - 1"),
        ("the encoding tells every rule flag of trumps", "rules.trump is not None", "True"),
        # -- worlds ----------------------------------------------------------------------------------------------------
        ("worlds ignore who is void", "~void & _only(view)", "_only(view)"),
        ("worlds ignore what a forced play shows", "~void & _only(view)", "~void"),
        ("worlds forget the cards passed", "forced = view.known", "forced = view.known * 0"),
        ("worlds give away clubs below the opening card", "below = CLUBS & (opening - 1)", "below = opening & 0"),
        ("worlds forget the giver's cards", "select(gives, view.got, view.picks)", "view.picks"),
        # -- text ------------------------------------------------------------------------------------------------------
        ("two seats may hold a card", "if hand & seen:", "if False:"),
        ("a hand may have any size", "if hand.bit_count() != rules.hand_size:", "if False:"),
        ("illegal actions are replayed", "(actions != NO_CARD) & (bit(np.maximum(actions, 0)) & allowed != 0)", "actions != NO_CARD"),
        ("hands as dealt are found with the pass turned round", "np.arange(rules.num_players), offset[:, None]", "np.arange(rules.num_players), -offset[:, None] % rules.num_players", "dealt_hands"),
        ("cards may be passed in a hold deal", "if due == 0 and any(counts):", "if False:"),
        ("a pass may lack a card", "if number > due or not (under_way or number == due):", "if number > due:"),
        ("a position forgets its key", "if one.key[0]:", "if False:"),
        ("a key may stand twice in a record", "if len(result) < len(pairs):", "if False:"),
        ("the dead cards of a record are not checked", "if dead is not None and", "if False and"),
        ("true is a number", "isinstance(value, bool) or not isinstance(value, int) or not low", "not isinstance(value, int) or not low"),
        ("a record names a choice that nobody made", "if chose and state.choice[row] != NO_CARD", "if state.choice[row] != NO_CARD"),
        ("the points of a record are not compared", "if given is not None and given != found:", "if False:"),
    )
]
# fmt: on


# -- where a bug is planted --------------------------------------------------------------------------------------------

_STRING = r"""[rbfuRBFU]{0,2}(?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
_WORD = re.compile(rf"{_STRING}|#[^\n]*|\w+|[^\w\s]")


@dataclass(frozen=True)
class Word:
    """A word or sign of the source, and where it begins and ends in the file."""

    text: str
    begin: int
    end: int


def words(source: str) -> list[Word]:
    """The source without comments, spaces, line breaks, and commas before a closing bracket."""
    found = [Word(match[0], *match.span()) for match in _WORD.finditer(source) if not match[0].startswith("#")]
    after = [*(word.text for word in found[1:]), ""]
    return [
        word
        for word, following in zip(found, after, strict=True)
        if word.text != "," or following not in (")", "]", "}")
    ]


class Module:
    """A file of the library, in which texts are found by their words."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.source = path.read_text(encoding="utf-8")
        self.words = words(self.source)
        self.texts = [word.text for word in self.words]

    def find(self, mutant: Mutant) -> list[tuple[int, int]]:
        """Where the old text of a mutant begins and ends, each time that it stands here."""
        old = [word.text for word in words(mutant.old)]
        starts = [at for at, text in enumerate(self.texts) if text == old[0] and self.texts[at : at + len(old)] == old]
        spans = [(self.words[at].begin, self.words[at + len(old) - 1].end) for at in starts]
        if not mutant.function:
            return spans
        return [span for span in spans if any(begin <= span[0] < end for begin, end in self._bodies(mutant.function))]

    def _bodies(self, function: str) -> list[tuple[int, int]]:
        """Where the functions of that name begin and end."""
        if function not in self.texts:
            return []
        lines = [0, *(match.end() for match in re.finditer("\n", self.source)), len(self.source)]
        return [
            (lines[node.lineno - 1], lines[node.end_lineno or node.lineno])
            for node in ast.walk(ast.parse(self.source))
            if isinstance(node, ast.FunctionDef) and node.name == function
        ]


@dataclass(frozen=True)
class Place:
    """A file, relative to the root, and its source with the bug."""

    path: Path
    source: str


def library(root: Path = ROOT) -> list[Module]:
    """The modules in which bugs are planted."""
    paths = sorted((root / PACKAGE).rglob("*.py"))
    return [Module(path) for path in paths if not path.is_relative_to(root / UNTOUCHED)]


def place_of(mutant: Mutant, modules: list[Module], root: Path = ROOT) -> Place:
    """The file with the bug.  Raises ValueError unless it has one place in the library, and parses."""
    found = [(module, begin, end) for module in modules for begin, end in module.find(mutant)]
    if len(found) != 1:
        raise ValueError(f"{mutant.says}: {mutant.old!r} stands {len(found)} times in {PACKAGE}, not once")
    module, begin, end = found[0]
    source = module.source[:begin] + mutant.new + module.source[end:]
    if ast.dump(ast.parse(source)) == ast.dump(ast.parse(module.source)):
        raise ValueError(f"{mutant.says}: {mutant.new!r} changes nothing")
    return Place(module.path.relative_to(root), source)


# -- running the tests on it -------------------------------------------------------------------------------------------


def copy_of_the_library(folder: Path) -> None:
    """Copy what the tests need."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / name)


def run_tests(folder: Path) -> tuple[int, str]:
    """The exit code of the tests, and the first that failed."""
    code, by = run_files(folder, QUICK)
    return (code, by) if code else run_files(folder, SLOWER)


def run_files(folder: Path, names: tuple[str, ...]) -> tuple[int, str]:
    """The exit code of some test files, and the first test that failed."""
    # Without the cached bytecode, which goes by the second: two mutants may be written in one.
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(folder / name) for name in IMPORTED),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HEARTS_EXECUTOR": "numpy",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-m", "not slow"]
    try:
        done = subprocess.run(
            [*command, *(f"tests/{name}" for name in names)],
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


def try_mutant(place: Place, folders: queue.Queue[Path]) -> tuple[bool, str, float]:
    """Is it caught, by what, and how long did that take?"""
    folder = folders.get()
    begin = time.monotonic()
    path = folder / place.path
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(place.source, encoding="utf-8")
        code, by = run_tests(folder)
    finally:
        path.write_text(text, encoding="utf-8")
        folders.put(folder)
    return code in (1, 2), by, time.monotonic() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="mutants whose description or file has this in it")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    modules = library()
    places = {mutant: place_of(mutant, modules) for mutant in MUTANTS}
    chosen = {mutant: place for mutant, place in places.items() if options.only in f"{place.path}: {mutant.says}"}
    survivors = 0
    with tempfile.TemporaryDirectory() as name:
        folders: queue.Queue[Path] = queue.Queue()
        for job in range(options.jobs):
            folder = Path(name) / str(job)
            copy_of_the_library(folder)
            folders.put(folder)
        code, by = run_tests(folder)
        if code:
            print(f"the tests fail without any mutant: {by}")
            return 1
        print(f"{len(chosen)} mutants; all tests pass without them", flush=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            tried = pool.map(lambda place: try_mutant(place, folders), chosen.values())
            for (mutant, place), (caught, by, seconds) in zip(chosen.items(), tried, strict=True):
                verdict = f"caught by {by}" if caught else f"SURVIVED {by}"
                print(f"{place.path}: {mutant.says}: {verdict} ({seconds:.0f} s)", flush=True)
                survivors += not caught
    print(f"{len(chosen) - survivors} of {len(chosen)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
