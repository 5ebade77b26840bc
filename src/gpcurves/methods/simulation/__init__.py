"""The truth by Monte Carlo: average learning curves with standard errors.

`dataset` computes all n of one data set, `overlap` knows averages over test inputs in closed form, `simulate` draws many
data sets with the engine and averages them.
"""
