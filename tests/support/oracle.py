"""A plain scalar Hearts from the rules text alone: the second witness against the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from random import Random
from typing import Any

Rules = dict[str, Any]

SUITS = "CDHS"
RANKS = "23456789TJQKA"
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
ADD, SUBTRACT = 52, 53  # the two actions of the moon phase


def card(name: str) -> int:
    return 13 * SUITS.index(name[1]) + RANKS.index(name[0])


def name(c: int) -> str:
    return RANKS[c % 13] + SUITS[c // 13]


def suit(c: int) -> int:
    return c // 13


QS = card("QS")

# ---- the rules and what follows from them (sections 2 and 8) ----

SEED_REMOVED = {
    2: [rank + s for rank in "3579JK" for s in SUITS],
    3: ["2D"],
    4: [],
    5: ["2D", "2C"],
    6: ["2D", "3D", "3C", "4C"],
    7: ["2D", "3D", "3C"],
}
MOREHEAD_REMOVED = {3: ["2C"], 4: [], 5: ["2C", "2D"], 6: ["2C", "3C", "2D", "2S"]}


def default_pass_cycle(n: int) -> tuple[int, ...]:
    if n == 2:
        return (0,)
    if n == 4:
        return (1, 3, 2, 0)
    return (1, n - 1)


def rules(**changes: Any) -> Rules:
    """Every field of section 8: the defaults for this number of players, then the changes."""
    n = changes.get("num_players", 4)
    if n not in SEED_REMOVED:
        raise ValueError(f"num_players must be 2..7, not {n}")
    two = n == 2
    r: Rules = {
        "num_players": n,
        "deck": "seed",
        "dead_cards": 2 if two else 0,
        "pass_count": 0 if two else 3,
        "pass_cycle": default_pass_cycle(n),
        "pass_queen": True,
        "first_leader": "lowest_club",
        "first_lead": "forced",
        "first_trick_points": "allowed" if two else "forbidden",
        "first_trick_all_points": "any",
        "hearts_broken_by": "heart" if two else "heart_or_qs",
        "lead_hearts_with_qs": False,
        "trump": "H" if two else None,
        "scoring": "standard",
        "bonus_card": None,
        "bonus_points": -10,
        "no_tricks_bonus": 0,
        "moon": "add" if two else "choice",
        "moon_value": None,
        "moon_needs_bonus": False,
        "sun_value": 0,
        "teams": None,
        "team_moon": "player",
        "team_end": "team",
        "target": 100,
        "end_strict": False,
        "exact_reset": None,
        "tie": "continue" if two else "shared",
    }
    unknown = sorted(set(changes) - set(r))
    if unknown:
        raise ValueError(f"no such rules field: {', '.join(unknown)}")
    r.update(changes)
    r["pass_cycle"] = tuple(r["pass_cycle"])
    if not isinstance(r["deck"], str):
        r["deck"] = tuple(r["deck"])
    return r


def deck(r: Rules) -> list[int]:
    """The cards of the pack, dead cards included, ascending."""
    if r["deck"] == "seed":
        removed = SEED_REMOVED[r["num_players"]]
    elif r["deck"] == "morehead":
        if r["num_players"] not in MOREHEAD_REMOVED:
            raise ValueError(f"no morehead deck for {r['num_players']} players")
        removed = MOREHEAD_REMOVED[r["num_players"]]
    elif isinstance(r["deck"], str):
        return sorted(card(rank + word[0]) for word in r["deck"].split() for rank in word[1:])
    else:
        removed = r["deck"]
    out = {card(c) for c in removed}
    return [c for c in range(52) if c not in out]


def hand_size(r: Rules) -> int:
    dealt = len(deck(r)) - r["dead_cards"]
    if dealt % r["num_players"]:
        raise ValueError(f"{dealt} cards cannot be dealt to {r['num_players']} seats")
    return int(dealt // r["num_players"])


def points_of(r: Rules) -> dict[int, int]:
    """Card to points, for each card of the pack that has any; the bonus card is among them."""
    points: dict[int, int] = {}
    if isinstance(r["scoring"], dict):
        points = {card(c): value for c, value in r["scoring"].items()}
    elif r["scoring"] == "standard":
        points = {c: 1 for c in range(52) if suit(c) == HEARTS}
        points[QS] = 13
    elif r["scoring"] == "spot":
        points = {c: c % 13 + 2 for c in range(52) if suit(c) == HEARTS}
        points[QS] = 25
    elif r["scoring"] == "black_maria":
        points = {c: 1 for c in range(52) if suit(c) == HEARTS}
        points.update({QS: 13, card("KS"): 10, card("AS"): 7})
    else:
        raise ValueError(f"no such scoring: {r['scoring']}")
    if r["bonus_card"] is not None:
        bonus = card(r["bonus_card"])
        points[bonus] = points.get(bonus, 0) + r["bonus_points"]
    return {c: points[c] for c in deck(r) if points.get(c, 0) != 0}


def pass_offset(r: Rules, deal_no: int) -> int:
    """How many seats to the left the picks go in this deal; 0 when nothing is passed."""
    if r["pass_count"] == 0:
        return 0
    cycle = r["pass_cycle"]
    return int(cycle[deal_no % len(cycle)] % r["num_players"])


# ---- the play (section 4) ----


def opening(r: Rules, hands: Sequence[Collection[int]], deal_no: int = 0) -> tuple[int, int | None]:
    """The seat that leads first, and the opening card (None: the ordinary lead rule holds)."""
    n = r["num_players"]
    if r["first_leader"] == "left_of_dealer":
        dealer = deal_no % n
        return (dealer + 1) % n, None
    clubs = [(c, seat) for seat, hand in enumerate(hands) for c in hand if suit(c) == CLUBS]
    if not clubs:
        raise ValueError("no seat holds a club")
    lowest, leader = min(clubs)
    return leader, None if r["first_lead"] == "any" else lowest


def legal_cards(
    r: Rules,
    hand: Iterable[int],
    table: Sequence[int],
    trick_no: int,
    broken: bool,
    opening: int | None,
) -> list[int]:
    """The cards that may be played; `table` holds the cards of this trick in order."""
    hand = sorted(hand)
    if table:
        return legal_follow(r, hand, suit(table[0]), trick_no)
    return legal_lead(r, hand, trick_no, broken, opening)


def legal_follow(r: Rules, hand: list[int], led: int, trick_no: int) -> list[int]:
    following = [c for c in hand if suit(c) == led]
    if following:
        return following
    if trick_no > 0 or r["first_trick_points"] == "allowed":
        return hand
    points = points_of(r)
    harmless = [c for c in hand if points.get(c, 0) <= 0]
    if harmless:
        return harmless
    hearts = [c for c in hand if suit(c) == HEARTS]
    if r["first_trick_all_points"] == "hearts" and hearts:
        return hearts
    return hand


def legal_lead(r: Rules, hand: list[int], trick_no: int, broken: bool, opening: int | None) -> list[int]:
    if trick_no == 0 and opening is not None and r["first_lead"] == "forced":
        return [opening]
    if trick_no == 0 and opening is not None and r["first_lead"] == "any_club":
        return [c for c in hand if suit(c) == CLUBS]
    if broken or r["hearts_broken_by"] == "free":
        return hand
    others = [c for c in hand if suit(c) != HEARTS]
    if not others:
        return hand
    if others == [QS] and r["lead_hearts_with_qs"]:
        return hand
    return others


def breaks(r: Rules, card: int, table: Sequence[int]) -> bool:
    """Whether `card`, played onto `table`, breaks hearts."""
    by = r["hearts_broken_by"]
    if by in ("free", "never"):
        return False
    if suit(card) == HEARTS:
        return True
    if by == "heart_or_qs":
        return card == QS
    if by == "void":
        return len(table) > 0 and suit(card) != suit(table[0])
    return False


def trick_winner(r: Rules, cards: Sequence[int]) -> int:
    """The index of the winning card."""
    wanted = suit(cards[0])
    if r["trump"] == "H" and any(suit(c) == HEARTS for c in cards):
        wanted = HEARTS
    best = max(c for c in cards if suit(c) == wanted)
    return list(cards).index(best)


# ---- the scoring of a deal (sections 5 and 7) ----


def partners(r: Rules, seat: int) -> list[int]:
    """The seats of this seat's side, itself included."""
    return [seat % 2, seat % 2 + 2] if r["teams"] == "fixed" else [seat]


def raw_points(r: Rules, taken: Sequence[Iterable[int]]) -> list[int]:
    points = points_of(r)
    return [sum(points.get(c, 0) for c in cards) for cards in taken]


def find_shooter(r: Rules, taken: Sequence[Collection[int]]) -> int | None:
    """The seat that shot the moon (for a side: the seat that decides), or None."""
    if r["moon"] == "none":
        return None
    points = points_of(r)
    captured = {c for cards in taken for c in cards}
    needed = {c for c in captured if points.get(c, 0) > 0}
    if not needed:  # every penalty card is dead: there is nothing to shoot
        return None
    if r["moon_needs_bonus"] and card(r["bonus_card"]) in captured:
        needed.add(card(r["bonus_card"]))
    as_side = r["teams"] == "fixed" and r["team_moon"] == "team"
    for seat in range(r["num_players"]):
        side = partners(r, seat) if as_side else [seat]
        if needed <= {c for s in side for c in taken[s]}:
            return side_shooter(r, side, taken)
    return None


def side_shooter(r: Rules, side: list[int], taken: Sequence[Collection[int]]) -> int:
    """Of a side that shot the moon: who took QS, else who has more points, else the lower seat."""
    for seat in side:
        if QS in taken[seat]:
            return seat
    raw = raw_points(r, taken)
    return max(side, key=lambda seat: (raw[seat], -seat))


def moon_worth(r: Rules, taken: Sequence[Iterable[int]], tricks_won: Sequence[int], shooter: int) -> int:
    points = points_of(r)
    if r["moon_value"] is None:
        worth = sum(value for value in points.values() if value > 0)
    elif r["moon_value"] == "available":
        worth = sum(max(points.get(c, 0), 0) for cards in taken for c in cards)
    else:
        worth = r["moon_value"]
    side = partners(r, shooter) if r["team_moon"] == "team" else [shooter]
    if sum(tricks_won[seat] for seat in side) == sum(tricks_won):
        worth += r["sun_value"]
    return int(worth)


def moon_points(
    r: Rules,
    taken: Sequence[Iterable[int]],
    tricks_won: Sequence[int],
    shooter: int,
    choice: str,
) -> list[int]:
    """What a deal with a moon adds to each score."""
    worth = moon_worth(r, taken, tricks_won, shooter)
    side = partners(r, shooter)
    points = points_of(r)
    result = []
    for seat, cards in enumerate(taken):
        value = 0
        if choice == "add" and seat not in side:
            value = worth
        if choice == "subtract" and seat in side:
            value = -worth
        if not r["moon_needs_bonus"]:
            value += sum(min(points.get(c, 0), 0) for c in cards)
        result.append(value)
    return result


def moon_choice(
    r: Rules,
    taken: Sequence[Iterable[int]],
    tricks_won: Sequence[int],
    shooter: int,
    choice: str | None,
    totals: Sequence[int],
) -> str:
    """ "add" or "subtract": what the rules force, else what the shooter chose."""
    if r["moon"] in ("add", "subtract"):
        return str(r["moon"])
    if r["moon"] == "auto":
        added = moon_points(r, taken, tricks_won, shooter, "add")
        _, over, winners = end(r, totals, added)
        lost = over and side_number(r, shooter) not in winners
        return "subtract" if lost else "add"
    if choice not in ("add", "subtract"):
        raise ValueError(f"the moon choice must be 'add' or 'subtract', not {choice!r}")
    return choice


def score(
    r: Rules,
    taken: Sequence[Collection[int]],
    tricks_won: Sequence[int],
    choice: str | None,
    totals: Sequence[int] | None,
) -> list[int]:
    """What the deal adds to each score; `totals` are the scores before it."""
    shooter = find_shooter(r, taken)
    if shooter is None:
        return [
            points + (r["no_tricks_bonus"] if tricks == 0 else 0)
            for points, tricks in zip(raw_points(r, taken), tricks_won, strict=True)
        ]
    before = [0] * r["num_players"] if totals is None else totals
    choice = moon_choice(r, taken, tricks_won, shooter, choice, before)
    return moon_points(r, taken, tricks_won, shooter, choice)


# ---- the end of the game (section 6) ----


def side_number(r: Rules, seat: int) -> int:
    return seat % 2 if r["teams"] == "fixed" else seat


def end(r: Rules, totals: Sequence[int], deal: Sequence[int]) -> tuple[list[int], bool, list[int]]:
    """The scores after a deal, whether the game is over, and who won: seats, or sides in teams."""
    after = [total + points for total, points in zip(totals, deal, strict=True)]
    if r["exact_reset"] is not None:
        after = [r["exact_reset"] if total == r["target"] else total for total in after]
    sides = after
    if r["teams"] == "fixed":
        sides = [after[0] + after[2], after[1] + after[3]]
    tested = max(after if r["team_end"] == "player" else sides)
    reached = tested > r["target"] if r["end_strict"] else tested >= r["target"]
    winners = [number for number, total in enumerate(sides) if total == min(sides)]
    if not reached or (r["tie"] == "continue" and len(winners) > 1):
        return after, False, []
    return after, True, winners


# ---- one deal ----


class Deal:
    """One deal, from the cards as dealt to the scores after it; `hands` may be a partial pack."""

    def __init__(
        self,
        r: Rules,
        hands: Sequence[Iterable[int]],
        deal_no: int = 0,
        totals: Sequence[int] | None = None,
    ) -> None:
        n = r["num_players"]
        self.r = r
        self.n: int = n
        self.deal_no = deal_no
        self.totals = [0] * n if totals is None else list(totals)
        self.hands = [set(hand) for hand in hands]
        self.check_hands()
        self.hand_size = len(self.hands[0])
        self.dead = set(deck(r)).difference(*self.hands)
        self.offset = pass_offset(r, deal_no)
        self.picks: list[list[int]] = [[] for _ in range(n)]
        self.plays: list[tuple[int, int]] = []
        self.table: list[tuple[int, int]] = []
        self.leader = -1
        self.opening: int | None = None
        self.trick_no = 0
        self.broken = False
        self.taken: list[list[int]] = [[] for _ in range(n)]
        self.tricks_won = [0] * n
        self.trick_winners: list[int] = []
        self.voids: list[set[int]] = [set() for _ in range(n)]
        self.points: list[int] = []
        self.scores: list[int] = []
        self.game_over = False
        self.winners: list[int] = []
        self.moon: str | None = None
        self.shooter: int | None = None
        self.turn = 0
        self.phase = "pass"
        if self.offset == 0:
            self.start_play()

    def check_hands(self) -> None:
        cards = [c for hand in self.hands for c in hand]
        if len(self.hands) != self.n or len({len(hand) for hand in self.hands}) != 1:
            raise ValueError(f"{self.n} hands of the same size are needed")
        if len(set(cards)) != len(cards) or not set(cards) <= set(deck(self.r)):
            raise ValueError("a card is held twice, or is not in the deck")

    def legal(self) -> list[int]:
        if self.phase == "pass":
            kept = set() if self.r["pass_queen"] else {QS}
            return sorted(self.hands[self.turn].difference(self.picks[self.turn], kept))
        if self.phase == "play":
            on_table = [c for _, c in self.table]
            return legal_cards(self.r, self.hands[self.turn], on_table, self.trick_no, self.broken, self.opening)
        return [ADD, SUBTRACT] if self.phase == "moon" else []

    def step(self, action: int) -> None:
        if action not in self.legal():
            raise ValueError(f"illegal action {action} by seat {self.turn}: legal {self.legal()}")
        if self.phase == "pass":
            self.pick(action)
        elif self.phase == "play":
            self.play(action)
        else:
            self.finish("add" if action == ADD else "subtract")

    def pick(self, action: int) -> None:
        self.picks[self.turn].append(action)
        self.turn = (self.turn + 1) % self.n
        if all(len(picks) == self.r["pass_count"] for picks in self.picks):
            for seat in range(self.n):
                self.hands[seat].difference_update(self.picks[seat])
            for seat in range(self.n):
                self.hands[(seat + self.offset) % self.n].update(self.picks[seat])
            self.start_play()

    def start_play(self) -> None:
        self.phase = "play"
        self.leader, self.opening = opening(self.r, self.hands, self.deal_no)
        self.turn = self.leader

    def play(self, action: int) -> None:
        seat = self.turn
        on_table = [c for _, c in self.table]
        if on_table and suit(action) != suit(on_table[0]):
            self.voids[seat].add(suit(on_table[0]))
        if breaks(self.r, action, on_table):
            self.broken = True
        self.hands[seat].remove(action)
        self.table.append((seat, action))
        self.plays.append((seat, action))
        self.turn = (seat + 1) % self.n
        if len(self.table) == self.n:
            self.end_trick()

    def end_trick(self) -> None:
        cards = [c for _, c in self.table]
        winner = self.table[trick_winner(self.r, cards)][0]
        self.taken[winner].extend(cards)
        self.tricks_won[winner] += 1
        self.trick_winners.append(winner)
        self.table = []
        self.trick_no += 1
        self.leader = self.turn = winner
        if self.trick_no == self.hand_size:
            self.end_play()

    def end_play(self) -> None:
        self.shooter = find_shooter(self.r, self.taken)
        if self.shooter is not None and self.r["moon"] == "choice":
            self.phase = "moon"
            self.turn = self.shooter
        else:
            self.finish(None)

    def finish(self, choice: str | None) -> None:
        if self.shooter is not None:
            self.moon = moon_choice(self.r, self.taken, self.tricks_won, self.shooter, choice, self.totals)
        self.points = score(self.r, self.taken, self.tricks_won, self.moon, self.totals)
        self.scores, self.game_over, winners = end(self.r, self.totals, self.points)
        self.winners = [s for s in range(self.n) if side_number(self.r, s) in winners]
        self.phase = "over"
        self.turn = -1


# ---- random rules and hands for the comparison ----


def random_rules(rng: Random) -> Rules:
    """Random valid rules, as the fields that differ from the defaults (and num_players)."""
    n = rng.randint(2, 7)
    changes: Rules = {"num_players": n}
    changes.update(random_deck(rng, n))
    size = hand_size(rules(**changes))
    pack = [name(c) for c in deck(rules(**changes))]
    clubs = sum(c[1] == "C" for c in pack)
    lowest_club = clubs > rules(**changes)["dead_cards"] and rng.random() < 0.7
    changes["first_leader"] = "lowest_club" if lowest_club else "left_of_dealer"
    if rng.random() < 0.5:
        changes["pass_count"] = rng.randint(0, min(size, 5))
        changes["pass_cycle"] = tuple(rng.randint(1 - n, n - 1) for _ in range(rng.randint(1, 4)))
    elif rules(**changes)["pass_count"] > size:
        changes["pass_count"] = size
    if rules(**changes)["pass_count"] < size and rng.random() < 0.2:
        changes["pass_queen"] = False
    changes.update(random_play_rules(rng))
    changes.update(random_points(rng, pack))
    changes.update(random_end(rng, n))
    default = rules(num_players=n)
    return {f: v for f, v in changes.items() if f == "num_players" or v != default[f]}


def random_deck(rng: Random, n: int) -> Rules:
    kinds = ["seed", "seed", "custom"] + (["morehead"] if n in MOREHEAD_REMOVED else [])
    kind = rng.choice(kinds)
    if kind == "custom":
        dead = rng.choice([0, 0, 1, 2, 3, 5])
        largest = (52 - dead) // n
        size = rng.choice([largest, rng.randint(3, largest)])
        removed = 52 - n * size - dead
        cards = [name(c) for c in range(52)]
        rng.shuffle(cards)
        if rng.random() < 0.5:
            cards.sort(key=lambda c: RANKS.index(c[0]))
        if not any(c[1] == "H" or c == "QS" for c in cards[removed:]):
            return random_deck(rng, n)
        kept = sorted(card(c) for c in cards[removed:])
        if len(kept) <= 26:  # say which cards are in
            words = [[RANKS[c % 13] for c in kept if suit(c) == s] for s in range(4)]
            return {"deck": " ".join(SUITS[s] + "".join(w) for s, w in enumerate(words) if w), "dead_cards": dead}
        return {"deck": tuple(cards[:removed]), "dead_cards": dead}
    size = len(deck(rules(num_players=n, deck=kind)))
    if rng.random() < 0.6:
        return {"deck": kind}
    return {"deck": kind, "dead_cards": size % n + rng.choice([0, n])}


def random_play_rules(rng: Random) -> Rules:
    ways: dict[str, list[Any]] = {
        "first_lead": ["forced", "any_club", "any"],
        "first_trick_points": ["forbidden", "allowed"],
        "first_trick_all_points": ["any", "hearts"],
        "hearts_broken_by": ["heart_or_qs", "heart", "void", "free", "never"],
        "lead_hearts_with_qs": [False, True],
        "trump": [None, "H"],
    }
    return {field: rng.choice(values) for field, values in ways.items() if rng.random() < 0.6}


def random_points(rng: Random, pack: list[str]) -> Rules:
    """Everything about points and the moon, for a pack of these cards."""
    changes: Rules = {}
    bonus = [c for c in ("JD", "TD") if c in pack]
    if bonus and rng.random() < 0.4:
        changes["bonus_card"] = rng.choice(bonus)
        changes["bonus_points"] = rng.choice([-10, -10, -5, -40])
        changes["moon_needs_bonus"] = rng.random() < 0.4
    changes["scoring"] = rng.choice(["standard", "standard", "standard", "spot", "black_maria"])
    if rng.random() < 0.2:
        listed = rng.sample(pack, rng.randint(1, min(12, len(pack))))
        values = {c: rng.choice([-7, -1, 1, 2, 5, 13]) for c in listed}
        values[listed[0]] = rng.choice([1, 4, 20])
        values.pop(str(changes.get("bonus_card")), None)
        if any(value > 0 for value in values.values()):
            changes["scoring"] = values
    changes["no_tricks_bonus"] = rng.choice([0, 0, -3, -5])
    if rng.random() < 0.7:
        changes["moon"] = rng.choice(["choice", "choice", "add", "subtract", "auto", "none"])
    changes["moon_value"] = rng.choice([None, None, "available", 20, 30])
    changes["sun_value"] = rng.choice([0, 0, 26])
    return changes


def random_end(rng: Random, n: int) -> Rules:
    changes: Rules = {}
    if n == 4 and rng.random() < 0.4:
        changes["teams"] = "fixed"
        changes["team_moon"] = rng.choice(["player", "team"])
        changes["team_end"] = rng.choice(["team", "player"])
    changes["target"] = rng.choice([100, 100, 20, 50, 200])
    changes["end_strict"] = rng.random() < 0.3
    if rng.random() < 0.4:
        changes["exact_reset"] = rng.choice([0, changes["target"] // 2, changes["target"] - 1])
    if rng.random() < 0.5:
        changes["tie"] = rng.choice(["shared", "continue"])
    return changes


def random_hands(rng: Random, r: Rules) -> list[set[int]]:
    """A deal at random, two times in three biased towards a corner."""
    pack = deck(r)
    size = hand_size(r)
    wanted, dead = random_corner(rng, r, pack, size)
    dead = dead[: r["dead_cards"]]
    wanted = [c for c in wanted if c not in dead][:size]
    rest = [c for c in pack if c not in dead and c not in wanted]
    rng.shuffle(rest)
    while len(dead) < r["dead_cards"]:
        dead.append(rest.pop())
    first = set(wanted)
    while len(first) < size:
        first.add(rest.pop())
    hands = [first] + [set(rest[i : i + size]) for i in range(0, len(rest), size)]
    if rng.random() < 0.3:
        swap_one(rng, hands)
    rng.shuffle(hands)
    if r["first_leader"] == "lowest_club" and not any(suit(c) == CLUBS for h in hands for c in h):
        raise ValueError("no seat holds a club: the deck has too few for its dead cards")
    return hands


def random_totals(rng: Random, r: Rules) -> list[int]:
    """Scores before a deal, often so near the target that it ends, resets or ties the game."""
    n, target = r["num_players"], r["target"]
    lowest = rng.choice([0, -30, target - 30, target - 12])
    totals = [rng.randint(lowest, target - 1) for _ in range(n)]
    if rng.random() < 0.3:
        totals[rng.randrange(n)] = totals[rng.randrange(n)]
    return totals


def random_corner(rng: Random, r: Rules, pack: list[int], size: int) -> tuple[list[int], list[int]]:
    """Cards that one seat should hold, and cards that should be dead, the most wanted first."""
    points = points_of(r)
    penalty = [c for c in pack if points.get(c, 0) > 0]
    clubs = [c for c in pack if suit(c) == CLUBS]
    hearts = [c for c in pack if suit(c) == HEARTS]
    others = [c for c in pack if suit(c) != CLUBS]
    for cards in (penalty, hearts, others):
        rng.shuffle(cards)
    dead: list[int] = []
    if rng.random() < 0.3:
        dead = penalty[:]
    elif rng.random() < 0.1:
        dead = clubs[:]
    elif rng.random() < 0.1 and r["bonus_card"] is not None:
        dead = [card(r["bonus_card"])]
    corner = rng.randint(0, 8)
    if corner == 0:
        return penalty, dead
    if corner == 1:
        return [QS, *hearts] if QS in pack else hearts, dead
    if corner == 2:
        return others, dead
    if corner in (3, 4, 5):
        return shooting_hand(rng, r, pack, size), dead
    return [], dead


def shooting_hand(rng: Random, r: Rules, pack: list[int], size: int) -> list[int]:
    """The top club, then the tops of a long suit and of the next: wins trick after trick."""
    long_suits = [SPADES, DIAMONDS] if r["trump"] is None else [HEARTS, SPADES]
    if r["trump"] is None and rng.random() < 0.3:
        long_suits = [HEARTS, SPADES]
    clubs = [c for c in pack if suit(c) == CLUBS][-1:]
    if rng.random() < 0.2:
        clubs = []
    tops = [c for s in long_suits for c in reversed(pack) if suit(c) == s]
    return (clubs + tops)[:size]


def swap_one(rng: Random, hands: list[set[int]]) -> None:
    """Exchange one card of the first hand for one of another."""
    other = rng.choice(hands[1:])
    mine, theirs = rng.choice(sorted(hands[0])), rng.choice(sorted(other))
    hands[0].symmetric_difference_update({mine, theirs})
    other.symmetric_difference_update({mine, theirs})
