#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches the npm packages of tests/report, exactly as package-lock.json pins them: the driver of the browser,
# and the formatter and linter of JavaScript. Does nothing when they are there.
#
# Usage: tools/install-npm.sh
set -eu

cd "$(dirname "$0")/../tests/report"
[[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --no-audit --no-fund --loglevel=error
