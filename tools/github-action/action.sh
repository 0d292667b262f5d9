#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The steps of action.yml, which sets the variables that are read here. GITHUB_OUTPUT takes the outputs of a step,
# GITHUB_STEP_SUMMARY Markdown for the page of the workflow.
#
# Usage: action.sh install|run
#   install  finds bpfmon, or builds it of the repository around this file
#   run      runs INPUT_RUN under it, and ends with its status; 1: an expression of INPUT_FAIL_IF holds
set -eu -o pipefail

# With the environment of the workflow, PATH included, which sudo would replace.
as_root() { # WORD...
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo --preserve-env env "PATH=$PATH" "$@"
	fi
}

output() { # NAME VALUE
	printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

install_bpfmon() {
	local program=${BPFMON_PROGRAM:-} top
	top=$(cd "$(dirname "$0")/../.." && pwd)
	if [ -z "$program" ]; then
		program=$(command -v bpfmon || true)
	fi
	if [ -z "$program" ]; then
		echo "::group::Building bpfmon"
		as_root "$top/tools/install-deps.sh"
		make -s -C "$top" build/bpfmon
		echo "::endgroup::"
		program=$top/build/bpfmon
	fi
	"$program" --version
	output program "$program"
}

# A wall time or a size that the run lacks is no output: a template writes ? for it.
output_keys() {
	local wall cpu needed peak
	IFS=$'\t' read -r wall cpu needed peak < <("$BPFMON_PROGRAM" show \
		-f '{wall_seconds}\t{cpu_seconds}\t{memory_needed_bytes}\t{rss_peak_bytes}' "$INPUT_FILE")
	output file "$INPUT_FILE"
	output wall-seconds "${wall#\?}"
	output cpu-seconds "${cpu#\?}"
	output memory-needed-bytes "${needed#\?}"
	output rss-peak-bytes "${peak#\?}"
}

compare_runs() {
	local expression words=()
	while IFS= read -r expression; do
		if [ -n "$expression" ]; then
			words+=(--fail-if "$expression")
		fi
	done <<<"$INPUT_FAIL_IF"
	printf '\n#### Against the baseline\n'
	"$BPFMON_PROGRAM" compare --format markdown ${words+"${words[@]}"} "$INPUT_BASELINE" "$INPUT_FILE"
}

# The cache has restored the baseline where this run will be.
take_restored() {
	[ -n "${RESTORED:-}" ] && [ -s "$INPUT_FILE" ] || return 0
	INPUT_BASELINE=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/bpfmon-baseline.jsonl
	mv "$INPUT_FILE" "$INPUT_BASELINE"
}

run_command() {
	local status=0 user=() options=()
	take_restored
	read -r -a options <<<"$INPUT_OPTIONS"
	if [ "$(id -u)" != 0 ]; then
		user=(--user) # the command keeps the user of the workflow: only bpfmon needs root
	fi
	if [ -n "$INPUT_NAME" ]; then
		options+=(--name "$INPUT_NAME")
	fi
	as_root "$BPFMON_PROGRAM" --no-store --force -o "jsonl:$INPUT_FILE" ${user+"${user[@]}"} \
		${options+"${options[@]}"} -- bash -e -o pipefail -c "$INPUT_RUN" || status=$?
	if [ ! -s "$INPUT_FILE" ]; then
		echo "::error::bpfmon has not run the command"
		return "$status"
	fi
	output_keys
	"$BPFMON_PROGRAM" show --format markdown "$INPUT_FILE" >>"$GITHUB_STEP_SUMMARY"
	if [ -n "$INPUT_BASELINE" ] && ! compare_runs >>"$GITHUB_STEP_SUMMARY" && [ $status = 0 ]; then
		status=1
	fi
	return "$status"
}

case ${1-} in
install) install_bpfmon ;;
run) run_command ;;
*)
	echo "usage: action.sh install|run" >&2
	exit 2
	;;
esac
