"""Log formats. Each module is one format and a plugin that registers it."""
