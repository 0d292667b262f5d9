#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Writes the tarballs of a release from the last commit, in FOLDER:
#
#   bpfmon-VERSION.tar.gz              what git has, the version, an SBOM, and the programs of the kernel for x86 and
#                                      arm64, so that neither clang nor bpftool is needed to build it
#   bpfmon-VERSION-ARCH-static.tar.gz  bpfmon without shared libraries and what belongs to it, for any folder;
#                                      with "static"
#
# The same commit and versions of compiler, bpftool and libraries give the same bytes, in any folder at any time.
#
# Usage: tools/make-dist.sh FOLDER [static]
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(tools/version.sh)
version=${version%[+.]dirty}
name=bpfmon-$version
git=(git -c "safe.directory=*")
SOURCE_DATE_EPOCH=$("${git[@]}" log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC

fail() {
	echo "make-dist: $*" >&2
	exit 1
}

pack() { # FOLDER: writes FOLDER.tar.gz
	tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
		-c "$1" | gzip -9n >"$out/$1.tar.gz.new"
	mv "$out/$1.tar.gz.new" "$out/$1.tar.gz"
	echo "$out/$1.tar.gz"
}

compile_for_kernel() { # ARCH
	make -s ARCH="$1" BUILD="build/$1" "build/$1/bpfmon.skel.h"
	mkdir -p "skeleton/$1"
	mv "build/$1/bpfmon.skel.h" "skeleton/$1/"
}

install_static() { # FOLDER
	make -s STATIC=1 BUILD=build/static DESTDIR="$1" PREFIX= SYSCONFDIR=/etc install
	strip "$1/bin/bpfmon" "$1/libexec/bpfmon/bash"
	# the units of the agent need fixed paths, the other programs shared libraries
	(cd "$1" && rm -r lib etc share/man/man8 share/man/man1/bpfmon-{push,serve,top}.1)
}

case $version in
*+*) ;;
*) [ "$version" = "$(tools/version.sh --release)" ] || fail "the tag is v$version, but NEWS.md begins with $(tools/version.sh --release)" ;;
esac
[ -z "$("${git[@]}" status --porcelain)" ] || echo "make-dist: what is not committed is not in the tarball" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${git[@]}" archive --prefix="$name/" HEAD | tar -x -C "$work"
cd "$work/$name"
echo "$version" >VERSION
sed -i "s/^Version: .*/Version:        $version/" packaging/rpm/bpfmon.spec
compile_for_kernel x86
compile_for_kernel arm64
rm -rf build
tools/gen-sbom.py >bpfmon.cdx.json
(cd .. && pack "$name")
if [ "${2:-}" = static ]; then
	static=$name-$(uname -m)-static
	install_static "$work/$static"
	cp bpfmon.cdx.json "$work/$static"
	(cd .. && pack "$static")
fi
