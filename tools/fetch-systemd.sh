#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes a root file system with systemd, to be booted in a container, in a cache outside the tree: the smallest Debian
# or Ubuntu of a release. Without CODENAME (or "") it is that of this machine, so that programs built here run there. The
# cache is kept, so that a second run needs no network; remove the folder to fetch newer packages.
#
# Usage: tools/fetch-systemd.sh [CODENAME [PACKAGE.deb...]]      (as root)
#   BPFMON_ROOTS    the cache (default: $XDG_CACHE_HOME/bpfmon-roots or ~/.cache/bpfmon-roots)
#   DEBIAN_MIRROR   the mirror (default: that of the system, else debootstrap's own)
# Prints the folder, CACHE/CODENAME, when it is complete; with packages LAYER:CACHE/CODENAME, the lower folders of an
# overlay, in which apt installs these packages without a network. Nothing may be changed in them.
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

# shellcheck source=/dev/null
codename=${1:-$(. /etc/os-release && echo "${VERSION_CODENAME:-}")}
[ -n "$codename" ] || fail "/etc/os-release has no VERSION_CODENAME: the release is not known"
root=$cache/$codename
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ ! -s "$root/.complete" ]; then
	[ "$(id -u)" = 0 ] || fail "needs root, to make $root"
	echo "fetching into $root" >&2
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
[ $# -gt 1 ] || { echo "$root" && exit; }

# apt's lists, and what these packages depend on, beside each other
shift
depends=$(for deb; do dpkg-deb -f "$deb" Package Depends Recommends; done | sed -E 's/ \(= [^)]*\)//g')
layer=$root-$(sha256sum <<<"$depends" | cut -c 1-12)
if [ ! -e "$layer" ]; then
	echo "fetching into $layer" >&2
	rm -rf --one-file-system "$root"-*
	mkdir -p "$layer".{new,work,root}
	mount -t overlay overlay -o "lowerdir=$root,upperdir=$layer.new,workdir=$layer.work" "$layer.root"
	trap 'umount "$layer.root"; rm -rf --one-file-system "$layer".{new,work,root}' EXIT
	mkdir "$layer.root/packages"
	cp "$@" "$layer.root/packages"
	cp --remove-destination /etc/resolv.conf "$layer.root/etc"
	chroot "$layer.root" sh -c 'apt-get -qq update && apt-get -qq install --download-only -y /packages/*.deb' >&2 ||
		fail "apt found or fetched not all of: $depends"
	umount "$layer.root"
	rm -r "$layer.new/packages" "$layer.new/etc"
	mv "$layer.new" "$layer"
	trap - EXIT
	rm -rf "$layer".{work,root}
fi
echo "$layer:$root"
