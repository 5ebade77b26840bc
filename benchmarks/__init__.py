"""Hot paths, each as a ratio against what one would do instead, measured in one run."""
