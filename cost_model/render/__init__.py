"""Put estimates into words, tables and JSON: the only place where amounts are rounded."""
