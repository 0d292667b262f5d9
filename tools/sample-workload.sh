#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A second or two of work that samplers miss: short children, a daemon, a spike, some I/O.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

i=0
while [ $i -lt 200 ]; do
	/bin/true
	i=$((i + 1))
done
# a daemon: reparented away from us, still in the account
# shellcheck disable=SC2016 # the inner shell's
(setsid sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' >/dev/null 2>&1 &)
# memory that is there for a moment only
head -c 150M /dev/zero | tail -c 150M >/dev/null
dd if=/dev/zero of="$dir/file" bs=1M count=32 2>/dev/null
sleep 0.5
