"""The truth by Monte Carlo: average learning curves with standard errors.

`dataset` draws data sets on vectors, `vertices` data sets on graphs; `method` is the method that averages.
"""
