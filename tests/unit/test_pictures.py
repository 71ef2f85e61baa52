"""Pictures and HTML of a table: what is on it is drawn, and what a seat may not see is not."""

from __future__ import annotations

import itertools
import re
import sys
import time
from html.parser import HTMLParser
from typing import Any

import gymnasium
import numpy as np
import pytest

from hearts_env import hearts_v0
from hearts_env.cards import ACTION_NAMES, names_in
from hearts_env.draw.notebook import html_of, show_view_html
from hearts_env.draw.picture import SIZE, PictureError, draw
from hearts_env.draw.scene import scene_of_state, scene_of_view

pytest.importorskip("PIL", reason="pictures need Pillow, from the extra render")


def passing(render_mode: Any = None) -> Any:
    """Seat 0 has picked two cards to pass, the others one each."""
    env = hearts_v0.env(render_mode=render_mode)
    env.reset(options={"deal_id": 5, "deal_no": 0, "scores": [1, 2, 3, 4]})
    for _ in range(5):
        env.step(ACTION_NAMES.index(env.infos[env.agent_selection]["legal"][-1]))
    return env


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_every_table_is_drawn_within_the_picture(players: int) -> None:
    env = hearts_v0.env(f"num_players={players}", render_mode="rgb_array")
    env.reset(seed=players)
    frames = []
    while env.agents and not any(env.terminations.values()):
        frames.append(env.render())
        for _ in range(5):
            if not any(env.terminations.values()):
                env.step(ACTION_NAMES.index(env.infos[env.agent_selection]["legal"][0]))
    frames.append(env.render())
    for frame, later in itertools.pairwise(frames):
        assert (frame.shape, frame.dtype) == ((SIZE[1], SIZE[0], 3), np.uint8)
        assert (frame != later).any()
        edge = np.concatenate([frame[:4].reshape(-1, 3), frame[:, :4].reshape(-1, 3), frame[:, -4:].reshape(-1, 3)])
        assert (edge == edge[0]).all()


def test_a_frame_is_a_fresh_array_and_quick_enough_for_a_film() -> None:
    env = passing("rgb_array")
    first = env.render()
    kept = first.copy()
    first[:] = 0
    start = time.process_time()
    for _ in range(20):
        again = env.render()
    assert (again == kept).all()
    assert 20 / (time.process_time() - start) > 20


def test_every_environment_can_be_filmed() -> None:
    single: Any = gymnasium.make("hearts_env/Hearts-v0", opponents="random", render_mode="rgb_array")
    vector = gymnasium.make_vec("hearts_env/Hearts-v0", num_envs=2, opponents="random", render_mode="rgb_array")
    parallel = hearts_v0.parallel_env(render_mode="rgb_array")
    for env in (single, vector, parallel):
        env.reset(seed=1)
    frames = [single.render(), parallel.render(), *vector.render()]
    assert {frame.shape for frame in frames} == {(SIZE[1], SIZE[0], 3)}
    assert len(frames) == 4


def test_without_pillow_the_error_says_what_to_install(monkeypatch: Any) -> None:
    env = passing("rgb_array")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PictureError, match=r"pip install 'hearts_env\[render\]'"):
        env.render()


def test_a_view_s_picture_does_not_depend_on_hidden_cards() -> None:
    env = passing()
    other = env.clone()
    state = other._table.state
    one, two = (int(np.flatnonzero([int(state.hands[0, s]) >> c & 1 for c in range(52)])[0]) for s in (2, 3))
    for array in (state.hands, state.start):
        array[0, 2] ^= (1 << one) | (1 << two)
        array[0, 3] ^= (1 << one) | (1 << two)
    ours, theirs = env.view("seat_0"), other.view("seat_0")
    assert (draw(scene_of_view(ours)) == draw(scene_of_view(theirs))).all()
    assert show_view_html(ours) == show_view_html(theirs)
    everything = [draw(scene_of_state(e._table.rules, e._table.state)) for e in (env, other)]
    assert (everything[0] != everything[1]).any()


class Cells(HTMLParser):
    """The text of each row, and whether every tag that opens closes in order."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and self.open and "tr" in self.open:
            self.rows[-1][-1] += data


def rows_of(html: str) -> list[list[str]]:
    cells = Cells()
    cells.feed(html)
    assert cells.open == []
    return cells.rows


class Inks(HTMLParser):
    """The colour of every text and of what it stands on, where notebooks whiten rows and captions."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, str]] = [("#000000", "#ffffff")]
        self.pairs: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        given = dict(part.split(":") for part in (dict(attrs).get("style") or "").split(";") if part)
        ink, ground = self.open[-1]
        ground = "#ffffff" if tag in ("tr", "caption") else ground
        self.open.append((given.get("color", ink), given.get("background", ground)))

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.pairs.add(self.open[-1])


def brightness(colour: str) -> float:
    """Relative luminance, as the web's guidelines on contrast have it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


def test_the_html_can_be_read_whatever_a_notebook_does_to_tables() -> None:
    inks = Inks()
    inks.feed(passing()._repr_html_())
    assert len(inks.pairs) >= 6
    for ink, ground in inks.pairs:
        low, high = sorted((brightness(ink), brightness(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, f"{ink} on {ground}"


SIGNS = str.maketrans("CDHST", "♣♦♥♠T")


def test_the_html_shows_all_hands_scores_and_whose_turn_it_is() -> None:
    env = passing()
    head, *rows = rows_of(env._repr_html_())
    assert head == ["seat", "score", "points", "trick", "hand"]
    assert [row[0] for row in rows] == ["0", "▸ 1", "2", "3"]
    assert [row[1] for row in rows] == ["1", "2", "3", "4"]
    for row, hand in zip(rows, env._table.state.hands[0], strict=True):
        cards = [name[0].replace("T", "10") + name[1].translate(SIGNS) for name in names_in(hand)]
        assert row[4].split() == cards
    html = env._repr_html_()
    assert html.count("box-shadow") == 5
    assert not re.search(r"https?:|<script|<link", html)


def test_the_html_of_a_view_shows_other_hands_by_their_size_only() -> None:
    env = passing()
    _, *rows = rows_of(show_view_html(env.view("seat_1")))
    assert [row[4] for row in rows if row[0] != "▸ 1"] == [" 13 cards not shown"] * 3


def test_a_trick_stands_in_its_column() -> None:
    env = hearts_v0.env()
    env.reset(options={"deal_id": 5, "deal_no": 3})
    env.step(0)
    trick = [row[3] for row in rows_of(env._repr_html_())[1:]]
    assert sorted(trick) == ["", "", "", "2♣"]
    assert html_of(scene_of_state(env._table.rules, env._table.state)) == env._repr_html_()


def test_before_reset_a_notebook_says_so() -> None:
    single: Any = gymnasium.make("hearts_env/Hearts-v0", opponents="random").unwrapped
    for env in (hearts_v0.env(), hearts_v0.parallel_env(), single):
        assert env._repr_html_() == "<i>no cards are dealt yet: call reset()</i>"
        env.reset(seed=1)
        assert len(rows_of(env._repr_html_())) == 5
