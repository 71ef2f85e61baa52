"""Rewrite the generated parts of the documents, or with --check say which of them are out of date.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import benchmark_tables
import dominated_tables
import module_tables
import net_tables
from hearts_agents import AGENTS, make
from hearts_agents.external.messages import request_lines
from hearts_agents.external.protocol import BYE, answer_line, hello_line, welcome_line
from hearts_agents.rule.weights import Weights
from hearts_cli.benchmark import OPPONENTS
from hearts_env.cards import Ints
from hearts_env.exact.game_tree import count_deals
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.explain import field_docs
from hearts_env.game.rules import Rules
from hearts_env.game.variants import PRESETS, READINGS, SOURCES, Reading, Way
from hearts_env.game.view import View
from hearts_env.match.play_match import play
from hearts_env.observe.encode import layout
from hearts_train.exploit.exploit_curve import WAYS, differences
from markdown_table import table

ROOT = Path(__file__).resolve().parent.parent
SMALL = ROOT / "benchmarks" / "results" / "small_hearts.json"
TRAINED = ("small_two", "small_three", "small_two_pass")
"""Small rules under which networks were trained and measured by `hearts exploit --curve`."""
LADDER = ROOT / "benchmarks" / "results" / "ladder.json"
WIN_CHANCES = ROOT / "benchmarks" / "results" / "win_chance.json"
CHOICES = ROOT / "experiments" / "results" / "search_choices.json"
ENTRIES = ROOT / "benchmarks" / "leaderboard"


def fields() -> str:
    """The fields of Rules with their defaults for two and for four players."""
    two, four = Rules(num_players=2), Rules()
    rows = []
    for name, text in field_docs().items():
        default = repr(getattr(four, name))
        if name != "num_players" and getattr(two, name) != getattr(four, name):
            default += f"; two players {getattr(two, name)!r}"
        rows.append((f"`{name}`", f"`{default}`", text))
    return table(("field", "default", "what it says"), rows)


def sources() -> str:
    """The sources by their tags."""
    rows = [(tag, source.title, source.where) for tag, source in SOURCES.items()]
    return table(("tag", "source", "where it was read"), rows)


def presets(notes: bool = False) -> str:
    """The named variants.  notes: with what the fields do not cover."""
    rows = [
        (f"`{name}`", preset.summary, preset.source, f"`{Rules.preset(name).show()}`", preset.note)[: 4 + notes]
        for name, preset in PRESETS.items()
    ]
    return table(("preset", "the game", "source", "as text", "note")[: 4 + notes], rows)


def variants() -> str:
    """The named variants, with their notes."""
    return presets(notes=True)


def readings() -> str:
    """The points on which sources differ: what we do, what others do, and the field that selects it."""
    rows = [
        (
            reading.point,
            _said(reading.ways[0]) + _standing(reading),
            "; ".join(map(_said, reading.ways[1:])) or "-",
            "; ".join(_selected(reading, way) for way in reading.ways[1:]) or "-",
        )
        for reading in READINGS
    ]
    return table(("point", "here by default", "elsewhere", "what selects that, in the same order"), rows)


def _said(way: Way) -> str:
    return f"{way.says} ({way.sources})"


def _selected(reading: Reading, way: Way) -> str:
    """The fields of a way as text, made from Rules so that it cannot name what isn't there."""
    if way.fields is None:
        return "not covered"
    return _as_text(Rules.from_dict({**_base(reading), **way.fields}), way.fields)


def _standing(reading: Reading) -> str:
    """The default of the fields that the other ways change, as Rules has it."""
    names = dict.fromkeys(name for way in reading.ways for name in way.fields or ())
    return f": {_as_text(Rules.from_dict(_base(reading)), names)}" if names else ""


def _base(reading: Reading) -> dict[str, object]:
    return {"num_players": reading.num_players, **(reading.base or {})}


def _as_text(rules: Rules, names: Iterable[str]) -> str:
    return f"`{','.join(f'{name}={json.dumps(getattr(rules, name))}' for name in names)}`"


def encoding() -> str:
    """The blocks of the encoding of four seats, and where they lie when it is padded."""
    rules = compiled_rules(Rules())
    plain, padded = layout(rules, order=True), layout(rules, pad=True, order=True)
    rows = [
        (
            f"`{block.name}`",
            str(block.offset),
            f"{block.size}" + (f" ({plain.seats} x {block.per_seat})" if block.per_seat else ""),
            str(wide.offset),
            str(wide.size),
            block.meaning,
        )
        for block, wide in zip(plain, padded, strict=True)
    ]
    return table(("block", "offset", "size", "offset padded", "size padded", "meaning"), rows)


def sizes() -> str:
    """The size of the encoding for each player count, the optional order block left out."""
    rows = [(str(n), str(layout(compiled_rules(Rules(num_players=n))).size)) for n in range(2, 8)]
    rows.append(("any, padded", str(layout(compiled_rules(Rules()), pad=True).size)))
    return table(("players", "bytes"), rows)


def agents() -> str:
    """The agents by name."""
    rows = [(f"`{entry.form}`", entry.summary, entry.needs) for entry in AGENTS.values()]
    return table(("name", "what it is", "needs"), rows)


def weights() -> str:
    """The weights of the rule agent with their values and meanings."""
    best = Weights()
    rows = [(f"`{name}`", f"{getattr(best, name):g}", text) for name, text in field_docs(Weights).items()]
    return table(("weight", "value", "what it weighs"), rows)


def transcript() -> str:
    """All that is said between a match and `hearts agent rule` in one seat of a deal."""
    rules, agent = Rules.preset("seven"), _Overheard()
    play(rules, [make("rule"), agent], [0, 0, 1, 0, 0, 0, 0], [81723])
    hello, bye = hello_line(rules).decode(), BYE.decode()
    said = [f"-> {hello}", f"<- {welcome_line('rule').decode()}", *agent.said, f"-> {bye}"]
    return "```text\n" + "".join(said) + "```"


class _Overheard:
    """Plays as `rule`, and keeps what the protocol would say."""

    name = "rule"

    def __init__(self) -> None:
        self.said: list[str] = []

    def act(self, seen: View) -> Ints:
        (request,) = request_lines(seen, len(self.said) // 2)
        actions = make("rule").act(seen)
        answer = answer_line(len(self.said) // 2, int(actions[0]))
        self.said += [f"-> {request.decode()}", f"<- {answer.decode()}"]
        return actions


def ladder() -> str:
    """What each agent wins from each other, and the time that it takes."""
    kept = json.loads(LADDER.read_text(encoding="utf-8"))
    names, payoffs = kept["agents"], {}
    for meeting in kept["meetings"]:
        for (name, _), (other, _), payoff in zip(
            meeting["seats"], meeting["seats"][::-1], meeting["payoffs"], strict=True
        ):
            payoffs[name, other] = f"{payoff['payoff']:+.2f} ± {payoff['payoff_se']:.2f}"
    rows = []
    for name in names:
        times = [f"{each:.2g}" for each in kept["milliseconds"][name].values()]
        won = [payoffs.get((name, other), "-") for other in names]
        rows.append((f"`{name}`", *won, f"{kept['moons'][name]:.1%}", *times))
    head = ("agent", *(f"against `{name}`" for name in names), "moons", "ms a decision, one table", "64 tables at once")
    counted = (
        f"{kept['deals']} deal ids, {kept['seatings_a_pair']} seatings a pair; {kept['machine']['cpu']}, one core."
    )
    return f"{table(head, rows)}\n\n{counted}"


def leaderboard() -> str:
    """The entries of the benchmark, the best against `rule` first."""
    entries = [json.loads(path.read_text(encoding="utf-8")) for path in ENTRIES.glob("*.json")]
    rows = []
    for entry in sorted(entries, key=lambda entry: -entry["payoff"].get("rule", {"payoff": 0.0})["payoff"]):
        name, met = entry["agent"], entry["payoff"]
        payoffs = [
            f"{met[other]['payoff']:+.3f} ± {met[other]['payoff_se']:.3f}" if other in met else "-"
            for other in OPPONENTS
        ]
        took = [1000 * each["seconds_per_decision"] for other, each in met.items() if other != name]
        rows.append((f"`{name}`", *payoffs, f"{min(took):.2g}", entry["machine"]["cpu"], entry["date"]))
    head = ("agent", *(f"`{other}`" for other in OPPONENTS), "ms a decision", "processor", "entered")
    return table(head, rows)


def choices() -> str:
    """What variants of search gain by their choices, decision by decision."""
    kept = json.loads(CHOICES.read_text(encoding="utf-8"))
    rows = [
        (
            row["variant"],
            *(f"{mean:+.2f} ± {error:.2f}" for mean, error in (row["gain"], row["difference"], row["expected"])),
            f"{row['play_outs']:.0f}",
            f"{row['moved']:.0%}",
        )
        for row in kept["variants"]
    ]
    head = (
        "variant",
        "gain in the deal as it was",
        "beside 128 worlds",
        "gain it expects",
        "play-outs",
        "leaves `rule`",
    )
    return f"{table(head, rows)}\n\n{kept['decisions']:,} decisions of {kept['deals']} deals."


def win_chances() -> str:
    """How true the curves of `win_chance` are, by number of seats."""
    rows = []
    for kind, found in json.loads(WIN_CHANCES.read_text(encoding="utf-8"))["truth"].items():
        pairs = [(each["brier"], each["brier_of_base_rate"]) for each in (found, found["late"])]
        rows.append((kind, f"{found['deals']:,}", *(f"{number:.3f}" for pair in pairs for number in pair)))
    return table(
        ("seats", "deals", "Brier score", "of the base rate", "Brier score, late", "of the base rate, late"), rows
    )


def win_reliability() -> str:
    """What came of the chances that the curve for four seats gives."""
    found = json.loads(WIN_CHANCES.read_text(encoding="utf-8"))["truth"]["4"]
    late = {row["from"]: row for row in found["late"]["reliability"]}
    rows = []
    for row in found["reliability"]:
        ends = late.get(row["from"])
        told = [f"{each['chance']:.3f}" if each else "-" for each in (row, ends)]
        won = [f"{each['won']:.3f}" if each else "-" for each in (row, ends)]
        rows.append((f"{row['from']:.2f} to {row['to']:.2f}", f"{row['seats']:,}", told[0], won[0], told[1], won[1]))
    return table(("chance", "seats", "mean chance", "share won", "mean chance, late", "share won, late"), rows)


def _small() -> dict[str, Any]:
    """What benchmarks/small_hearts.py found last."""
    kept: dict[str, Any] = json.loads(SMALL.read_text(encoding="utf-8"))
    return kept


def small() -> str:
    """The small packs and the sizes of their game trees."""
    sizes = {row["rules"]: row for row in _small()["sizes"]}
    rows = []
    for name, preset in PRESETS.items():
        if preset.source != "SM":
            continue
        rules = Rules.preset(name)
        row = sizes.get(name)
        counted = ("", "", "")
        if row:
            counted = (f"{row['positions']:,}", f"{row['endings']:,}", f"{row['infosets'][0]:,}")
        rows.append((f"`{name}`", f"`{rules.show()}`", f"{count_deals(compiled_rules(rules)):,}", *counted))
    return table(("preset", "rules", "deals", "positions", "ways to end", "information sets a seat"), rows)


def exploit() -> str:
    """How far agents can be exploited."""
    rows = [
        (f"`{row['rules']}`", f"`{row['agent']}`", f"{row['nash_conv']:.6f}", f"{row['seconds']}")
        for row in _small()["agents"]
    ]
    return table(("rules", "agent", "NashConv", "seconds, the tree given"), rows)


def cfr() -> str:
    """NashConv of the average policy of CFR by its iterations."""
    kept = _small()["cfr"]
    rows = [(str(row["iterations"]), f"{row['ours']:.12f}", f"{row['openspiel']:.12f}") for row in kept["rows"]]
    head = ("iterations of CFR", f"NashConv on `{kept['rules']}`, hearts_env.exact.best_response", "OpenSpiel")
    return table(head, rows)


def over_training() -> str:
    """NashConv of networks at the end of their training under small rules, beside agents that don't learn."""
    rows = []
    for name in TRAINED:
        kept = json.loads((SMALL.parent / f"{name}_training.json").read_text(encoding="utf-8"))
        rows += [(f"`{name}`", f"`{line['agent']}`", "", f"{line['nash_conv']:.3f}", "") for line in kept["agents"]]
        cfr = _small()["cfr"]
        if cfr["rules"] == name:
            last = cfr["rows"][-1]
            rows.append((f"`{name}`", f"CFR, {last['iterations']} iterations", "", f"{last['ours']:.3f}", ""))
        ends: dict[str, list[dict[str, Any]]] = {}
        for label, run in zip(differences([run["config"] for run in kept["runs"]]), kept["runs"], strict=True):
            ends.setdefault(label, []).append(run["points"][-1])
        for label, points in ends.items():
            decisions = f"{min(point['decisions'] for point in points) / 1e6:.1f} M"
            found = (", ".join(f"{point[way]:.3f}" for point in points) for way in WAYS)
            rows.append((f"`{name}`", label, decisions, *found))
    return table(("rules", "who", "decisions", *(f"NashConv, {words}" for words in WAYS.values())), rows)


PARTS: dict[str, Callable[[], str]] = {
    "fields": fields,
    "sources": sources,
    "presets": presets,
    "variants": variants,
    "readings": readings,
    "encoding": encoding,
    "sizes": sizes,
    "agents": agents,
    "ladder": ladder,
    "choices": choices,
    "win_chances": win_chances,
    "win_reliability": win_reliability,
    "leaderboard": leaderboard,
    "weights": weights,
    "bench": benchmark_tables.bench,
    "players": benchmark_tables.players,
    "threads": benchmark_tables.threads,
    "memory": benchmark_tables.memory,
    "limit": benchmark_tables.limit,
    "peers": benchmark_tables.peers,
    "ratios": benchmark_tables.ratios,
    "overhead": benchmark_tables.overhead,
    "transcript": transcript,
    "small": small,
    "exploit": exploit,
    "cfr": cfr,
    "over_training": over_training,
    "dominated_patterns": dominated_tables.dominated_patterns,
    "dominated_presets": dominated_tables.dominated_presets,
    "dominated_effects": dominated_tables.dominated_effects,
    "net_made": net_tables.net_made,
    "net_plays": net_tables.net_plays,
    "net_others": net_tables.net_others,
    "net_curve": net_tables.net_curve,
    "hour_curve": lambda: net_tables.net_curve("hour_curve"),
    "net_settings": net_tables.net_settings,
    **module_tables.PARTS,
}
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def rewritten(text: str) -> str:
    """The text with every generated part made anew."""
    return PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}\n{part[3]}", text)


def main() -> int:
    """Rewrite, or check; 1 if something was out of date."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        new = rewritten(text)
        if new != text:
            stale += 1
            print(f"{path.relative_to(ROOT)} {'is out of date: run make docs' if check else 'rewritten'}")
            if not check:
                path.write_text(new, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
