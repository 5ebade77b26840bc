"""The figures of Sollich and Halees (2002)."""
