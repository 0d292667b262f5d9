#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Lets the members of a group run an installed bpfmon without root: gives its file the capabilities that
# it needs to follow processes, and lets nobody else execute it. docs/SECURITY.md has what they can do.
#
# Usage: tools/install-caps.sh [--make-group] FILE GROUP      --make-group: if it does not exist
#        tools/install-caps.sh --remove FILE                  for everybody again, without capabilities
set -eu

CAPABILITIES=cap_bpf,cap_perfmon+ep

fail() {
	echo "install-caps: $1" >&2
	exit 1
}

# Neither world-executable with capabilities at any time, nor with those of an earlier installation.
capabilities_take_back() { # FILE OWNERS MODE
	setcap -q -r "$1" 2>/dev/null || true # it may have none
	chown "$2" "$1"
	chmod "$3" "$1"
}

make_group=
remove=
case ${1:-} in
--make-group) make_group=1 && shift ;;
--remove) remove=1 && shift ;;
esac
[ $# = $((2 - ${remove:-0})) ] || fail "usage: tools/install-caps.sh [--make-group] FILE GROUP | --remove FILE"
file=$1

[ "$(id -u)" = 0 ] || fail "only root can change the capabilities of '$file'; try: sudo make install-caps"
PATH=$PATH:/usr/sbin:/sbin
command -v setcap >/dev/null || fail "there is no setcap to give '$file' capabilities; install libcap2-bin (or libcap)"
[ -f "$file" ] || fail "there is no file '$file'; try: make install-caps, with the PREFIX of the installation"

if [ -n "$remove" ]; then
	capabilities_take_back "$file" 0:0 755
	echo "$file has no capabilities any more, and everybody can execute it"
	exit 0
fi

group=$2
if ! getent group "$group" >/dev/null; then
	[ -n "$make_group" ] || fail "there is no group '$group' for '$file'; try: groupadd --system $group"
	groupadd --system "$group" || fail "the group '$group' cannot be made; choose one by CAPS_GROUP="
fi
# findmnt is in util-linux, which a small container may lack
if findmnt -n -o OPTIONS -T "$file" 2>/dev/null | grep -qw nosuid; then
	fail "'$file' is on a file system that is mounted with nosuid, where the kernel ignores capabilities; choose another PREFIX"
fi
capabilities_take_back "$file" "0:$group" 750
setcap -q "$CAPABILITIES" "$file" || {
	chown 0:0 "$file" && chmod 755 "$file"
	fail "'$file' gets no capabilities, perhaps as its file system stores none; it is installed without them: use sudo"
}
echo "$file runs without root for members of group $group (usermod -aG $group USER, who then logs in anew)"
