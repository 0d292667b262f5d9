#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes vmlinux/ARCH/vmlinux.h: the kernel types our programs touch, and no others. CO-RE finds the
# fields by name on the machine it runs on, so padding is left out.
#
# Usage: tools/gen-vmlinux.sh ARCH [BTF]      ARCH: x86 or arm64; BTF: default this kernel's
set -eu

arch=$1
btf=${2:-/sys/kernel/btf/vmlinux}
top=$(cd "$(dirname "$0")/.." && pwd)
clang=${CLANG:-clang}
bpftool=${BPFTOOL:-/usr/sbin/bpftool}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bpftool" btf dump file "$btf" format c >"$work/vmlinux.h"
for f in "$top"/bpf/*.bpf.c; do
	"$clang" -O2 -g -target bpf "-D__TARGET_ARCH_$arch" -I"$top/include" -I"$work" \
		-c "$f" -o "$work/$(basename "$f" .bpf.c).o"
done
"$bpftool" gen object "$work/all.bpf.o" "$work"/*.o
"$bpftool" gen min_core_btf "$btf" "$work/min.btf" "$work/all.bpf.o"
mkdir -p "$top/vmlinux/$arch"
{
	echo "/* SPDX-License-Identifier: GPL-2.0-only */"
	echo "/* Made by tools/gen-vmlinux.sh; do not edit. Offsets are those of no kernel. */"
	"$bpftool" btf dump file "$work/min.btf" format c |
		sed -E '/^\t+(long|int|short|char): [0-9]+;$/d; /^struct __sk_buff \{/,/^\};/d' | # that is in linux/bpf.h
		sed 's|^#define __VMLINUX_H__$|&\n\n#include <linux/bpf.h>\n#include <stdbool.h>\n#include <stddef.h>|'
} >"$top/vmlinux/$arch/vmlinux.h"
