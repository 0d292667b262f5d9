#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Makes a container image from scratch: bpfmon without shared libraries, and bpfmon-exporter with those that it
# needs, as TLS has only shared ones. There is no shell in it. bpfmon-push is not: Prometheus and vmagent scrape.
#
# Usage: tools/make-image.sh BUILD IMAGE       BUILD: a build folder, of make STATIC=1; IMAGE: as in localhost/bpfmon:1
#   BUILDER  podman or buildah (default: the one that is installed)
# Leaves what the image has in BUILD/image.
set -eu -o pipefail

fail() {
	echo "make-image.sh: $*" >&2
	exit 1
}

[ $# = 2 ] || fail "usage: tools/make-image.sh BUILD IMAGE"
build=$1 image=$2 root=$1/image
builder=${BUILDER:-$(command -v buildah || command -v podman || true)}
[ -n "$builder" ] || fail "neither buildah nor podman is installed: tools/install-deps.sh containers"
! file_is_dynamic=$(ldd "$build/bpfmon" 2>/dev/null | grep '=>') ||
	fail "$build/bpfmon needs shared libraries, build it by make STATIC=1:" "$file_is_dynamic"

rm -rf "$root"
# mount points as well, since the root folder is read-only
install -d "$root"/{dev,etc/bpfmon,proc,run,sys,tmp,var/lib/bpfmon,var/log/containers,var/log/pods}
install -sD "$build/bpfmon" "$root/usr/bin/bpfmon"
install -sD "$build/bpfmon-exporter" "$root/usr/libexec/bpfmon/bpfmon-exporter"
ldd "$build/bpfmon-exporter" | grep -o '/[^ ]*' | while read -r library; do
	install -D "$library" "$root$library"
done
# numbers that no distribution assigns, also outside of the container
echo 'root:x:0:0:root:/:/nonexistent' >"$root/etc/passwd"
echo 'bpfmon-exporter:x:65521:65521:bpfmon endpoint:/:/nonexistent' >>"$root/etc/passwd"
printf '%s\n' root:x:0: bpfmon-admin:x:65520: bpfmon-exporter:x:65521: >"$root/etc/group"
"$builder" build --file tools/image/Containerfile --tag "$image" "$root"
