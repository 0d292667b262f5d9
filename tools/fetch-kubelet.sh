#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the kubelet of Debian 12's source package of Kubernetes, which has no binary package of it, into a cache
# outside the tree: 15 to 30 minutes once. The cache is kept, so that a second run needs no network.
#
# Usage: tools/fetch-kubelet.sh
#   BPFMON_KUBELET  the cache (default: $XDG_CACHE_HOME/bpfmon-kubelet or ~/.cache/bpfmon-kubelet)
#   DEBIAN_MIRROR   the mirror (default: deb.debian.org)
# Prints the program, CACHE/VERSION/kubelet, when it is complete. Needs tools/install-deps.sh kubelet.
set -eu -o pipefail

cache=${BPFMON_KUBELET:-${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon-kubelet}
version=1.20.2 # newer ones refuse cgroups of version 1
program=$cache/$version/kubelet
work=$cache/$version.new
package=k8s.io/kubernetes/vendor/k8s.io/component-base/version

fail() {
	echo "fetch-kubelet.sh: $*" >&2
	exit 1
}

fetch() {
	local lists=$work/apt
	# on the command line, since what images for containers set there turns apt's own cache off
	local -a own=(-o "Dir::State=$lists" -o "Dir::Etc::sourcelist=$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o "Dir::Cache::pkgcache=$lists/pkgcache.bin" -o "Dir::Cache::srcpkgcache=$lists/srcpkgcache.bin"
		-o "APT::Sandbox::User=$(id -un)")
	mkdir -p "$lists/lists/partial"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main" >"$lists/sources.list"
	apt-get -qq "${own[@]}" update
	(cd "$work" && apt-get -qq "${own[@]}" source kubernetes)
}

# As in the time before modules, for which its vendor folder is made: newer versions of Go refuse its go.mod.
compile() {
	local tree
	tree=$(find "$work" -maxdepth 1 -name "kubernetes-*$version" -type d)
	[ -n "$tree" ] || fail "the source package has no Kubernetes $version"
	mkdir -p "$work/go/src/k8s.io"
	ln -sfn "$tree" "$work/go/src/k8s.io/kubernetes"
	cd "$work/go/src/k8s.io/kubernetes"
	GOPATH=$work/go GOCACHE=${GOCACHE:-$work/gocache} GO111MODULE=off nice -n 10 "$(go_of_debian)" build -p 1 -trimpath \
		-ldflags "-s -w -X $package.gitVersion=v$version -X $package.gitMajor=1 -X $package.gitMinor=20" \
		-o "$work/kubelet" k8s.io/kubernetes/cmd/kubelet
}

go_of_debian() {
	if [ -x /usr/lib/go-1.19/bin/go ]; then echo /usr/lib/go-1.19/bin/go; else command -v go || fail "Go is missing"; fi
}

[ $# = 0 ] || fail "usage: tools/fetch-kubelet.sh"
if [ ! -x "$program" ]; then
	echo "building $program" >&2
	rm -rf "$work"
	mkdir -p "$work"
	{ fetch && compile; } >"$cache/$version.log" 2>&1 ||
		fail "no kubelet $version: $(tail -1 "$cache/$version.log"); see $cache/$version.log"
	mkdir -p "$cache/$version"
	mv "$work/kubelet" "$program"
	chmod -R u+w "$work"
	rm -rf "$work" "$cache/$version.log"
fi
echo "$program"
