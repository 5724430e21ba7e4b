"""What counts as the same text: normalisers."""
