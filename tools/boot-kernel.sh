#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots one kernel in qemu, without KVM, with bpfmon, the truth programs and the guest's tests in a
# bare initramfs, a disk with a file system and one for swap. Prints the guest's console. Ends with 0
# if the guest reached its end and no test failed.
#
# Usage: tools/boot-kernel.sh VMLINUZ ARCH BUILD [PARAMETER...]
#   ARCH: amd64 or arm64; BUILD: where `make guest` has built static programs for it
#   PARAMETER: for the kernel; cases=WORD runs only the tests whose name contains the word
#   SECONDS_MAX  how long a guest may take (default 400)
set -eu -o pipefail

vmlinuz=$1 arch=$2 build=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

initramfs() {
	local root=$work/root
	mkdir -p "$root"/{dev,proc,sys,tmp,truth}
	cp "$build"/bpfmon "$build"/kernels/verified "$root"
	cp "$build"/kernels/guest "$root/init"
	find "$build"/truth -type f -executable -exec cp -t "$root/truth" {} +
	(cd "$root" && find . | cpio --quiet -o -H newc) >"$work/initrd"
}

disks() {
	truncate -s 64M "$work/files"
	mkfs.ext4 -q -F "$work/files"
	truncate -s 512M "$work/swap"
	mkswap "$work/swap" >/dev/null 2>&1
}

qemu() {
	local disk arguments=() timer=
	case $arch in
	# qemu 7.2 at times corrupts the flags after cmpxchg16b, and the guest ends by a double fault
	amd64)
		arguments=(qemu-system-x86_64 -accel tcg -cpu "max,-cx16") console=ttyS0
		# the kernel counts ticks for some ms to find out how the timer is connected, and panics if an emulated
		# CPU gets no time meanwhile
		timer=no_timer_check
		;;
	# the stock hash of pointer authentication is very slow where it is emulated
	arm64)
		arguments=(qemu-system-aarch64 -accel tcg -machine virt -cpu "max,pauth-impdef=on")
		console=ttyAMA0
		;;
	esac
	for disk in files swap; do
		arguments+=(-drive "file=$work/$disk,format=raw,if=none,id=$disk"
			-device "nvme,serial=$disk,drive=$disk")
	done
	# in the process group of this script, so that one signal ends both
	timeout --foreground "${SECONDS_MAX:-400}" "${arguments[@]}" -m 1024 -nodefaults -no-user-config \
		-display none -serial stdio -monitor none -no-reboot -kernel "$vmlinuz" \
		-initrd "$work/initrd" \
		-append "console=$console panic=-1 loglevel=4 swapaccount=1 $timer $*" </dev/null |
		tr -d '\r' | tee "$work/said"
}

initramfs
disks
qemu "$@"
grep -q '^@end 0$' "$work/said"
