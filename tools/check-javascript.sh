#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Formats and lints the JavaScript of reports and of their tests, with Biome as tests/report/package-lock.json
# pins it (biome.json has the rules). The scripts of a page share one scope, so they are also checked together:
# a name that none of them defines, or that none uses, is an error.
#
# Usage: tools/check-javascript.sh [--write]
#   --write  formats the files instead of reporting a difference
set -eu -o pipefail

cd "$(dirname "$0")/.."
page=user/lib/page/assets
work=${BUILD:-build}/javascript

if ! command -v npm >/dev/null; then
	echo "npm is missing: tools/install-deps.sh report installs it" >&2
	exit 1
fi
tools/install-npm.sh
biome=$(echo "$PWD"/tests/report/node_modules/@biomejs/cli-linux-*/biome)

scripts_of() { # FUNCTION: the scripts that it puts into a page, in order
	sed -n "/^int $1(/,/^}/p" user/lib/page/page.c | sed -nE 's/ASSET_(OF|FOR)\(([A-Z_]+, )?([a-z]+)_js\)/\n\3\n/gp' |
		sed -nE "/^[a-z]+\$/s#.*#$page/&.js#p"
}

join_scripts() { # FUNCTION [SCRIPT...]: writes them into one file, with those that a server adds
	local name=$1 scripts
	mapfile -t scripts < <(scripts_of "$name")
	if [ ${#scripts[@]} -lt 2 ]; then
		echo "no scripts of $name() found in user/lib/page/page.c" >&2
		return 1
	fi
	cat "${scripts[@]}" "${@:2}" >"$work/$name.js"
}

if [ "${1:-}" = --write ]; then
	"$biome" format --write
	exit
fi
"$biome" check --error-on-warnings
rm -rf "$work" && mkdir -p "$work"
cat >"$work/biome.json" <<'END'
{ "root": true, "javascript": { "globals": ["uPlot"] } }
END
failed=0
join_scripts page_write_served user/web/assets/live.js || failed=1
join_scripts page_write_overlay || failed=1
cat user/lib/page/assets/base.js user/web/assets/list.js >"$work/list.js"
cd "$work"
rules=(--error-on-warnings --only=correctness/noUndeclaredVariables --only=suspicious/noRedeclare)
"$biome" lint "${rules[@]}" --only=correctness/noUnusedVariables page_write_served.js || failed=1
"$biome" lint "${rules[@]}" page_write_overlay.js || failed=1 # it does not use all of what both pages share
"$biome" lint "${rules[@]}" list.js || failed=1
exit $failed
