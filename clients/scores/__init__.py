"""Error rates of texts, system by system."""
