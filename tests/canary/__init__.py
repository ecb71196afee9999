"""The canary: words that only this test knows, spoken in every place, looked for in every byte that leaves."""
