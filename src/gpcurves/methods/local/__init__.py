"""Local theory: the error at every place, for inputs, noise and labels that are not alike everywhere.

- `fixed_point`: the one iteration that makes errors and information agree.
- `places`: posterior variances at places that carry some information each, by features, dense algebra or messages.
- `method`, `errors`: learning curves of the method ``local``, and the error at every place.
"""
