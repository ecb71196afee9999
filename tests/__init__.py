"""Check the kit: each part has its folder here, under the name it has at the root."""
