"""``python -m gpcurves`` is the command line."""

from gpcurves.cli import main

main()
