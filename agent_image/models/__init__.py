"""Who answers: a model by its URL, and one that needs no network."""
