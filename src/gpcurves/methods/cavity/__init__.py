"""Belief propagation on graphs: messages, one given graph, and populations for random graph ensembles."""
