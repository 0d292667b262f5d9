#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Writes the table of kernels, in Markdown, from the results of tools/check-kernels.sh in tests/data/kernels.
#
# Usage: tools/gen-kernels.sh >FILE
set -eu -o pipefail

cd "$(dirname "$0")/.."
mapfile -t kernels < <(cd tests/data/kernels && printf '%s\n' *.txt | sed 's/\.txt$//' |
	awk '{ print (/-arm64$/ ? 1 : 0), $0 }' | sort -k1,1 -k2,2V | cut -d' ' -f2)
files=("${kernels[@]/#/tests/data/kernels/}")
files=("${files[@]/%/.txt}")

intro() {
	cat <<-'INTRO'
	# Kernels

	What bpfmon offers on each of Debian's kernels, and which of the tests with a known truth pass
	there: found by booting it in qemu, without KVM. `make check-kernels` does it again and fails at
	a difference; `make check-kernels KERNELS="6.1 7.2"` boots only some. `bpfmon check` says the
	same of the machine it runs on. A number stands for the reason, below the tables; a test passes
	in part where the kernel does not permit one of the things that it asks for.

	The core needs five programs of type `tp_btf`, programs of type `iter/task`, hash maps, a mapped
	array, a ring buffer and spin locks; docs/ARCHITECTURE.md has a table with the
	reasons. All else is optional.
	INTRO
}

versions() {
	local kernel
	printf '\n## Builds\n\n| Kernel | Build |\n|---|---|\n'
	for kernel in "${kernels[@]}"; do
		echo "| $kernel | $(sed -n 's/^kernel //p' "tests/data/kernels/$kernel.txt") |"
	done
}

# Of each test its name and, behind a tabulator, its title.
titles() {
	sed -nE 's/^\tTEST\((\w+), "(.*)"\),$/\1\t\2/p' tests/kernels/guest/*.c
}

# A line is "capability NAME   available", "capability NAME   missing: WHY" (or off: WHY), "test NAME: passed" or
# "test NAME: WHY". Rows come in the order of their first appearance. A test without a title has its name for one.
tables() {
	titles=$(titles) awk '
	BEGIN {
		n = split(ENVIRON["titles"], lines, "\n")
		for (i = 1; i <= n; i++) {
			split(lines[i], part, "\t")
			title_of[part[1]] = part[2]
		}
	}
	FNR == 1 { kernel[++kernels] = FILENAME; gsub(/.*\/|\.txt$/, "", kernel[kernels]) }
	function put(kind, name, why) {
		if (!((kind, name) in known)) {
			known[kind, name]
			row[kind, ++rows[kind]] = name
		}
		if (why != "" && !(why in number)) {
			number[why] = ++reasons
			reason[reasons] = why
		}
		no = kind == "test" ? "in part" : "no"
		cell[kind, name, kernels] = why == "" ? "yes" : no " (" number[why] ")"
	}
	/^capability / {
		at = match($0, / +(available|(missing|off|not available, not needed): .*)$/)
		why = substr($0, at)
		sub(/^ +(available$|(missing|off|not available, not needed): )/, "", why)
		put("capability", substr($0, 12, at - 12), why)
	}
	/^test / {
		at = index($0, ": ")
		why = substr($0, at + 2)
		name = substr($0, 6, at - 6)
		title = name in title_of ? title_of[name] : name
		gsub("_", name in title_of ? "_" : " ", title)
		put("test", title, why == "passed" ? "" : why)
	}
	function table(kind, heading, i, k, line) {
		print "\n## " heading "\n"
		line = "| |"
		for (k = 1; k <= kernels; k++)
			line = line " " kernel[k] " |"
		print line
		gsub(/[^|]+/, "---", line)
		print line
		for (i = 1; i <= rows[kind]; i++) {
			line = "| " row[kind, i] " |"
			for (k = 1; k <= kernels; k++)
				line = line " " cell[kind, row[kind, i], k] " |"
			print line
		}
	}
	END {
		table("capability", "Capabilities")
		table("test", "Tests")
		print "\n## Reasons\n"
		for (i = 1; i <= reasons; i++)
			print i ". " reason[i]
	}' "${files[@]}"
}

intro
versions
tables
