# Rastro: one target a task. `make help` lists them. A newcomer needs Python >= 3.11 and make, nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
VENV := .venv
# Node.js 22 and npm come with the lock file; the pinned framework CLI comes with package-lock.json.
export PATH := $(CURDIR)/$(VENV)/bin:$(CURDIR)/node_modules/.bin:$(PATH)
export CHECKPOINT_DISABLE := 1
# The lock file of a provider would be thrown away with cdktf.out; the version is exact without it.
export CDKTF_SKIP_PROVIDER_LOCK := true
# Without a terminal the framework CLI draws its spinner line by line.
export CI ?= $(shell test -t 1 || echo 1)
export DISABLE_VERSION_CHECK := 1
RASTRO_PYTHON := $(VENV)/bin/python
STAMPS := .make
# What a target acts on is said on the command line: ENV is a name that shells and CI systems use for their own ends.
ifneq ($(origin ENV),command line)
override ENV :=
endif
ifneq ($(origin ACCOUNT),command line)
override ACCOUNT :=
endif
ifneq ($(origin APPROVE),command line)
override APPROVE :=
endif
ifneq ($(origin BUCKET),command line)
override BUCKET :=
endif
ifneq ($(origin BASE),command line)
override BASE :=
endif
ifneq ($(origin FROM),command line)
override FROM :=
endif
ifneq ($(origin TO),command line)
override TO :=
endif
ifneq ($(origin MAX_MONTHLY),command line)
override MAX_MONTHLY :=
endif
ifneq ($(origin MAX_INCREASE),command line)
override MAX_INCREASE :=
endif
TAG ?= $(shell date -u +%Y%m%dT%H%M%SZ)

.PHONY: help setup demo test crash rehearse check format synth cost cost-diff prices checkov needs diff plan apply drift deploy output destroy release adopt bootstrap move-state deploy-account image login carry promote bundle zip pin bench lock schema docs actions clean

help: ## list the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST) \
	  | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9;]*m//g'; fi

# --- set-up ----------------------------------------------------------------------------------------------------------

setup: $(STAMPS)/python $(STAMPS)/node ## make the virtual environment in .venv and install the framework CLI

$(STAMPS)/python: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else f"Python {sys.version.split()[0]} is too old: 3.11 or newer is needed (make PYTHON=python3.12 ...)")'
	@echo "installing the Python packages of requirements.lock into $(VENV): one to three minutes, once"
	@$(PYTHON) -m venv $(VENV)
	@$(RASTRO_PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(RASTRO_PYTHON) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/node: package-lock.json $(STAMPS)/python
	@echo "installing the framework CLI of package-lock.json into node_modules: about half a minute, once"
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

$(STAMPS)/checkov: requirements-checkov.lock $(STAMPS)/python
	@echo "installing checkov into $(VENV)-checkov, an environment of its own: about a minute, once"
	@$(PYTHON) -m venv $(VENV)-checkov
	@$(VENV)-checkov/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-checkov.lock
	@touch $@

# --- look ------------------------------------------------------------------------------------------------------------

demo: $(STAMPS)/python ## price every environment, list the stacks, ask the agent and find again what it was reading
	@echo "synthesising the stacks of environments/ (no AWS credentials, no Terraform)"
	@$(RASTRO_PYTHON) main.py
	@rastro cost estimate cdktf.out
	@echo
	@echo "Stacks in cdktf.out/stacks, each the Terraform JSON that 'cdktf deploy' would apply:"
	@$(RASTRO_PYTHON) -m stacks list
	@$(RASTRO_PYTHON) -m console.demo

synth: setup ## write every stack to cdktf.out through the framework CLI
	@cdktf synth

cost: $(STAMPS)/python ## price what was synthesised; ENV=name for one environment
	@$(RASTRO_PYTHON) main.py
	@rastro cost estimate cdktf.out $(if $(ENV),--environment "$(ENV)")

cost-diff: setup ## price what changed since a commit, in Markdown: make cost-diff BASE=main [MAX_MONTHLY=500] [MAX_INCREASE=10]
	@test -n "$(BASE)" || { echo "name a commit: make cost-diff BASE=main" >&2; exit 2; }
	@rastro cost diff --git "$(BASE)" --format markdown $(if $(MAX_MONTHLY),--max-monthly "$(MAX_MONTHLY)") \
	  $(if $(MAX_INCREASE),--max-increase "$(MAX_INCREASE)")

prices: $(STAMPS)/python ## ask the AWS Price List for the prices of every Region that has some, and add what moved
	@for file in cost_model/data/prices/*.toml; do \
	  rastro cost prices refresh --region "$$(basename "$$file" .toml)" --format markdown; \
	done

# --- prove -----------------------------------------------------------------------------------------------------------

test: setup $(STAMPS)/checkov ## run every test
	@$(RASTRO_PYTHON) -m pytest --numprocesses auto --dist loadfile

checkov: setup $(STAMPS)/checkov ## hold the shipped stacks to checkov and its written waivers
	@$(RASTRO_PYTHON) -m pytest -q tests/security/test_checkov.py

crash: $(STAMPS)/python ## kill hundreds of processes at every write of the guard, on three stores: about ten minutes
	@$(RASTRO_PYTHON) -m tests.crash

rehearse: setup ## deploy, plan again and destroy with Terraform and a pretend AWS [RASTRO_PLUGIN_DIR=folder of a real provider]
	@$(RASTRO_PYTHON) -m tests.rehearsal

check: $(STAMPS)/python ## format, lint, types and import direction
	@ruff format --check .
	@ruff check .
	@mypy
	@mypy .github/scripts/actions.py .github/scripts/post.py
	@$(RASTRO_PYTHON) -m pytest -q tests/architecture

format: $(STAMPS)/python ## rewrite the code in the house format
	@ruff check --fix-only --quiet .
	@ruff format .

bench: $(STAMPS)/python ## measure speed as ratios in one run; writes benchmarks/results.json
	@$(RASTRO_PYTHON) -m benchmarks

# --- deploy ----------------------------------------------------------------------------------------------------------

require-env:
	@test -n "$(ENV)" || { echo "name an environment: make $(MAKECMDGOALS) ENV=dev" >&2; exit 2; }
.PHONY: require-env

# The framework CLI asks on a terminal, and dies with a stack trace where there is none.
require-answer = test -n "$(APPROVE)" || test -t 0 \
  || { echo "there is no terminal to ask on: run it on one, or say APPROVE=1" >&2; exit 2; }

needs: require-env $(STAMPS)/python ## print what to grant by hand before the first deployment: make needs ENV=prod
	@$(RASTRO_PYTHON) -m stacks needs "$(ENV)"

diff: require-env setup ## show what a deployment would change: make diff ENV=dev
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@stacks=$$($(RASTRO_PYTHON) -m stacks of "$(ENV)"); for stack in $$stacks; do cdktf diff "$$stack"; done

plan: require-env setup ## plan an environment and keep the plan for `make apply`; needs a state in S3: make plan ENV=dev
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@$(require-hooks)
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks plan "$(ENV)" --report "build/plan-$(ENV).md"

apply: require-env $(STAMPS)/python ## apply what `make plan` planned, and nothing else: make apply ENV=dev [APPROVE=1]
	@$(require-answer)
	@test -n "$(APPROVE)" || { read -rp "type the environment's name to go on: " said && test "$$said" = "$(ENV)"; }
	@$(RASTRO_PYTHON) -m stacks apply "$(ENV)"

drift: require-env setup ## say where an environment is not as declared; build/drift-ENV.md is there only if so: make drift ENV=dev
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks drift "$(ENV)" --report "build/drift-$(ENV).md" || test $$? -eq 3

deploy: require-env setup ## deploy an environment and its account: make deploy ENV=dev [APPROVE=1]
	@$(RASTRO_PYTHON) -m stacks check-environment "$(ENV)"
	@$(require-hooks)
	@$(require-answer)
	@stacks=$$($(RASTRO_PYTHON) -m stacks of "$(ENV)"); cdktf deploy $$stacks $(if $(APPROVE),--auto-approve)

bootstrap: setup ## make the bucket of an account's Terraform state, once: make bootstrap ACCOUNT=sandbox [APPROVE=1]
	@test -n "$(ACCOUNT)" || { echo "name an account: make bootstrap ACCOUNT=sandbox" >&2; exit 2; }
	@$(RASTRO_PYTHON) -m stacks check-bootstrap "$(ACCOUNT)"
	@$(require-answer)
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks adopt-state-bucket "$(ACCOUNT)"
	@cdktf deploy "bootstrap-$(ACCOUNT)" $(if $(APPROVE),--auto-approve)

move-state: $(STAMPS)/python ## move an account's states to where its file says: make move-state ACCOUNT=sandbox [BUCKET=former]
	@test -n "$(ACCOUNT)" || { echo "name an account: make move-state ACCOUNT=sandbox" >&2; exit 2; }
	@$(RASTRO_PYTHON) -m stacks move-state "$(ACCOUNT)" $(if $(BUCKET),--bucket "$(BUCKET)")

deploy-account: setup ## deploy an account stack: make deploy-account ACCOUNT=sandbox [APPROVE=1]
	@test -n "$(ACCOUNT)" || { echo "name an account: make deploy-account ACCOUNT=sandbox" >&2; exit 2; }
	@$(RASTRO_PYTHON) -m stacks check-account "$(ACCOUNT)"
	@$(require-answer)
	@cdktf deploy "account-$(ACCOUNT)" $(if $(APPROVE),--auto-approve)

output: require-env setup ## print the outputs of a deployed environment, ready to paste: make output ENV=dev
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks outputs "$(ENV)"

destroy: require-env setup ## destroy an environment, never its account; asks first: make destroy ENV=dev [APPROVE=1]
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks prepare-destroy "$(ENV)" $(if $(APPROVE),--yes)
	@cdktf destroy "agent-$(ENV)" --auto-approve

release: require-env setup ## let Terraform forget a log group before its runtime is replaced: make release ENV=prod [APPROVE=1]
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks release "$(ENV)" $(if $(APPROVE),--yes)

adopt: require-env setup ## take a kept trail back before deploying again: make adopt ENV=prod
	@$(RASTRO_PYTHON) -m stacks check-terraform
	@cdktf synth >/dev/null
	@$(RASTRO_PYTHON) -m stacks adopt "$(ENV)"

# A synthesis sees that a hook file is there; what it says only the agent's own reader judges, at the start of a container.
require-hooks = if test -f "environments/$(ENV).toml"; then rastro hooks check --environment "$(ENV)" >/dev/null; fi

image: require-env $(STAMPS)/python ## build the image, push it and write its digest into the environment file: make image ENV=dev [TAG=...]
	@$(require-hooks)
	@$(RASTRO_PYTHON) -m stacks image "$(ENV)" "$(TAG)"

login: require-env $(STAMPS)/python ## let Docker into the image repository of an environment's account: make login ENV=dev
	@$(RASTRO_PYTHON) -m stacks login "$(ENV)"

carry: $(STAMPS)/python ## write one environment's image into the files of others, and copy nothing: make carry FROM=dev TO="staging prod"
	@test -n "$(FROM)" && test -n "$(TO)" || { echo "name both: make carry FROM=dev TO=prod" >&2; exit 2; }
	@$(RASTRO_PYTHON) -m stacks carry "$(FROM)" $(TO)

promote: $(STAMPS)/python ## copy what one environment runs to another's account: make promote FROM=dev TO=prod [FROM_PROFILE=… TO_PROFILE=…]
	@test -n "$(FROM)" && test -n "$(TO)" || { echo "name both: make promote FROM=dev TO=prod" >&2; exit 2; }
	@$(RASTRO_PYTHON) -m stacks promote "$(FROM)" "$(TO)" $(if $(FROM_PROFILE),--from-profile "$(FROM_PROFILE)") \
	  $(if $(TO_PROFILE),--to-profile "$(TO_PROFILE)")

bundle: require-env $(STAMPS)/python ## build the bundle of code, store it and write its version into the environment file: make bundle ENV=dev
	@$(require-hooks)
	@$(RASTRO_PYTHON) -m stacks bundle "$(ENV)"

zip: $(STAMPS)/python ## build the bundle of code into build/agent.zip and store it nowhere
	@$(RASTRO_PYTHON) -m stacks zip build/agent.zip

pin: $(STAMPS)/python ## write the digest of the image's base into agent_image/Dockerfile (needs Docker with Buildx)
	@$(RASTRO_PYTHON) -m stacks pin

# --- keep ------------------------------------------------------------------------------------------------------------

schema: $(STAMPS)/python ## write the JSON Schemas of the settings and hook files
	@$(RASTRO_PYTHON) -m stacks schema
	@$(RASTRO_PYTHON) -m agent_image.hooks.json_schema

docs: $(STAMPS)/python ## write the generated parts of README.md and docs/
	@$(RASTRO_PYTHON) docs/generate.py

lock: ## renew every lock file: the project's, the image's, checkov's and the framework CLI's (needs uv)
	@uv pip compile --group all --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header --no-emit-build-options --quiet --upgrade --output-file requirements.lock
	@uv pip compile --group agent --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header --no-emit-build-options --quiet --upgrade --constraint requirements.lock \
	  --output-file agent_image/requirements.lock
	@uv pip compile --group checkov --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --no-header --no-emit-build-options --quiet --upgrade --output-file requirements-checkov.lock
	@npm install --package-lock-only --ignore-scripts --no-audit --no-fund

actions: $(STAMPS)/python ## renew the actions that the workflows use, by what GitHub says is newest
	@$(RASTRO_PYTHON) .github/scripts/actions.py

clean: ## remove what was built; state files stay
	@rm -rf build cdktf.out .mypy_cache .pytest_cache .ruff_cache
