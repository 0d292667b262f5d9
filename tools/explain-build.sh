#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Explains why a build failed if files of an earlier one belong to another user, as those of `sudo make`.
#
# Usage: tools/explain-build.sh FOLDER
set -eu

[ -e "$1" ] || exit 0
foreign=$(find "$1" ! -writable ! -type l -print -quit 2>/dev/null)
[ -n "$foreign" ] || exit 0
echo "$foreign belongs to $(stat -c %U "$foreign"), and $(id -un) cannot build there: sudo chown -R $(id -u) $1, or mv $1 $1.old" >&2
