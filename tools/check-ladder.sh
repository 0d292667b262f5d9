#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fails if files of bpf/ use each other in a circle. The symbol tables of the objects have which functions,
# knobs and variables each defines, and which it uses of others.
#
# Usage: tools/check-ladder.sh    (after make: it reads build/bpf)
set -eu -o pipefail

cd "$(dirname "$0")/.."
build=${BUILD:-build}

symbols() { # prints "FILE SYMBOL defined|used" for each that is not a file's own
	local source object
	for source in bpf/*.bpf.c; do
		source=${source#bpf/}
		object=$build/bpf/${source%.bpf.c}.o
		readelf -sW "$object" | awk -v file="${source%.bpf.c}" \
			'$5 == "GLOBAL" { print file, $8, $7 == "UND" ? "used" : "defined" }'
	done
}

pairs() { # "USER OWNER"
	symbols | awk '
	$3 == "defined" { owner[$2] = $1 }
	$3 == "used" { user[++n] = $1; symbol[n] = $2 }
	END { for (i = 1; i <= n; i++) if (symbol[i] in owner) print user[i], owner[symbol[i]] }' | sort -u
}

if ! said=$(pairs | tsort 2>&1 >/dev/null); then
	echo "files of bpf/ use each other in a circle:"
	echo "$said"
	exit 1
fi
