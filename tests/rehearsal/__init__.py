"""Rehearse deployments with the real Terraform and a pretend cloud.

`cloud.py` is the cloud: two files in a folder, `objects.json` (what exists) and `operations.jsonl` (what was done, in
order). `provider.py` speaks Terraform's plugin protocol 6 in the place of `hashicorp/aws`; its schema is the committed
extract of the real one, `tests/terraform_schema/aws.json`. `wire.py` declares the protocol's messages.
`stage.py` installs the provider as a file-system mirror and runs `terraform` on the synthesised stacks.

It proves the graph, the order, what is refused and what is left. It cannot prove that AWS accepts a value.

`make rehearse` (`__main__.py`) goes the whole way with the framework's CLI: deploy, a second plan without changes,
destroy. With `RASTRO_PLUGIN_DIR`, a folder laid out as Terraform's mirrors and plugin caches are, it takes the real
provider from there and moto's server for AWS; `plugins.py` finds the binary, `trimming.py` leaves out what either does
not know.

By hand, in the project's folder, with an account id of your choice in a copy of `environments/`:

    eval "$(python -m tests.rehearsal.provider install "$PWD/pretend")"
    export PRETEND_ACCOUNT_ID=210987654321
    python main.py copy-of-environments && cd cdktf.out/stacks/agent-dev && terraform init && terraform apply

`PRETEND_SLOW` names types, comma-separated, that take their time to make: an order that only luck kept breaks then. The
framework's CLI works too, with `CDKTF_SKIP_PROVIDER_LOCK=true`: its lock step asks the registry for the real provider.
"""
