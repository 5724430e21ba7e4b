"""Readers and writers of what OCR and ASR engines make.

`registry` is the table of formats with `detect` and `read_file`; each format is one module with its own
reader. `utterances` holds `read_utterances` and `write_utterances` for galloon's own files, `gathering`
brings the files of several engines together, `writers` is the table of what can be written.
`limits.ReadLimits` bounds them all.
"""
