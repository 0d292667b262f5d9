#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the unit tests with coverage into build/coverage, runs them, and writes and prints
# build/coverage.txt, the share of the lines of each file in user/ that they reached.
#
# Usage: tools/coverage.sh
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

cd "$(dirname "$0")/.."
out=build/coverage
report=build/coverage.txt

CFLAGS="-O0 -g" make -s BUILD=$out SANITIZE=--coverage "$out/unit/all"
find $out -name '*.gcda' -delete
for test in tests/unit/test_*.c; do
	name=$(basename "$test" .c)
	if ! "$out/unit/all" "$name" >"$out/$name.txt" 2>&1; then
		echo "coverage.sh: $name failed, see $out/$name.txt; what it reached counts" >&2
	fi
done

# gcov prints for each file "Lines executed:93.75% of 48"; a file no test links in has no counts
find $out/user -name '*.gcno' | sort | while read -r notes; do
	source=${notes#"$out/"}
	source=${source%.gcno}.c
	gcov -n -o "$notes" "$source" 2>/dev/null |
		awk -v file="$source" '
			/^File / { mine = index($0, "\047" file "\047") }
			/^Lines executed:/ && mine {
				sub(/^Lines executed:/, ""); sub(/% of/, "")
				print file, $1, $2; mine = 0
			}'
done | awk '
	BEGIN { format = "%-36s %6s %8s\n"; printf format, "FILE", "LINES", "REACHED" }
	{ printf "%-36s %6d %7.1f%%\n", $1, $3, $2; lines += $3; reached += $3 * $2 / 100 }
	END {
		if (!lines) { print "no counts were found" >"/dev/stderr"; exit 1 }
		printf "%-36s %6d %7.1f%%\n", "all", lines, reached / lines * 100
	}' | tee $report
