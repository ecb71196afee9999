"""Tests of the approvals."""
