"""Measure the agent image beside plain Strands and ADOT: the same questions, the same stand-in for Bedrock."""
