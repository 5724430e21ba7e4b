"""A font for text that nobody sees: `glyphless_font`.

Words under a page's image are invisible, so their font needs no shapes, only a name for each character: one empty
glyph a character, all of the same width. That covers every script, and no font of the machine is needed.
"""

from collections.abc import Iterable
from io import BytesIO

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

EM = 1000
ADVANCE = 500  # of each character
ASCENT, DESCENT = 800, -200
CREATED = 3_029_529_600  # 2000-01-01 in seconds since 1904: the same characters make the same bytes
MOST_GLYPHS = 65_000  # that a TrueType font can hold


def glyphless_font(characters: Iterable[str]) -> bytes:
    """A TrueType font of empty glyphs for these characters."""
    codes = sorted({ord(character) for character in characters} | {ord(" ")})[:MOST_GLYPHS]
    names = {code: f"u{code:04X}" for code in codes}
    glyphs = [".notdef", *names.values()]
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(glyphs)
    font.setupCharacterMap(names)
    empty = TTGlyphPen(None).glyph()
    font.setupGlyf(dict.fromkeys(glyphs, empty))
    font.setupHorizontalMetrics(dict.fromkeys(glyphs, (ADVANCE, 0)))
    font.setupHorizontalHeader(ascent=ASCENT, descent=DESCENT)
    font.setupNameTable({"familyName": "Glyphless", "styleName": "Regular"})
    font.setupOS2(sTypoAscender=ASCENT, sTypoDescender=DESCENT, usWinAscent=ASCENT, usWinDescent=-DESCENT)
    font.setupPost()
    font.font["head"].created = font.font["head"].modified = CREATED
    out = BytesIO()
    font.font.recalcTimestamp = False
    font.save(out)
    return out.getvalue()
