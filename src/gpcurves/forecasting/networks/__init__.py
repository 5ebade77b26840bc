"""Labels on the vertices of a graph: fit, predict, and forecast the error with more of them."""
