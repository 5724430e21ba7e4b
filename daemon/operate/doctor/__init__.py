"""`galloon doctor`: looks at everything that the daemon stands on, and says what to fix. One module per area."""
