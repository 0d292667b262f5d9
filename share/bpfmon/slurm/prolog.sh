#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Prolog= and Epilog= of slurm.conf, for bpfmon agent: user, account, partition and array of a job. docs/SLURM.md
PATH=/usr/bin:/bin
umask 022
for key in "$SLURM_JOB_ID" $SLURM_JOB_SLUID; do
	file=/run/bpfmon/slurm/$key
	case $SLURM_SCRIPT_CONTEXT in epilog*) rm -f "$file" && continue ;; esac
	mkdir -p "${file%/*}"
	for v in JOB_ID JOB_SLUID JOB_UID JOB_USER JOB_ACCOUNT JOB_PARTITION ARRAY_JOB_ID ARRAY_TASK_ID; do
		eval "printf 'SLURM_%s=%s\n' $v \"\$SLURM_$v\""
	done >"$file.new" && mv -f "$file.new" "$file"
done
exit 0 # whatever failed: otherwise Slurm drains the node
