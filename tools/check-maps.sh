#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fails if a file of bpf/ uses a map of another: it is looked up by functions of the file that it belongs to, which
# also check that an entry is the one that is asked for. The symbol tables of the objects have which maps each
# defines, and which symbols it uses of others.
#
# Usage: tools/check-maps.sh    (after make: it reads build/bpf)
set -eu -o pipefail

cd "$(dirname "$0")/.."
build=${BUILD:-build}

symbols() { # prints "FILE SYMBOL defined|map|used" for each that is not a file's own
	local source object maps
	for source in bpf/*.bpf.c; do
		source=${source#bpf/}
		object=$build/bpf/${source%.bpf.c}.o
		maps=$(readelf -SW "$object" | sed -n 's/^ *\[ *\([0-9]*\)\] \.maps .*/\1/p')
		readelf -sW "$object" | awk -v file="${source%.bpf.c}" -v maps="${maps:-none}" '$5 == "GLOBAL" {
			print file, $8, $7 == "UND" ? "used" : $7 == maps ? "map" : "defined"
		}'
	done
}

map_users() { # prints "USER MAP OWNER"
	symbols | awk '
	$3 == "map" { owner[$2] = $1 }
	$3 == "used" { user[++n] = $1; symbol[n] = $2 }
	END { for (i = 1; i <= n; i++) if (symbol[i] in owner) print user[i], symbol[i], owner[symbol[i]] }'
}

said=$(map_users)
if [ -n "$said" ]; then
	echo "files of bpf/ use maps of others (file, map, its file):"
	echo "$said"
	exit 1
fi
