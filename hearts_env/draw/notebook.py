"""One table as a piece of HTML that stands alone, for notebooks."""

from __future__ import annotations

from html import escape

from hearts_env.cards import NO_CARD, NUM_RANKS, RANKS
from hearts_env.draw.scene import Place, Scene, scene_of_state, scene_of_view
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.state import State
from hearts_env.game.view import View
from hearts_env.text.notation import SUIT_SIGNS

_COLOURS = ("#14783a", "#1e5ac8", "#cd1e28", "#19191e")
"""A four-colour pack, as in the terminal."""
_TEXT = "font:13px/1.5 system-ui,sans-serif"
_FELT = "display:inline-block;background:#185c3e;color:#ebf0eb;border-radius:8px;padding:6px"
_TABLE = "border-collapse:separate;border-spacing:0;margin:0;background:#185c3e;color:#ebf0eb"
_CELL = "padding:3px 9px;border:0;text-align:left;background:#185c3e;color:#ebf0eb;white-space:nowrap"
"""With colours of its own, since notebooks give the rows of every table a background."""
_CARD = (
    "display:inline-block;min-width:1.6em;margin:1px;padding:1px 3px;border-radius:3px;"
    "background:#fafaf6;text-align:center;font-weight:600"
)


def show_html(rules: CompiledRules, state: State, row: int = 0) -> str:
    """One table with all hands face up: a line a seat, with score, points, its card in the trick, and its hand."""
    return html_of(scene_of_state(rules, state, row))


def show_view_html(seen: View, row: int = 0) -> str:
    """One table in HTML as one seat sees it: of other hands their size, and the cards that it passed to them."""
    return html_of(scene_of_view(seen, row))


def html_of(scene: Scene) -> str:
    """The table; styles stand inside it, since a notebook keeps no style sheet of ours."""
    head = "".join(f'<th style="{_CELL};font-weight:400;opacity:.7">{name}</th>' for name in _HEADS)
    rows = "".join(map(_row, scene.places))
    # Not a caption, which would stand outside the table's background.
    return (
        f'<div style="overflow-x:auto"><div style="{_FELT};{_TEXT}">'
        f'<div style="padding:3px 9px">{escape(scene.headline)}</div><table style="{_TABLE};{_TEXT}">'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


NOTHING_DEALT = "<i>no cards are dealt yet: call reset()</i>"
"""The HTML that an environment shows of itself before its first reset."""
_HEADS = ("seat", "score", "points", "trick", "hand")


def _row(place: Place) -> str:
    mark = "&#9656; " if place.to_act else ""
    weight = ";font-weight:700;color:#ffd65a" if place.to_act else ""
    hand = " ".join(_card(card, raised=card in place.picks) for card in place.cards)
    if place.hidden:
        hand += f' <span style="opacity:.7">{place.hidden} cards not shown</span>'
    cells = (
        (weight, f"{mark}{place.seat}"),
        ("", str(place.score)),
        ("", str(place.points)),
        ("", "" if place.trick == NO_CARD else _card(place.trick)),
        (";white-space:normal", hand),
    )
    return "<tr>" + "".join(f'<td style="{_CELL}{style}">{text}</td>' for style, text in cells) + "</tr>"


def _card(card: int, raised: bool = False) -> str:
    """A card; one that is picked to pass stands out."""
    suit, rank = divmod(card, NUM_RANKS)
    border = ";box-shadow:0 0 0 2px #ffd65a" if raised else ""
    name = f"{RANKS[rank].replace('T', '10')}{SUIT_SIGNS[suit]}"
    return f'<span style="{_CARD};color:{_COLOURS[suit]}{border}">{name}</span>'
