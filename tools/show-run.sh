#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Shows a run of tools/sample-workload.sh, and says where its figures come from.
#
# Usage: tools/show-run.sh    (BUILD: the folder of bpfmon)
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# under sudo the recorder writes with the rights of the user who called it
if [ "$(id -u)" = 0 ] && [ -n "${SUDO_UID:-}" ]; then chown "$SUDO_UID" "$dir"; fi

"${BUILD:-build}/bpfmon" --summary full -i 0.1 -f jsonl -o "$dir/run.jsonl" -- tools/sample-workload.sh
case $(head -n 1 "$dir/run.jsonl") in
*'"source":"bpf"'*) echo "measured by BPF" ;;
*'"source":"procfs"'*) echo "measured from /proc, without BPF: docs/RUN.md says how well" ;;
esac
