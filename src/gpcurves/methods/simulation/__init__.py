"""The truth by Monte Carlo: average learning curves with standard errors.

`dataset` computes all n of one data set, `vertices` one data set on a graph; `datasets` and `vertex_datasets` are the
experiments that draw them, and `method` is the method that averages.
"""
