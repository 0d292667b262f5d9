#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs what building and testing need and is not there yet. Debian and Ubuntu.
#
# Usage: tools/install-deps.sh [kernels] [containers] [servers] [notebook] [report] [fuzz]
#   kernels: also what booting other kernels needs; containers: what the tests with containers need;
#   servers: the databases that exports are sent to, none of which is started;
#   notebook: what the notebook is executed with; report: the browser in which reports are opened;
#   fuzz: clang's libFuzzer and sanitizers
set -eu

packages="gcc make clang llvm libbpf-dev libelf-dev zlib1g-dev libjansson-dev libsqlite3-dev libcmocka-dev
	linux-libc-dev python3 sudo libcap2-bin time clang-format clang-tidy cppcheck shellcheck git ca-certificates"
for also in "$@"; do
	case $also in
	kernels) packages="$packages qemu-system-x86 qemu-system-arm cpio e2fsprogs util-linux
		debian-archive-keyring" ;;
	containers) packages="$packages podman runc crun bubblewrap uidmap" ;;
	servers) packages="$packages prometheus influxdb victoria-metrics python3-prometheus-client" ;;
	notebook) packages="$packages python3-pandas python3-matplotlib python3-nbclient python3-ipykernel" ;;
	report)
		packages="$packages chromium fonts-dejavu-core"
		# others than the distribution's nodejs bring npm along, and exclude its package
		command -v npm >/dev/null || packages="$packages nodejs npm"
		;;
	fuzz)
		# older releases have it in the package of clang itself
		[ -n "$(find "$(clang -print-resource-dir 2>/dev/null || echo /nonexistent)" \
			-name 'libclang_rt.fuzzer*' 2>/dev/null)" ] || packages="$packages libclang-rt-dev"
		;;
	*) echo "no such group of packages: $also" >&2 && exit 2 ;;
	esac
done
# Ubuntu has bpftool in linux-tools-common; Debian in a package of its own
if [ ! -x /usr/sbin/bpftool ]; then
	packages="$packages bpftool"
fi

missing=
for p in $packages; do
	dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages:$missing; run this as root" >&2
	exit 1
fi
# who wants to test with a server does not want one that serves the world: none is started
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=900 -qq update
# shellcheck disable=SC2086 # a list
apt-get -o DPkg::Lock::Timeout=900 -qq install -y --no-install-recommends $missing
