#!/usr/bin/env bash
# Resolve the hashed requirements: dev.txt for a checkout, services.txt and build.txt (subsets of it) for images,
# engines.txt for the engines that tests run.
set -euo pipefail
cd "$(dirname "$0")/.."
members=(libs/*/pyproject.toml services/*/pyproject.toml integrations/*/pyproject.toml infra/pyproject.toml)
deployed=(libs/{contracts,runtime,store,providers,redaction,decision,extraction,writing,ranking}/pyproject.toml services/*/pyproject.toml infra/pyproject.toml)
own=()
for member in "${members[@]}"; do
  own+=(--no-emit-package "$(sed -n 's/^name = "\(.*\)"/\1/p' "$member" | head -n 1)")
done
resolve=(uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header "${own[@]}")
"${resolve[@]}" "$@" requirements/dev.in "${members[@]}" --extra embedded -o requirements/dev.txt
"${resolve[@]}" -c requirements/dev.txt --no-annotate "${deployed[@]}" requirements/images.in -o requirements/services.txt
"${resolve[@]}" -c requirements/dev.txt --no-annotate requirements/build.in -o requirements/build.txt
"${resolve[@]}" "$@" --no-annotate requirements/engines.in -o requirements/engines.txt
