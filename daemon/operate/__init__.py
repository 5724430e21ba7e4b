"""What keeps the daemon well: housekeeping, logs, memory, the doctor."""
