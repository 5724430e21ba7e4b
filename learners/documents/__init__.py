"""Whole pages and recordings: what engines made of one document, brought together line by line.

`document` (the values), `matching` (the entry: pages or recordings of several engines in, matched lines out).
"""
