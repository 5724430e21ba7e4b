"""What one engine's lattice says: its scores scaled (`scales`) and the words of least risk (`decoding`)."""
