#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Lets the members of a group measure without root: makes a copy of bpfmon with the capabilities that it needs to follow
# processes, and lets nobody else execute it. bin/bpfmon executes the copy, libexec/bpfmon/bpfmon, for those who may.
# docs/SECURITY.md has what members can do. To take it back, remove the copy.
#
# Usage: PREFIX/libexec/bpfmon/install-caps [--make-group] [GROUP]      --make-group: if it does not exist; default: bpfmon
set -eu

CAPABILITIES=cap_bpf,cap_perfmon+ep

fail() {
	echo "install-caps: $1" >&2
	exit 1
}

make_group=
case ${1:-} in
--make-group) make_group=1 && shift ;;
-*) set -- too many ;;
esac
[ $# -le 1 ] || fail "usage: install-caps [--make-group] [GROUP]"
group=${1:-bpfmon}
here=$(cd "$(dirname "$0")" && pwd)
program=${here%/libexec/bpfmon}/bin/bpfmon
copy=$here/bpfmon

[ "$(id -u)" = 0 ] || fail "only root can give '$copy' capabilities; try: sudo $0"
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || fail "there is no setcap to give '$copy' capabilities; install libcap2-bin (or libcap)"
[ -f "$program" ] || fail "there is no '$program' to copy; install bpfmon, and execute its libexec/bpfmon/install-caps"
if ! getent group "$group" >/dev/null; then
	[ -n "$make_group" ] || fail "there is no group '$group' for '$copy'; try: groupadd --system $group"
	groupadd --system "$group" || fail "the group '$group' cannot be made; name another one"
fi
# findmnt is in util-linux, which a small container may lack
if findmnt -n -o OPTIONS -T "$here" 2>/dev/null | grep -qw nosuid; then
	fail "'$copy' is on a file system that is mounted with nosuid, where the kernel ignores capabilities; choose another PREFIX"
fi
# neither world-executable with capabilities at any time, nor with those of an earlier installation
trap 'rm -f "$copy"' EXIT
rm -f "$copy"
install -m 700 "$program" "$copy"
chown "0:$group" "$copy"
chmod 750 "$copy"
setcap -q "$CAPABILITIES" "$copy" ||
	fail "'$copy' gets no capabilities, perhaps as its file system stores none; without them: use sudo"
trap - EXIT
echo "bpfmon measures without root for members of group $group (usermod -aG $group USER, who then logs in anew)"
