#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prints the version: that of git's newest tag vX.Y.Z, after it what the tree has more, as 0.2.0+5.g1a2b3c4d5 or
# 0.2.0+dirty. Without a tag it is that of the last release in NEWS.md and the commit; in a source tarball, the file
# VERSION, which make dist has written. The forms are valid as a version of a Debian, RPM and Python package.
#
# Usage: tools/version.sh [--release]
#   --release  the last release in NEWS.md, which the documents have
set -eu

cd "$(dirname "$0")/.."
release=$(sed -n '/^## [0-9]/{s/^## \([0-9.]*\).*/\1/p;q;}' NEWS.md)
if [ "${1:-}" = --release ]; then
	echo "$release"
elif [ -e VERSION ]; then
	cat VERSION
else
	# as root, too, in the clone of a user; as .git of this folder, not of one above
	described=$([ -e .git ] && GIT_OPTIONAL_LOCKS=0 git -c safe.directory='*' describe --tags --match 'v[0-9]*' --abbrev=9 \
		--always --dirty=-dirty 2>/dev/null) || described=
	case $described in
	v*) described=${described#v} ;;
	?*) described=$release-g$described ;;
	*) described=$release ;;
	esac
	# the first - becomes +, the others points
	echo "$described" | sed 's/-/+/;s/-/./g'
fi
