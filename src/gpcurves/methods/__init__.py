"""Ways from a problem to its learning curve."""
