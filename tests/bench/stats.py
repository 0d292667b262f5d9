# SPDX-License-Identifier: BSD-2-Clause
"""The median and its 95 % confidence interval by order statistics."""

import math
import statistics


def median(values):
    return statistics.median(values)


def rank(n, confidence=0.95):
    """The largest k for which the k-th smallest and the k-th largest of n values enclose the
    median of what they were drawn from with at least this confidence; 0 when n is too small.

    The number of values below the true median is binomial (n, 1/2), whatever the distribution;
    the interval misses when fewer than k values lie on one side of it."""
    tail = (1 - confidence) / 2
    below = 0.0
    k = 0
    while k < n // 2 + 1:
        below += math.comb(n, k) * 0.5 ** n
        if below > tail:
            break
        k += 1
    return k


def interval(values, confidence=0.95):
    """(low, high), or None when there are too few values for this confidence (six for 95 %)."""
    k = rank(len(values), confidence)
    if k == 0:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[-k]


def describe(values):
    """{"median", "low", "high"} of the values; low and high are None without an interval."""
    enclosed = interval(values)
    low, high = enclosed if enclosed else (None, None)
    return {"median": median(values), "low": low, "high": high, "n": len(values)}


def verdict(found, target, width=None):
    """In words, whether the interval of a value that should be small reaches the target."""
    if found["low"] is None:
        return "too few runs"
    words = []
    if target is not None:
        words.append("reaches target" if found["low"] <= target else "not met")
    if width is not None and found["high"] - found["low"] >= width:
        words.append("too noisy")
    return ", ".join(words) or "-"
