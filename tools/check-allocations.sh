#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks that user/ allocates by lib/base/memory.h and parses by lib/base/jansson_memory.h: what the functions of the
# libraries fail with is noticed by nobody. Prints each call of these as "file:line: what"; exits 1 if there is one.
#
# Usage: tools/check-allocations.sh
set -eu -o pipefail

cd "$(dirname "$0")/.."
calls='(malloc|calloc|realloc|reallocarray|strdup|strndup|v?asprintf|getline|localtime_r|mktime|timegm|scandir|realpath|fopen|fdopen|fmemopen|tmpfile|opendir|open_memstream|json_load[bs])'

# "name()" is how comments name a function; of these only tmpfile() has no arguments
if find user -name '*.[ch]' ! -path 'user/lib/base/memory.*' ! -path 'user/lib/base/jansson_memory.*' -print0 |
	xargs -0 grep -nE "(^|[^A-Za-z0-9_.>\"])$calls\(([^)]|\$)|[=(] *tmpfile\(\)" /dev/null | sort; then
	echo "call these by the functions of user/lib/base/memory.h" >&2
	exit 1
fi
