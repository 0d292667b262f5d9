#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fetches Debian's cloud kernels into a cache outside the tree, with an apt state of its own: the
# system's packages and lists do not change. The cache is kept, so that a second run needs no network;
# remove a kernel's folder there to fetch its newest build.
#
# Usage: tools/fetch-kernels.sh KERNEL...      KERNEL: a series, as in 6.12 or 6.12-arm64 (else amd64)
#   BPFMON_KERNELS  the cache (default: $XDG_CACHE_HOME/bpfmon-kernels or ~/.cache/bpfmon-kernels)
#   DEBIAN_MIRROR   the mirror (default: that of the system, else deb.debian.org)
# Leaves CACHE/KERNEL/vmlinuz and CACHE/KERNEL/package, the name and version of where it is from.
set -eu -o pipefail

cache=${BPFMON_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon-kernels}
suites="bullseye bookworm bookworm-backports trixie trixie-backports sid"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# on the command line, since what images for containers set there turns apt's own cache off
kept=(-o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin)

fail() {
	echo "fetch-kernels.sh: $*" >&2
	exit 1
}

arch_of() { # KERNEL
	case $1 in *-*) echo "${1#*-}" ;; *) echo amd64 ;; esac
}

# The first Debian archive of apt's own sources that is not the one for security updates.
mirror() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
		[ -r "$file" ] || continue
		case $file in
		*.sources) awk '$1 == "URIs:" { print $2 }' "$file" ;;
		*.list) sed -nE 's/^deb (\[[^]]*\] *)?([^ ]+).*/\2/p' "$file" ;;
		esac
	done | awk '/\/debian\/?$/ && !n++ { print; found = 1 }
		END { if (!found) print "http://deb.debian.org/debian" }'
}

# An apt that knows all the suites that have kernels, for one architecture.
apt_make() { # ARCH
	local apt=$cache/apt-$1 suite uri
	uri=${DEBIAN_MIRROR:-$(mirror)}
	mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,debs}
	: >"$apt/status"
	for suite in $suites; do
		echo "deb [arch=$1 signed-by=$keys] $uri $suite main"
	done >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-CONF
	Dir::State "$apt/state";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	APT::Architecture "$1";
	APT::Architectures "$1";
	APT::Sandbox::User "$(id -un)";
	Acquire::Languages "none";
	Acquire::Retries "3";
	#clear APT::Update::Post-Invoke-Success;
	#clear APT::Update::Post-Invoke;
	#clear DPkg::Post-Invoke;
	CONF
	export APT_CONFIG=$apt/apt.conf
	apt-get -qq "${kept[@]}" update || fail "$uri does not offer the lists of packages"
	# a suite may be gone from a mirror: apt only warns, also when it could reach nothing at all
	[ -n "$(find "$apt/state/lists" -maxdepth 1 -name '*_Packages*')" ] ||
		fail "no list of packages could be fetched from $uri: is there a network? ($cache is" \
			"where kernels are kept)"
}

# The newest package with the kernel of a series. From 6.19 on Debian has it in linux-binary-*, before
# that in linux-image-*.
package_of() { # SERIES ARCH
	local names
	names=$(apt-cache "${kept[@]}" pkgnames |
		grep -E "^linux-(image|binary)-${1//./\\.}[.+-].*-cloud-$2\$" | grep -v -- -rt-) || return 1
	if grep -q ^linux-binary- <<<"$names"; then
		names=$(grep ^linux-binary- <<<"$names")
	fi
	sort -V <<<"$names" | tail -1
}

# Fails instead of leaving an incomplete kernel.
unpack() { # KERNEL DEB
	local to=$cache/$1 found
	rm -rf "$to" "$to.new"
	mkdir -p "$to.new/all"
	dpkg-deb -x "$2" "$to.new/all"
	found=$(find "$to.new/all" -name 'vmlinu[xz]*' -type f -print -quit)
	[ -n "$found" ] || fail "no kernel in $2"
	mv "$found" "$to.new/vmlinuz"
	dpkg-deb -f "$2" Package Version | sed 's/^[^ ]* //' | paste -sd ' ' >"$to.new/package"
	rm -rf "$to.new/all"
	mv "$to.new" "$to"
}

fetch() { # ARCH KERNEL...
	local arch=$1 kernel package packages=()
	shift
	echo "fetching into $cache: $*"
	apt_make "$arch"
	cd "$cache/apt-$arch/debs"
	for kernel; do
		package=$(package_of "${kernel%%-*}" "$arch") ||
			fail "no suite has a kernel $kernel; offered: $suites"
		packages+=("$package")
	done
	apt-get -qq "${kept[@]}" download "${packages[@]}" || fail "these could not be fetched: ${packages[*]}"
	for kernel; do
		unpack "$kernel" "$(ls "${packages[0]}"_*.deb)"
		packages=("${packages[@]:1}")
	done
	cd "$OLDPWD"
	rm -rf "$cache/apt-$arch"
}

[ $# -gt 0 ] || fail "usage: tools/fetch-kernels.sh KERNEL..."
mkdir -p "$cache"
for arch in amd64 arm64; do
	missing=()
	for kernel; do
		if [ "$(arch_of "$kernel")" = $arch ] && [ ! -s "$cache/$kernel/package" ]; then
			missing+=("$kernel")
		fi
	done
	[ ${#missing[@]} = 0 ] || fetch $arch "${missing[@]}"
done
