"""Whole pages and recordings on the client's side.

`sources` (which files belong together), `reading` (their pages), `matching` (their lines, in processes beside
this one), `combining` (what the learner chooses), `placement` (where its words stand), `combined` (the result as
values), `writers` (one file a format), `output` (where it goes and what is done), `report` (what found no match).
"""
