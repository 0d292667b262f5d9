#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Minifies the scripts of pages together, so that one of them calls what another declares by its short name. The
# pages that bpfmon writes have only those that they need, so that each stays a file of its own.
#
# Usage: tools/minify-scripts.sh OUTPUT_DIRECTORY SCRIPT...
# Writes OUTPUT_DIRECTORY/BASE_NAME of each script; without esbuild they are copies.
set -eu

out=$1
shift
mkdir -p "$out"
if ! command -v esbuild >/dev/null; then
	cp "$@" "$out"
	exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# within a function every name may be shortened; a marker before each script tells them apart afterwards
{
	echo '(() => {'
	for script; do
		printf '/*! script %s */\n' "${script##*/}"
		cat "$script"
	done
	echo '})();'
} | esbuild --minify-identifiers --legal-comments=inline --log-level=warning --loader=js >"$work/joined"
awk -v dir="$work" '
	/^ *\/\*! script .* \*\/$/ { file = dir "/" $3; found++; next }
	/^ *"use strict";$/ && strict++ { next } # one holds for all
	/^\}\)\(\);$/ { file = "" }
	file { print >file }
	END { print found + 0 >(dir "/found") }' "$work/joined"
if [ "$(cat "$work/found")" -ne $# ]; then
	echo "tools/minify-scripts.sh: esbuild has lost the markers between the scripts: another version of it?" >&2
	exit 1
fi
for script; do
	name=${script##*/}
	esbuild --minify-whitespace --minify-syntax --legal-comments=none --log-level=warning --loader=js \
		<"$work/$name" >"$work/short"
	mv "$work/short" "$out/$name"
done
