"""Files of millions of lines by many workers: cut by byte ranges, a part for each, the same whoever works.

`ranges` cuts, `work` is what is done with a range, `run` does it with processes here or on a Ray cluster.
"""
