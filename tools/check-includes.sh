#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks the layering and size of the sources: includes between the folders of user/ go one way, base names are
# unique there, lib/measure makes and changes no file, files have up to 600 lines and functions up to 60. Prints each
# violation as "file:line: what"; exits 1 if there is one.
#
# Usage: tools/check-includes.sh
set -eu -o pipefail

cd "$(dirname "$0")/.."
MAX_FILE_LINES=600
MAX_FUNCTION_LINES=60

check_includes() { # FILE...
	awk '
	BEGIN {
		# a library: each folder uses those before it that are named
		may["lib/base"] = "base"
		may["lib/run"] = "run base bpfmon/metrics.def"
		may["lib/measure"] = "measure run base bpfmon/metrics.def bpfmon/shared.h bpfmon.skel.h"
		may["lib/config"] = "config base"
		may["lib/waits"] = "waits run base"
		may["lib/store"] = "store config run base"
		upper = "store run base"
		may["lib/text"] = "text " upper
		may["lib/study"] = "study text " upper
		may["lib/page"] = "page study text " upper
		may["lib/export"] = "export " upper
		may["lib/options"] = "options config text " upper # config: the files of options
		# a program uses the library and itself
		library = "measure config waits text study page export options " upper
		may["agent"] = "agent " library
		may["bpfmon"] = "bpfmon agent " library
		may["top"] = "top " library
		may["shell"] = "shell " library
		may["http"] = "http " library
		may["web"] = "web http " library
		may["board"] = "board " library
		may["exporter"] = "exporter board http " library
		may["push"] = "push board " library
	}
	FNR == 1 { split(FILENAME, part, "/"); folder = part[2] == "lib" ? "lib/" part[3] : part[2] }
	match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
		split($0, quoted, "\"")
		name = quoted[2]
		if (name == "version.h") # which the Makefile writes
			next
		from = name
		if (name !~ /^bpfmon(\/(metrics|shared|calls)|\.)/)
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

# What measures has rights that its user lacks: it reads /proc, /sys and cgroups, and makes or changes no file.
check_reads_only() { # FILE...
	awk '
	function refuse(what) { print FILENAME ":" FNR ": lib/measure only reads, and this " what; bad = 1 }
	{ line = $0; gsub(/"[^"]*"/, "\"\"", line); sub(/\/\/.*/, "", line) }
	line ~ /(^|[^a-z_])(creat|rename(at2?)?|unlink(at)?|remove|mk(o?s?temps?|dtemp|dir(at)?|nod(at)?|fifo(at)?)|rmdir|(sym)?link(at)?|f?truncate|f?ch(mod|own)(at)?|lchown|(memory_)?tmpfile|bpf_obj_pin|bpf_[a-z]+__pin)\(/ {
		refuse("makes or changes a file")
	}
	line ~ /O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)/ { refuse("opens a file to write it") }
	/(^|[^a-z_])(memory_)?(fopen|fdopen|freopen)\([^;]*"[^"]*[wa+][^"]*"\)/ { refuse("opens a file to write it") }
	END { exit bad }' "$@"
}

mapfile -t user < <(find user -name '*.[ch]' | sort)
mapfile -t kernel < <(find bpf include -name '*.[ch]' | sort)

check_base_names() { # FILE...: a name is that of one module; each program has its main.c
	printf '%s\n' "$@" | sed 's/\.[ch]$//' | sort -u | awk -F/ '
	$NF in first && $NF != "main" { print $0 ": the base name of " first[$NF]; bad = 1 }
	{ first[$NF] = $0 }
	END { exit bad }'
}

failed=0
check_includes "${user[@]}" || failed=1
check_base_names "${user[@]}" || failed=1
mapfile -t measure < <(printf '%s\n' "${user[@]}" | grep '^user/lib/measure/')
check_reads_only "${measure[@]}" || failed=1
check_lengths "${user[@]}" "${kernel[@]}" || failed=1
exit $failed
