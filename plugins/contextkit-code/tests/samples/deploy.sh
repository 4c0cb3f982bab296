#!/usr/bin/env bash
set -euo pipefail

# Print a line to the error stream.
warn() {
  echo "$1" >&2
}

function build_image {
  docker build -t "$1" .
}

warn "starting"
build_image app
