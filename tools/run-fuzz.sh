#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Fuzzes the parsers of untrusted bytes: builds the targets tests/fuzz/fuzz_NAME.c with clang, ASan and
# UBSan, and runs each for SECONDS, one on each CPU; 0: only the inputs that are there. It starts from the corpus in
# tests/fuzz/corpus/NAME, the golden files and the inputs that earlier runs found, which are in
# build/fuzz/corpus/NAME. An input with a finding is kept in build/fuzz/findings. The last line is
# "N passed, N failed, N skipped".
#
# Usage: tools/run-fuzz.sh SECONDS [NAME...]           (default: all of them)
#        tools/run-fuzz.sh --keep NAME...              the found corpus, minimized, becomes the kept one
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

cd "$(dirname "$0")/.."
bin=$PWD/build/fuzzed/fuzz
work=$PWD/build/fuzz
kept=$PWD/tests/fuzz/corpus
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:quarantine_size_mb=64
export UBSAN_OPTIONS=print_stacktrace=1
export TZ=UTC LC_ALL=C.UTF-8
# 10 s for an input: the slowest takes less than one, so that a busy machine makes no finding
limits=(-timeout=10 -rss_limit_mb=512 -malloc_limit_mb=256 -max_len=16384)

fuzz_one() { # SECONDS NAME
	local name=$2 log=$work/log/$2 begun=$kept/$2 rc=0 dictionary=() golden=()
	mkdir -p "$work/corpus/$name" "$work/findings" "$work/log" "$runs/$name" "$begun"
	if [ -f "tests/fuzz/$name.dict" ]; then
		dictionary=("-dict=$PWD/tests/fuzz/$name.dict")
	fi
	case $name in
	lines | export | report | show | peer) golden=("$PWD/tests/data") ;;
	esac
	local length=(-max_total_time="$1")
	[ "$1" != 0 ] || length=(-runs=0)
	(cd "$runs/$name" && "$bin/fuzz_$name" "${limits[@]}" "${dictionary[@]}" \
		"${length[@]}" -artifact_prefix="$work/findings/$name-" -print_final_stats=1 \
		"$work/corpus/$name" "$begun" "${golden[@]}" >"$log" 2>&1 </dev/null) || rc=$?
	report_one "$name" "$log" "$rc"
}

report_one() { # NAME LOG STATUS
	local executed cov ft verdict=ok found="0 findings"
	executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2")
	cov=$(grep -ao 'cov: [0-9]*' "$2" | tail -1 || :)
	ft=$(grep -ao 'ft: [0-9]*' "$2" | tail -1 || :)
	if [ "$3" != 0 ]; then
		verdict=FAILED found="1 finding"
		grep -aE 'ERROR|SUMMARY|runtime error|does not hold|Test unit written' "$2" | head -20 || :
		echo "$1: the whole of it is in $2"
	fi
	printf '%-6s %-16s %12s executions, %s %s, %s\n' "$verdict" "$1" "${executed:-?}" \
		"${cov:-cov: ?}" "${ft:-ft: ?}" "$found"
	return "$3"
}

# Only inputs that reach code that no smaller one does: how often it is reached would keep ten times as many.
keep_one() { # NAME
	local begun=$kept/$1 new=$work/kept/$1
	rm -rf "$new"
	mkdir -p "$new" "$begun" "$work/corpus/$1" "$work/log" "$runs/$1"
	(cd "$runs/$1" && "$bin/fuzz_$1" "${limits[@]}" -use_counters=0 -merge=1 "$new" \
		"$begun" "$work/corpus/$1" >"$work/log/$1.merge" 2>&1 </dev/null)
	rm -rf "$begun"
	mv "$new" "$begun"
	du -sh --apparent-size "$begun"
}

names() {
	local source
	for source in tests/fuzz/fuzz_*.c; do
		source=${source##*/fuzz_}
		echo "${source%.c}"
	done
}

make -s -j"$(nproc)" fuzzed
mkdir -p "$work"
# some targets write files: in memory where that is possible
runs=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$work")" bpfmon-fuzz.XXXXXX)
trap 'rm -rf "$runs"' EXIT
if [ "${1:-}" = --keep ]; then
	shift
	for name in "$@"; do
		keep_one "$name"
	done
	exit 0
fi

seconds=${1:-60}
shift || :
[ $# -gt 0 ] || mapfile -t targets < <(names)
[ $# -gt 0 ] && targets=("$@")
export bin work kept seconds runs
export -f fuzz_one report_one
limits_text="${limits[*]}"
export limits_text
failed=0
rm -rf "$work/failed" && mkdir -p "$work/failed"
printf '%s\0' "${targets[@]}" | xargs -0 -P"$(nproc)" -I{} bash -c \
	"read -ra limits <<<\"\$limits_text\"; fuzz_one $seconds {} || touch $work/failed/{}"
failed=$(find "$work/failed" -type f | wc -l)
echo "$((${#targets[@]} - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
