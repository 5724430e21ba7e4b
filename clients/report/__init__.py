"""The HTML report of a replay: one file that needs nothing else, for a browser on a desk or a phone.

- `page`: puts the file together, from the template and style beside it
- `chart`: learning curves as SVG
- `sections`: the tables, as HTML
- `lines`: every utterance slot by slot, as data for the script that draws the side-by-side view
"""
