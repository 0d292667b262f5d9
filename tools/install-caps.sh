#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Lets the members of a group measure without root: gives a copy of bpfmon the capabilities that it needs to follow
# processes, and lets nobody else execute it. bin/bpfmon executes the copy for those who may, if it is
# ../libexec/bpfmon/bpfmon from there. docs/SECURITY.md has what members can do.
#
# Usage: tools/install-caps.sh [--make-group] FILE GROUP      --make-group: if it does not exist
set -eu

CAPABILITIES=cap_bpf,cap_perfmon+ep

fail() {
	echo "install-caps: $1" >&2
	exit 1
}

make_group=
case ${1:-} in
--make-group) make_group=1 && shift ;;
esac
[ $# = 2 ] || fail "usage: tools/install-caps.sh [--make-group] FILE GROUP"
file=$1
group=$2

[ "$(id -u)" = 0 ] || fail "only root can change the capabilities of '$file'; try: sudo make install-caps"
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || fail "there is no setcap to give '$file' capabilities; install libcap2-bin (or libcap)"
[ -f "$file" ] || fail "there is no file '$file'; try: make install-caps, with the PREFIX of the installation"
if ! getent group "$group" >/dev/null; then
	[ -n "$make_group" ] || fail "there is no group '$group' for '$file'; try: groupadd --system $group"
	groupadd --system "$group" || fail "the group '$group' cannot be made; choose one by CAPS_GROUP="
fi
# findmnt is in util-linux, which a small container may lack
if findmnt -n -o OPTIONS -T "$file" 2>/dev/null | grep -qw nosuid; then
	fail "'$file' is on a file system that is mounted with nosuid, where the kernel ignores capabilities; choose another PREFIX"
fi
# neither world-executable with capabilities at any time, nor with those of an earlier installation
setcap -q -r "$file" 2>/dev/null || true # it may have none
chown "0:$group" "$file"
chmod 750 "$file"
setcap -q "$CAPABILITIES" "$file" || {
	chmod 700 "$file"
	fail "'$file' gets no capabilities, perhaps as its file system stores none; without them: use sudo"
}
echo "bpfmon measures without root for members of group $group (usermod -aG $group USER, who then logs in anew)"
