"""An agent for `exec:python3 examples/agent.py`: ducks if it can, else throws away its most dangerous card."""

import json
import sys

RANKS = "23456789TJQKA"


def danger(card):
    points = {"QS": 40, "KS": 30, "AS": 30}.get(card, 12 if card[1] == "H" else 0)
    return points + RANKS.index(card[0])


def choose(asked, seats):
    if asked["phase"] == "pass":
        return max(asked["legal"], key=danger)
    if asked["phase"] == "moon":
        return "add"
    trick = asked["plays"][len(asked["plays"]) // seats * seats :]
    led = [card for _, card in trick if card[1] == trick[0][1][1]]
    if not led:
        return min(asked["legal"], key=danger)
    best = max(RANKS.index(card[0]) for card in led)
    losing = [card for card in asked["legal"] if card[1] != led[0][1] or RANKS.index(card[0]) < best]
    return max(losing, key=danger) if losing else min(asked["legal"], key=danger)


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        seats = message["rules"].get("num_players", 4)
        print(json.dumps({"name": "ducker", "ready": True}), flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], "action": choose(message, seats)}), flush=True)
    else:
        break
