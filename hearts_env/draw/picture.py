"""One table as a frame: text, text that is printed, or a picture that can be filmed."""

from __future__ import annotations

import math
import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from hearts_env.cards import NO_CARD, NUM_RANKS, RANKS, Bytes
from hearts_env.draw.scene import Place, Scene, scene_of_state
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.state import State
from hearts_env.text.render import coloured, show_state

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

RenderMode = Literal["human", "ansi", "rgb_array"]
RENDER_MODES: tuple[RenderMode, ...] = ("human", "ansi", "rgb_array")

SIZE = (800, 544)
"""Width and height of a picture, which video codecs want even."""
_CARD = (40, 56)
_STEP = 17
"""How far apart the cards of a hand lie."""
_FELT, _EDGE, _INK, _LIGHT, _GOLD = (24, 92, 62), (16, 70, 46), (20, 20, 24), (235, 240, 235), (255, 214, 90)
_SUIT_COLOURS = ((20, 120, 50), (30, 90, 200), (205, 30, 40), (25, 25, 30))
"""A four-colour pack, as in the terminal: clubs green, diamonds blue, hearts red, spades black."""
_RAISED = 11
"""How far a card stands out that is picked to pass."""
_FINE = 4
"""Cards are drawn so many times larger, and scaled down smooth."""


class PictureError(ValueError):
    """A picture that cannot be drawn here."""


class _Point(NamedTuple):
    x: float
    y: float


def frame(mode: RenderMode, rules: CompiledRules, state: State, row: int = 0) -> str | Bytes | None:
    """One table, all hands face up.

    mode: "ansi": text; "rgb_array": a picture, uint8 [height, width, 3]; "human": printed, in colour on a terminal.
    Raises PictureError where Pillow, which draws, is missing.
    """
    if mode == "rgb_array":
        return draw(scene_of_state(rules, state, row))
    text = show_state(rules, state, row)
    if mode == "ansi":
        return text
    plain = "NO_COLOR" in os.environ or not sys.stdout.isatty()
    print(text if plain else coloured(text), end="\n\n", flush=True)
    return None


def draw(scene: Scene) -> Bytes:
    """The table from above, seat 0 at the bottom and seat 1 to its left: uint8 [height, width, 3]."""
    pillow, _, _ = _pillow()
    image: Image.Image = pillow.new("RGB", SIZE)
    image.paste(_felt())
    _write(image, scene.headline, 17, _LIGHT, _Point(SIZE[0] / 2, 22))
    for place in scene.places:
        angle = math.pi / 2 + 2 * math.pi * place.seat / len(scene.places)
        _draw_hand(image, place, _around(angle, 0.325, 0.36))
        if place.trick != NO_CARD:
            centre = _around(angle, 0.10, 0.11)
            image.paste(_card(place.trick), _corner(centre), _outline())
    return np.asarray(image, np.uint8).copy()


def _draw_hand(image: Image.Image, place: Place, centre: _Point) -> None:
    """The cards of a seat in a row, those picked to pass raised, and its name and numbers below."""
    size = len(place.cards) + place.hidden
    width = _STEP * (size - 1) + _CARD[0]
    left = min(max(centre.x - width / 2, 10), SIZE[0] - 10 - width)
    for index in range(size):
        card = place.cards[index] if index < len(place.cards) else NO_CARD
        raised = _RAISED if card in place.picks else 0
        image.paste(_card(card), (round(left + _STEP * index), round(centre.y - _CARD[1] / 2 - raised)), _outline())
    text = f"seat {place.seat}: {place.points} points, score {place.score}"
    colour = _GOLD if place.to_act else _LIGHT
    _write(image, text, 15, colour, _Point(left + width / 2, centre.y + _CARD[1] / 2 + 12))


def _write(image: Image.Image, text: str, size: int, colour: tuple[int, int, int], centre: _Point) -> None:
    """A line of text about a point, moved inside the picture."""
    mask = _text_mask(text, size)
    left = min(max(centre.x - mask.width / 2, 8), SIZE[0] - 8 - mask.width)
    at = (round(left), round(centre.y - mask.height / 2))
    image.paste(colour, (*at, at[0] + mask.width, at[1] + mask.height), mask)


def _around(angle: float, across: float, down: float) -> _Point:
    """A point on an ellipse about the middle of the table, as shares of its width and height; angles run clockwise."""
    return _Point(SIZE[0] * (0.5 + across * math.cos(angle)), SIZE[1] * (0.51 + down * math.sin(angle)))


def _corner(centre: _Point) -> tuple[int, int]:
    return round(centre.x - _CARD[0] / 2), round(centre.y - _CARD[1] / 2)


# -- what is drawn once ------------------------------------------------------------------------------------------------


def _pillow() -> tuple[Any, Any, Any]:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ModuleNotFoundError:
        raise PictureError(
            "render_mode='rgb_array' draws with Pillow: install the extra, pip install 'hearts_env[render]'"
        ) from None
    return Image, ImageDraw, ImageFont


def pillow_draw(image: Image.Image) -> ImageDraw.ImageDraw:
    """A pen for this image."""
    pen: ImageDraw.ImageDraw = _pillow()[1].Draw(image)
    return pen


@lru_cache(maxsize=8)
def _font(size: int) -> Any:
    return _pillow()[2].load_default(size)


@lru_cache(maxsize=1024)
def _text_mask(text: str, size: int) -> Image.Image:
    """The text in white on black: most of a frame's text stood in the last one too."""
    left, top, right, bottom = map(round, _font(size).getbbox(text))
    image: Image.Image = _pillow()[0].new("L", (right - left + 2, bottom - top + 2), 0)
    pillow_draw(image).text((1 - left, 1 - top), text, font=_font(size), fill=255)
    return image


@lru_cache(maxsize=1)
def _felt() -> Image.Image:
    image: Image.Image = _pillow()[0].new("RGB", SIZE, _EDGE)
    box = (8, 40, SIZE[0] - 9, SIZE[1] - 9)
    pillow_draw(image).rounded_rectangle(box, 140, fill=_FELT)
    return image


@lru_cache(maxsize=1)
def _outline() -> Image.Image:
    """The shape of a card as a greyscale mask: its rectangle with rounded corners."""
    image: Image.Image = _pillow()[0].new("L", tuple(_FINE * side for side in _CARD), 0)
    pillow_draw(image).rounded_rectangle((0, 0, image.width - 1, image.height - 1), 5 * _FINE, fill=255)
    return image.resize(_CARD)


@lru_cache(maxsize=64)
def _card(card: int) -> Image.Image:
    """The face of a card, or for NO_CARD a back."""
    face = (250, 250, 246) if card != NO_CARD else (150, 60, 60)
    image: Image.Image = _pillow()[0].new("RGB", tuple(_FINE * side for side in _CARD), face)
    pen = pillow_draw(image)
    width, height = image.size
    pen.rounded_rectangle((0, 0, width - 1, height - 1), 5 * _FINE, outline=_INK, width=_FINE)
    if card == NO_CARD:
        pen.rounded_rectangle((16, 16, width - 17, height - 17), 10, outline=(230, 200, 200), width=_FINE)
        return image.resize(_CARD)
    suit, rank = divmod(card, NUM_RANKS)
    name = RANKS[rank].replace("T", "10")
    corner = _Point(9 * _FINE, 12 * _FINE)
    pen.text(
        corner, name, font=_font(15 * _FINE if len(name) == 1 else 12 * _FINE), fill=_SUIT_COLOURS[suit], anchor="mm"
    )
    _draw_suit(pen, suit, _Point(9 * _FINE, 27 * _FINE), 5.5 * _FINE)
    # Where no part of it shows between the cards that lie on it, raised or not.
    _draw_suit(pen, suit, _Point(width * 0.705, height * 0.605), 10 * _FINE)
    return image.resize(_CARD)


def _draw_suit(pen: ImageDraw.ImageDraw, suit: int, at: _Point, size: float) -> None:
    """The sign of a suit, since few fonts have them.  size: half its height."""
    colour = _SUIT_COLOURS[suit]

    def disc(x: float, y: float, radius: float) -> None:
        centre = _Point(at.x + x * size, at.y + y * size)
        reach = radius * size
        pen.ellipse((centre.x - reach, centre.y - reach, centre.x + reach, centre.y + reach), fill=colour)

    def shape(*points: tuple[float, float]) -> None:
        pen.polygon([(at.x + x * size, at.y + y * size) for x, y in points], fill=colour)

    stalk = ((-0.12, 0.0), (0.12, 0.0), (0.35, 1.0), (-0.35, 1.0))
    if suit == 0:
        for x, y in ((0.0, -0.52), (-0.5, 0.18), (0.5, 0.18)):
            disc(x, y, 0.46)
        shape(*stalk)
    elif suit == 1:
        shape((0.0, -1.0), (0.75, 0.0), (0.0, 1.0), (-0.75, 0.0))
    elif suit == 2:
        disc(-0.44, -0.42, 0.48)
        disc(0.44, -0.42, 0.48)
        shape((-0.86, -0.2), (0.86, -0.2), (0.0, 1.0))
        shape((-0.5, -0.4), (0.5, -0.4), (0.0, 0.1))
    else:
        disc(-0.42, 0.3, 0.45)
        disc(0.42, 0.3, 0.45)
        shape((-0.82, 0.12), (0.82, 0.12), (0.0, -1.0))
        shape(*stalk)
