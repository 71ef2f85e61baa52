"""The options of an environment as one checked value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from hearts_env.draw.picture import RENDER_MODES, RenderMode
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.rewards import EPISODES, REWARDS, Episode, Reward
from hearts_env.game.rules import Rules
from hearts_env.match.tables import MAX_DEALS

MaskIn = Literal["observation", "info", "both"]
OnIllegal = Literal["terminate", "random", "raise"]
MASK_IN: tuple[MaskIn, ...] = ("observation", "info", "both")
ON_ILLEGAL: tuple[OnIllegal, ...] = ("terminate", "random", "raise")
LIMIT = 2**30
"""Numbers of deals and scores that are given stay below this, so that a game cannot leave 32 bits."""

Choice = TypeVar("Choice", bound=str)


class EnvError(ValueError):
    """A parameter or option that an environment cannot take, or a call out of order."""


@dataclass(frozen=True)
class EnvOptions:
    """The options of every environment: the rules, the rewards, the form of observations, and how actions are taken.

    Raises EnvError or RulesError, both ValueErrors, for a value that cannot be.
    """

    rules: Rules | str = Rules()  # frozen
    """Rules, or text that `Rules.parse` reads, such as "omnibus,target=50"; kept as Rules."""
    episode: Episode = "deal"
    """One "deal", or a "game" of deals to the target."""
    reward: Reward = "points"
    """The kind of reward: one of "points", "tricks", "zero_sum" and "rank", see `hearts_env.game.rewards`."""
    mask_in: MaskIn = "observation"
    """Where the mask of legal actions is shown: beside the observation, in the info, or both."""
    on_illegal: OnIllegal = "terminate"
    """The effect of an illegal action: end the episode at the offender's cost, become a random legal one, or raise."""
    render_mode: RenderMode | None = None
    pad: bool = False
    """Observations have room for seven seats, see `encode.layout`."""
    order: bool = False
    """Observations hold the cards in order of play, see `encode.layout`."""
    max_deals: int = MAX_DEALS
    """A game that is not over after so many deals is truncated."""
    deal_id_in_info: bool = False
    """Infos have the key `deal_id`.  Whoever reads it can work out all hands: it is for logs, never for a learner."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", checked_rules(self.rules))
        checked_choice("episode", self.episode, EPISODES)
        checked_choice("reward", self.reward, REWARDS)
        checked_choice("mask_in", self.mask_in, MASK_IN)
        checked_choice("on_illegal", self.on_illegal, ON_ILLEGAL)
        if self.render_mode is not None:
            checked_choice("render_mode", self.render_mode, self.render_modes())
        if isinstance(self.max_deals, bool) or not isinstance(self.max_deals, int) or not 0 < self.max_deals < LIMIT:
            raise EnvError(f"max_deals={self.max_deals!r:.60}: must be a positive whole number")

    @classmethod
    def render_modes(cls) -> Sequence[RenderMode]:
        """The modes in which `render` shows these environments."""
        return RENDER_MODES

    @property
    def compiled(self) -> CompiledRules:
        """The compiled rules."""
        assert isinstance(self.rules, Rules)
        return compiled_rules(self.rules)


def checked_choice(name: str, value: object, choices: Sequence[Choice]) -> Choice:
    """`value` as the one of `choices` that it is.  Raises EnvError with the name, the value and the choices."""
    for choice in choices:
        if isinstance(value, str) and value == choice:
            return choice
    raise EnvError(f"{name}={value!r:.60}: must be one of {', '.join(map(repr, choices))}")


def checked_rules(rules: object) -> Rules:
    """Rules, or text that `Rules.parse` reads.  Raises EnvError or RulesError."""
    if isinstance(rules, str):
        return Rules.parse(rules)
    if not isinstance(rules, Rules):
        raise EnvError(f"rules={rules!r:.60}: must be Rules, or text such as 'omnibus,target=50'")
    return rules


def forwarded(
    name: str, options: Mapping[str, Any], kind: type[EnvOptions], more: Iterable[str] = (), fixed: Iterable[str] = ()
) -> dict[str, Any]:
    """The keyword arguments with which an adapter or wrapper makes its environment.

    Args:
        name: of the adapter, for the message.
        options: what it was given.
        kind: the options of the environment that it makes.
        more: options of that environment besides.
        fixed: options that the adapter sets itself.

    Raises:
        EnvError: that names an option which is not there, and those that are.
    """
    taken = [option for option in (*(field.name for field in fields(kind)), *more) if option not in set(fixed)]
    for option in options:
        if option not in taken:
            why = "is set by it" if option in set(fixed) else "is none"
            raise EnvError(f"{name}: option {option!r:.60} {why}: options are {', '.join(taken)}")
    return dict(options)
