"""One SQLite file that outlives the logs: schema, rows, reading back, search, raw archive."""
