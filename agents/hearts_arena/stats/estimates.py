"""Means over deal ids with standard errors, bootstrap intervals, p-values and power.

Everything is a ratio of two weighted sums of the same columns, of which each deal id adds one row of whole numbers.
Sums of whole numbers are exact, so that neither the size nor the order of tasks can matter, and memory does not grow
with the deals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Ints, Numbers

REPLICATES = 1000
"""Replicates of the bootstrap."""
CONFIDENCE = 0.95
FOLDS = 2
"""Halves of the deal ids: the coefficients for one come from the other."""
_BLOCK = 256
"""Deal ids whose weights are drawn at once."""


@dataclass(frozen=True)
class Estimate:
    """A mean over deal ids."""

    mean: float
    se: float | None
    """Standard error; None for a single deal id."""
    low: float | None
    """Bounds of the 95 % bootstrap interval, None for a single deal id."""
    high: float | None
    count: int
    """Deal ids."""

    @property
    def sd(self) -> float | None:
        """Standard deviation of a single deal id's value."""
        return None if self.se is None else self.se * math.sqrt(self.count)

    @property
    def p(self) -> float | None:
        """Two-sided p-value of a mean of zero."""
        if not self.se:
            return None if self.se is None else float(self.mean == 0)
        return p_value(self.mean / self.se, self.count - 1)


class Sums:
    """Sums of rows of whole numbers, one row a deal id: plain, squared, and under each bootstrap replicate's weights.

    The bootstrap is Poisson's: in each replicate a deal id counts 0, 1, 2, ... times, drawn from its number alone
    (Chamandy et al. 2012, "Estimating uncertainty for massive data streams").
    """

    def __init__(self, seed: int) -> None:
        self.count = 0
        self._seed = seed
        self._width = 0
        self.total: Numbers = np.zeros(0)  # [C]
        self.squares: Numbers = np.zeros((FOLDS, 0, 0))  # [folds, C, C]
        self.folds: Numbers = np.zeros((FOLDS, 0))  # [folds, C]
        self.replicates: Numbers = np.zeros((REPLICATES, 0))  # [B, C]

    def add(self, first: int, rows: Ints, columns: list[int]) -> None:
        """Count deal ids number `first` and on: int64 [K, len(columns)], zero in all other columns."""
        self._widen(max(columns) + 1)
        at = np.array(columns)
        values = rows.astype(np.float64)
        fold = (first + np.arange(len(rows))) % FOLDS
        for index in range(FOLDS):
            part = values[fold == index]
            self.squares[index][np.ix_(at, at)] += part.T @ part
            self.folds[index][at] += part.sum(axis=0)
        self.total[at] += values.sum(axis=0)
        done = 0
        while done < len(rows):
            block, offset = divmod(first + done, _BLOCK)
            size = min(_BLOCK - offset, len(rows) - done)
            weights = _weights(self._seed, block)[:, offset : offset + size]
            self.replicates[:, at] += weights.astype(np.float64) @ values[done : done + size]
            done += size
        self.count += len(rows)

    def _widen(self, width: int) -> None:
        extra = width - len(self.total)
        if extra > 0:
            self.total = np.pad(self.total, (0, extra))
            self.folds = np.pad(self.folds, ((0, 0), (0, extra)))
            self.squares = np.pad(self.squares, ((0, 0), (0, extra), (0, extra)))
            self.replicates = np.pad(self.replicates, ((0, 0), (0, extra)))

    def estimate(self, above: Numbers, below: Numbers, count: int) -> Estimate:
        """The ratio `above` over `below`, two sums with these weights of the columns ([C]), over `count` deal ids."""
        mean = float(self.total @ above / (self.total @ below))
        if count < 2:
            return Estimate(mean, None, None, None, count)
        rest = above - mean * below
        spread = float(rest @ self.squares.sum(axis=0) @ rest)
        # The residuals sum to zero: this is the usual standard error where the denominator is constant.
        se = math.sqrt(max(spread, 0.0) * count / (count - 1)) / float(self.total @ below)
        low, high = self.interval(above, below, count)
        return Estimate(mean, se, low, high, count)

    def ratios(self, above: Numbers, below: Numbers) -> Numbers:
        """The ratio in each bootstrap replicate, [B]; nan where a replicate has drawn none of its deal ids."""
        weights = self.replicates @ below
        nothing = np.full(len(weights), np.nan)
        result: Numbers = np.divide(self.replicates @ above, weights, out=nothing, where=weights != 0)
        return result

    def interval(self, above: Numbers, below: Numbers, count: int) -> tuple[float, float]:
        """The middle of the ratio's replicates, a little more than 95 % of them where there are few deal ids.

        A bootstrap's spread is too small by the root of (n - 1) / n, and knows no Student's t (Hesterberg 2015, "What
        teachers should know about the bootstrap", section 4.2).
        """
        reach = _student(count - 1) * math.sqrt(count / (count - 1))
        tail = 100 * NormalDist().cdf(-reach)
        low, high = np.nanpercentile(self.ratios(above, below), [tail, 100 - tail])
        return float(low), float(high)

    def controlled(self, above: Numbers, below: Numbers, controls: list[int]) -> tuple[float, float]:
        """Mean and standard error of a ratio less what the control columns explain of it, with cross-fitting.

        The controls have expectation zero, and the coefficients for a fold come from the other one: whatever they are,
        the expectation stays that of the plain mean.  `below` must be the same for every deal id.
        """
        unit = float(self.total @ below) / self.count
        total, spread = 0.0, 0.0
        for fold in range(FOLDS):
            other = 1 - fold
            products = self.squares[other]
            known = products[np.ix_(controls, controls)]
            wanted = products[controls] @ above - self.folds[other][controls] * (
                self.folds[other] @ above / max(1.0, self._size(other))
            )
            weights = above.copy()
            weights[controls] -= np.linalg.lstsq(known, wanted, rcond=None)[0]
            total += float(self.folds[fold] @ weights)
            spread += float(weights @ self.squares[fold] @ weights)
        mean = total / self.count
        variance = (spread - self.count * mean**2) / (self.count - 1)
        return mean / unit, math.sqrt(max(variance, 0.0) / self.count) / unit

    def _size(self, fold: int) -> float:
        """Deal ids of this fold, if they are all that were counted."""
        return (self.count + FOLDS - 1 - fold) // FOLDS


@cache
def _poisson() -> NDArray[np.uint8]:
    """uint8 [65536]: a uniform 16-bit number to a Poisson number of mean 1."""
    chances = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(12)])
    return np.searchsorted(chances, (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.uint8)


def _weights(seed: int, block: int) -> NDArray[np.uint8]:
    """The count of each deal id of a block in each replicate: uint8 [B, _BLOCK]."""
    draws = np.random.default_rng([seed, block]).integers(0, 1 << 16, (REPLICATES, _BLOCK), np.uint16)
    weights: NDArray[np.uint8] = _poisson()[draws]
    return weights


def p_value(t: float, freedom: int) -> float:
    """Two-sided p-value of Student's t; of the normal distribution where there is no scipy."""
    try:
        from scipy.special import stdtr
    except ModuleNotFoundError:
        return 2 * NormalDist().cdf(-abs(t))
    return float(2 * stdtr(freedom, -abs(t)))


def _student(freedom: int) -> float:
    """Quantile of Student's t at CONFIDENCE, two-sided, by its expansion in powers of 1 / freedom (Fisher 1926)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def holm(p_values: list[float]) -> list[float]:
    """The p-values corrected for their number: the chance of any false one stays below the level (Holm 1979)."""
    order = np.argsort(p_values)
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = highest
    return corrected


def deals_needed(difference: float, sd: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Deal ids that show a difference of this size with probability `power`, in a two-sided test at level `alpha`.

    sd: of one deal id's difference.
    """
    return math.ceil((_quantiles(power, alpha) * sd / difference) ** 2)


def detectable(se: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The difference that a tournament with this standard error finds with probability `power`."""
    return _quantiles(power, alpha) * se


def _quantiles(power: float, alpha: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
