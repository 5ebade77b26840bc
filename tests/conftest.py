"""Settings of the whole suite: property tests draw the same examples on every run."""

from hypothesis import settings

settings.register_profile("reproducible", derandomize=True, deadline=None, max_examples=40, print_blob=False)
settings.load_profile("reproducible")
