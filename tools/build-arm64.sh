#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Cross-compiles static programs for arm64 on Debian or Ubuntu (x86-64): build/arm64/bpfmon, or the
# targets of the Makefile that are named. The libraries are fetched into build/arm64-root with an apt
# state of its own: the system's packages do not change, except for the cross compiler, which is
# installed if it is missing (as root).
#
# Usage: tools/build-arm64.sh [TARGET...]
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

top=$(cd "$(dirname "$0")/.." && pwd)
root=$top/build/arm64-root
apt=$root/apt

if ! command -v aarch64-linux-gnu-gcc >/dev/null; then
	DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 -qq install -y \
		--no-install-recommends gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi

packages="libbpf-dev libelf-dev zlib1g-dev libjansson-dev libsqlite3-dev libinih-dev"
if [ "$(cat "$root/done" 2>/dev/null)" != "$packages" ]; then
	rm -rf "$root"
	mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,debs}
	: >"$apt/status"
	cat >"$apt/apt.conf" <<-CONF
	Dir::State "$apt/state";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/cache";
	APT::Architecture "arm64";
	APT::Architectures "arm64";
	APT::Sandbox::User "$(id -un)";
	Acquire::Languages "none";
	CONF
	export APT_CONFIG=$apt/apt.conf
	apt-get -qq update
	# shellcheck disable=SC2086 # a list
	(cd "$apt/debs" && apt-get -qq download $packages)
	for deb in "$apt"/debs/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	rm -rf "$apt"
	echo "$packages" >"$root/done"
fi

make -C "$top" -s ARCH=arm64 STATIC=1 BUILD=build/arm64 CC=aarch64-linux-gnu-gcc \
	SYSROOT_CFLAGS="-isystem $root/usr/include" \
	SYSROOT_LDFLAGS="-L$root/usr/lib/aarch64-linux-gnu" "${@:-build/arm64/bpfmon}"

# a program has the mark only if all that is linked has it, which Debian's static libraries have not
objects=$(find "$top/build/arm64/user" -name '*.o' | wc -l)
marked=$(find "$top/build/arm64/user" -name '*.o' -exec readelf -nW {} + | grep -c 'AArch64 feature: BTI, PAC') || true
if [ "$marked" -ne "$objects" ]; then
	echo "build-arm64: $marked of $objects objects have their branches checked (-mbranch-protection)" >&2
	exit 1
fi
file "$top/build/arm64/bpfmon" 2>/dev/null || ls -l "$top/build/arm64/bpfmon"
