"""Check synthesised Terraform JSON against the arguments of the AWS provider, without Terraform and without network."""
