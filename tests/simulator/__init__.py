"""Ask a policy simulator what a policy lets its holder do: IAM's own rules of evaluation, without an account."""
