"""The card of the network in the package as tables, from the facts that lie beside its weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markdown_table import table

ROOT = Path(__file__).resolve().parent.parent
FACTS = ROOT / "agents" / "hearts_agents" / "net" / "net.json"
RESULTS = ROOT / "benchmarks" / "results"


def net_made() -> str:
    """What the network is, and what it was made from."""
    facts = _facts()
    weights, trained, config = facts["weights"], facts["training"], facts["training"]["config"]
    rows = [
        ("network", f"{weights['inputs']} inputs, {weights['blocks']} residual blocks of {weights['width']}"),
        ("parameters", f"{weights['parameters']:,} of float32, {weights['bytes']:,} bytes"),
        ("SHA-256 of the file", f"`{weights['sha256']}`"),
        ("rules", f"`{config['rules']}`" + "".join(f", `{rules}`" for rules in _also(config))),
        ("deals", _each(trained, "deals", "{:,}")),
        ("decisions learned from", _each(trained, "decisions", "{:,}")),
        ("hours, evaluations included", _each(trained, "hours", "{:.1f}")),
        ("workers, of one thread each", str(config["workers"])),
        ("machine", _machines(trained["sessions"])),
        ("seed", str(config["seed"])),
    ]
    return table(("what", "value"), rows)


def net_plays() -> str:
    """How the network does against others, deal by deal and in games."""
    measured = _facts()["evaluation"]
    rows = [(f"`{row['agent']}`", _seats(row), f"`{row['opponent']}`", _payoff(row)) for row in measured["results"]]
    title = f"payoff a seat and deal, {measured['deals']:,} deal ids"
    deals = table(("agent", "seats", "against", title), rows)
    won = [
        (f"`{row['agent']}`", _seats(row), f"`{row['opponent']}`", f"{row['wins']:.1%} ± {row['wins_se']:.1%}")
        for row in measured["games"]
    ]
    games = table(("agent", "seats", "against", f"games to 100 won, from {measured['game_ids']:,} deal ids"), won)
    return f"{deals}\n\n{games}"


def net_others() -> str:
    """How it does under the other rules that it has learned: a row for each, a column for each opponent."""
    measured = _facts()["evaluation"]
    opponents = list(dict.fromkeys(row["opponent"] for row in measured["others"]))
    found: dict[str, list[dict[str, Any]]] = {}
    for row in measured["others"]:
        found.setdefault(row["rules"], []).append(row)
    rows = [(f"`{rules}`", _seats(met[0]), *map(_payoff, met)) for rules, met in found.items()]
    return table(("rules", "seats", *(f"against `{name}`" for name in opponents)), rows)


def _seats(row: dict[str, Any]) -> str:
    return f"{row['seats']} of {row['players']}"


def _payoff(row: dict[str, Any]) -> str:
    return f"{row['payoff']:+.2f} ± {row['payoff_se']:.2f}"


def net_curve(name: str = "net_curve") -> str:
    """How strong the networks of a run were on the way.  name: of the file."""
    kept: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    rows = [
        (
            f"{point['decisions'] / 1e6:,.0f} M",
            f"{point['minutes']:.0f}",
            *("{:+.2f} ± {:.2f}".format(*point[name]) if name in point else "" for name in kept["against"]),
        )
        for point in kept["points"]
    ]
    opponents = ("the run's last network" if name == "last" else f"`{name}`" for name in kept["against"])
    return table(("decisions", "minutes", *(f"against {name}" for name in opponents)), rows)


def net_settings() -> str:
    """Every setting of the run, as of its last start."""
    config = _facts()["training"]["config"]
    return table(("setting", "value"), [(f"`{name}`", f"`{json.dumps(value)}`") for name, value in config.items()])


def _also(config: dict[str, Any]) -> list[str]:
    """The other rules of the run, each once."""
    return [rules for rules in dict.fromkeys(config.get("also_rules", ())) if rules != config["rules"]]


def _each(trained: dict[str, Any], name: str, form: str) -> str:
    """A figure of the run; before it those of the runs whose weights it began with."""
    chain = [trained[name]]
    start = trained["start"]
    while start:
        chain.insert(0, start["seconds"] / 3600 if name == "hours" else start[name])
        start = start.get("start")
    parts = " + ".join(form.format(each) for each in chain)
    return f"{parts} = {form.format(sum(chain))}" if len(chain) > 1 else parts


def _facts() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return facts


def _machines(sessions: list[dict[str, Any]]) -> str:
    kinds = {f"{line['machine']['cpu']}, {line['machine']['cores']} cores" for line in sessions}
    return "; ".join(sorted(kinds)) or "not recorded"
