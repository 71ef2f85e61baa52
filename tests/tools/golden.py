"""Golden records: deals and games of every preset as they were when the behaviour was last meant to change.

`data/records/PRESET.jsonl` holds single deals and one whole game, played by the random agent, whose random numbers
are hashes of the decision: playing them again gives the same bytes on every machine.  `data/records/encodings.json`
holds a digest of what a network sees along them.  Run this file to write all of them anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hearts_agents import make
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals
from hearts_env.observe.encode import ENCODING_VERSION, encode, layout
from hearts_env.text.record import records_of

FOLDER = Path(__file__).parents[1] / "data" / "records"
ENCODINGS = FOLDER / "encodings.json"
DEALS = range(1000, 1005)
"""Ids of the single deals: five in a row, so that every pass offset of a cycle comes up."""
GAME = 81723
"""The id of the first deal of the game."""


def deal_lines(preset: str) -> list[str]:
    """The records of the single deals of a preset as they are played today."""
    return _played(Rules.preset(preset), DEALS, games=False)


def game_lines(preset: str) -> list[str]:
    """The records of the game of a preset, deal by deal, as it is played today."""
    return _played(Rules.preset(preset), [GAME], games=True)


def _played(rules: Rules, ids: Sequence[int], games: bool) -> list[str]:
    lines: list[str] = []

    def keep(finished: Deals) -> None:
        names = [["random"] * rules.num_players] * len(finished.table)
        lines.extend(record.to_json() for record in records_of(rules, finished, names))

    play(rules, [make("random")], [0] * rules.num_players, ids, games=games, on_deals=keep)
    return lines


def encoding_digest(preset: str) -> str:
    """SHA-256 of the encodings of all decisions of the single deals, padded and with the order of play."""
    rules = compiled_rules(Rules.preset(preset))
    shape = layout(rules, pad=True, order=True)
    agent = make("random")
    ids = np.array(DEALS)
    state = State.empty(rules, len(ids))
    deal(rules, state, shuffle(rules, ids), deal_no=np.arange(len(ids)), key=ids)
    digest = hashlib.sha256()
    while not state.over.all():
        state = state.take(~state.over)
        seen = view(rules, state)
        digest.update(encode(shape, seen).tobytes())
        step(rules, state, agent.act(seen))
    return digest.hexdigest()


def encodings() -> str:
    """The text of encodings.json as it would be written today."""
    digests = {preset: encoding_digest(preset) for preset in PRESETS}
    return json.dumps({"encoding_version": ENCODING_VERSION, "sha256": digests}, indent=1) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write every file anew and print what has changed."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(
        arguments
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = {
        FOLDER / f"{preset}.jsonl": "".join(line + "\n" for line in [*deal_lines(preset), *game_lines(preset)])
        for preset in PRESETS
    }
    written[ENCODINGS] = encodings()
    for path in sorted(set(FOLDER.iterdir()) - written.keys()):
        print(f"{path.name} belongs to no preset: remove it")
    for path, text in written.items():
        before = path.read_text(encoding="utf-8") if path.exists() else None
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.name}: {'as before' if before == text else 'CHANGED' if before is not None else 'new'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
