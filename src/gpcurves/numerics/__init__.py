"""Numerical tools and checks that know nothing of Gaussian processes."""
