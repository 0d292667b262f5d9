#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks the layering and size of the sources: includes between the folders of user/ go one way, files have
# up to 600 lines and functions up to 60. Prints each violation as "file:line: what"; exits 1 if
# there is one.
#
# Usage: tools/check-includes.sh
set -eu -o pipefail

cd "$(dirname "$0")/.."
MAX_FILE_LINES=600
MAX_FUNCTION_LINES=60

check_includes() { # FILE...
	awk '
	BEGIN {
		may["base"] = "base"
		may["model"] = "model base bpfmon/metrics.def"
		may["meta"] = "meta model base"
		may["wire"] = "wire model base"
		may["store"] = "store model base"
		may["source"] = "source store wire model base"
		may["track"] = "track model base bpfmon/metrics.def bpfmon/shared.h bpfmon.skel.h"
		may["feed"] = "feed base"
		may["push"] = "push feed wire model base bpfmon/shared.h"
		may["job"] = "job push feed track wire model base bpfmon/metrics.def bpfmon/shared.h"
		may["collect"] = "collect job push feed track wire model base"
		may["bench"] = "bench compare view source wire model base"
		may["container"] = "container base"
		may["config"] = "config base"
		may["history"] = "history record store source view wire model base"
		may["agent"] = "agent waits track job feed push wire model base config"
		may["view"] = "view store model base"
		may["report"] = "report compare view source wire model base"
		may["compare"] = "compare view source wire model base"
		may["advise"] = "advise compare store view model base"
		may["many"] = "many compare view store model base"
		may["like"] = "like compare view store model base"
		may["export"] = "export source wire model base"
		may["exporter"] = "exporter http view source wire model base config"
		may["top"] = "top view source store waits wire model base"
		may["waits"] = "waits model base"
		may["record"] = "record store view waits wire model base"
		may["shell"] = "shell model base"
		may["launch"] = "launch collect push container record view meta wire model base"
		may["cmd"] = "cmd waits agent history config launch container meta export advise compare report record view collect track source store wire model base many like bench"
		may["http"] = "http base config"
		may["web"] = "web cmd http config export report source store wire model base"
	}
	FNR == 1 { split(FILENAME, part, "/"); folder = part[2] }
	match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
		split($0, quoted, "\"")
		name = quoted[2]
		from = name
		if (name !~ /^bpfmon[\/.]/)
			sub(/\/.*/, "", from)
		if (!(folder in may)) {
			print FILENAME ":" FNR ": the folder " folder " has no rule here"
			bad = 1
		} else if (index(" " may[folder] " ", " " from " ") == 0) {
			print FILENAME ":" FNR ": " folder " may not include \"" name "\""
			bad = 1
		}
	}
	END { exit bad }' "$@"
}

check_lengths() { # FILE...
	awk -v max_file=$MAX_FILE_LINES -v max_function=$MAX_FUNCTION_LINES '
	FNR == 1 { start = 0; last = ""; }
	FNR == max_file + 1 { print FILENAME ":" FNR ": more than " max_file " lines"; bad = 1 }
	/^[A-Za-z_].*\(/ { last = $0 }
	/^\{/ { start = FNR }
	/^\}/ {
		if (start && FNR - start - 1 > max_function) {
			print FILENAME ":" start ": a function of " FNR - start - 1 " lines: " last
			bad = 1
		}
		start = 0
	}
	END { exit bad }' "$@"
}

mapfile -t user < <(find user -name '*.[ch]' | sort)
mapfile -t kernel < <(find bpf include -name '*.[ch]' | sort)

failed=0
check_includes "${user[@]}" || failed=1
check_lengths "${user[@]}" "${kernel[@]}" || failed=1
exit $failed
