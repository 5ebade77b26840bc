"""Conditions that several methods share: each returns why a problem does not meet it, or None if it does."""

from __future__ import annotations

from gpcurves.problem import Problem


def needs_kernel(problem: Problem) -> str | None:
    """Return why there is no kernel, or None if there is one."""
    return "it needs the kernel and the inputs, which a bare spectrum does not have" if problem.kernel is None else None


def needs_noise(problem: Problem) -> str | None:
    """Return why there is no noise, or None if there is."""
    return None if problem.least_noise > 0 else "the noise must be greater than 0, got 0"
