"""From people's files to rows of numbers; nothing here knows a Gaussian process."""
