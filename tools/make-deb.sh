#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Builds the Debian packages from packaging/debian, in a copy of the sources, as an ordinary user and without network.
#
# Usage: tools/make-deb.sh VERSION FOLDER      what tools/install-deps.sh deb installs is needed
#   FOLDER    for the packages; FOLDER/source is the copy
set -eu -o pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin # programs of packages, as Build-Depends names them
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

[ $# = 2 ] || { echo "usage: tools/make-deb.sh VERSION FOLDER" >&2 && exit 2; }
version=$1
folder=$2
cd "$(dirname "$0")/.."

rm -rf "$folder"
mkdir -p "$folder/source"
tar -c --exclude="./$folder" --exclude=./{.git,build,tests,tools/python/build} --exclude={__pycache__,'*.egg-info'} . |
	tar -x -C "$folder/source"
cp -r packaging/debian "$folder/source/debian"

# the same for each build of a commit
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="*" log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}
cat >"$folder/source/debian/changelog" <<EOF
bpfmon-jobs ($version) unstable; urgency=medium

  * Release $version.

 -- The bpfmon authors <noreply@github.com>  $(date -uR -d "@$SOURCE_DATE_EPOCH")
EOF

# debhelper sets another HOME, where ccache would find nothing
if command -v ccache >/dev/null; then
	CCACHE_DIR=${CCACHE_DIR:-$(ccache -k cache_dir)}
	export CCACHE_DIR
fi
cd "$folder/source"
dpkg-buildpackage --build=binary --no-sign >../log 2>&1 || {
	tail -n 20 ../log
	echo "make-deb: dpkg-buildpackage failed; $folder/log has the rest" >&2
	exit 1
}
cd ..
rm -rf source
printf '%s\n' ./*.deb | sed "s|^\.|$folder|"
