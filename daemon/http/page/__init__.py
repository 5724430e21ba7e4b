"""The page that the daemon serves at its HTTP port, and the JSON beneath it (docs/page.md).

`routes` wires it up; `access` says who looks; `*_view` modules turn what the daemon holds into JSON; `curves` keep
a bounded history; `live` sends news while somebody listens; `trial` plays a round that a person typed in.
Nothing here is state: it can be thrown away at any time, and a learner's digest does not know of it.
"""
