#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes a root file system with systemd, to be booted in a container, in a cache outside the tree: the
# smallest Debian or Ubuntu of the release that this machine has, so that programs built here run there. The
# cache is kept, so that a second run needs no network; remove the folder to fetch newer packages.
#
# Usage: tools/fetch-systemd.sh      (as root)
#   BPFMON_ROOTS    the cache (default: $XDG_CACHE_HOME/bpfmon-roots or ~/.cache/bpfmon-roots)
#   DEBIAN_MIRROR   the mirror (default: that of the system, else debootstrap's own)
# Prints the folder, CACHE/CODENAME, when it is complete. Nothing may be changed in it.
set -eu -o pipefail

cache=${BPFMON_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon-roots}

fail() {
	echo "fetch-systemd.sh: $*" >&2
	exit 1
}

# The first archive of apt's own sources that is not the one for security updates.
mirror() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ -r "$file" ] || continue
		case $file in
		*.sources) awk '$1 == "URIs:" { print $2 }' "$file" ;;
		*.list) sed -nE 's/^deb (\[[^]]*\] *)?([^ ]+).*/\2/p' "$file" ;;
		esac
	done | awk '/\/(debian|ubuntu|ubuntu-ports)\/?$/ && !n++'
}

[ $# = 0 ] || fail "usage: tools/fetch-systemd.sh"
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$codename" ] || fail "/etc/os-release has no VERSION_CODENAME: the release is not known"
root=$cache/$codename
if [ ! -s "$root/.complete" ]; then
	[ "$(id -u)" = 0 ] || fail "needs root, to make $root"
	echo "fetching into $root" >&2
	mkdir -p "$cache"
	rm -rf --one-file-system "$root.new"
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus "$codename" "$root.new" \
		"${DEBIAN_MIRROR:-$(mirror)}" >"$root.log" 2>&1 ||
		fail "debootstrap failed: $(tail -1 "$root.log"); see $root.log (is there a network?)"
	rm -rf "$root.new"/var/cache/apt/* "$root.new"/var/lib/apt/lists/* "$root.log"
	# of each boot its own
	: >"$root.new/etc/machine-id"
	date -u +%F >"$root.new/.complete"
	rm -rf --one-file-system "$root"
	mv "$root.new" "$root"
fi
echo "$root"
