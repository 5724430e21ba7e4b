"""Readers and writers of what OCR and ASR engines make."""
