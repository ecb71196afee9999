"""Tests of what is deployed."""
