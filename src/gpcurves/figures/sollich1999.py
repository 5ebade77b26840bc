"""The figures of Sollich (1999)."""
