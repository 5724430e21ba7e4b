"""Figures, each a ratio taken side by side in one run, because machines are shared and noisy."""
