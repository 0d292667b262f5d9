#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches NVIDIA's header nvml.h and its library libnvidia-ml.so.1 from Debian's non-free archive into a cache outside
# the tree, for tests that compare bpfmon's declarations with them; nothing is installed. The cache is kept, so that a
# second run needs no network.
#
# Usage: tools/fetch-nvml.sh
#   BPFMON_NVML    the cache (default: $XDG_CACHE_HOME/bpfmon-nvml or ~/.cache/bpfmon-nvml)
#   DEBIAN_MIRROR  the mirror (default: deb.debian.org)
# Prints a folder for each release: nvml.h and libnvidia-ml.so.1 are in it.
set -eu -o pipefail

cache=${BPFMON_NVML:-${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon-nvml}
suites="bookworm trixie"
work=$cache/new

fail() {
	echo "fetch-nvml.sh: $*" >&2
	exit 1
}

# Of one release, with an apt state of its own.
fetch() { # SUITE
	local apt=$work/apt found
	# on the command line, since what images for containers set there turns apt's own cache off
	local -a own=(-o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Etc::sourcelist=$apt/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o "Dir::Cache=$apt/cache"
		-o "Dir::Cache::pkgcache=pkgcache.bin" -o "Dir::Cache::srcpkgcache=srcpkgcache.bin"
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3)
	rm -rf "$work"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$work/all" "$work/$1"
	: >"$apt/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${DEBIAN_MIRROR:-http://deb.debian.org/debian} $1 non-free" >"$apt/sources.list"
	apt-get -qq "${own[@]}" update
	(cd "$work" && apt-get -qq "${own[@]}" download libnvidia-ml-dev libnvidia-ml1)
	for found in "$work"/*.deb; do
		dpkg-deb -x "$found" "$work/all"
	done
	cp "$work/all/usr/include/nvml.h" "$work/$1"
	found=$(find "$work/all" -name 'libnvidia-ml.so.*.*' -type f)
	cp "$found" "$work/$1/libnvidia-ml.so.1"
	mv "$work/$1" "$cache/$1"
	rm -rf "$work"
}

[ $# = 0 ] || fail "usage: tools/fetch-nvml.sh"
for suite in $suites; do
	if [ ! -e "$cache/$suite/libnvidia-ml.so.1" ]; then
		echo "fetching NVIDIA's library of $suite into $cache" >&2
		mkdir -p "$cache"
		fetch "$suite" >"$cache/$suite.log" 2>&1 || fail "$(tail -1 "$cache/$suite.log"); see $cache/$suite.log"
		rm -f "$cache/$suite.log"
	fi
	echo "$cache/$suite"
done
