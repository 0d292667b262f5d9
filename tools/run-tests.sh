#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs groups of tests and counts: unit (cmocka, under ASan and UBSan), threads (those with threads,
# under TSan), bpf and e2e (as root all), kernels (booted in qemu), report (in a browser), fuzz (the kept corpus; with
# BPFMON_TESTS=long each target for 20 s from there). A line for each file has its time. Exhaustive tests take a random part,
# which the printed SEED repeats, and with BPFMON_TESTS=long all of their cases. Before the end it says by reason what was left out: tests that need root or
# BPF are neither passed nor failed where that is not there. The last line is "N passed, N failed, N skipped"; fails if
# any failed, or if one was left out in CI.
#
# Usage: tools/run-tests.sh [unit] [threads] [bpf] [e2e] [kernels] [servers] [notebook] [systemd] [report] [fuzz]
#   KERNELS  those of the group kernels, as in "6.1 7.2" (default: these)
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
passed=0 failed=0 skipped=0
failures=() # their names, for those who read the end only
declare -A left_out=() # how many, by reason

build() { # MAKE'S ARGUMENT...
	make -s "$@" || { tools/explain-build.sh build && exit 1; }
}

add_left_out() { # REASON COUNT
	left_out[$1]=$((${left_out[$1]:-0} + $2))
}

# Prints a line for a file of unit tests, and all that it has written if one of them failed.
cmocka_one() { # PROGRAM FOLDER NAME; leaves its output, its status and its counts in the folder
	local out=$2/$3.out rc=0 ok names bad left of_root began=$EPOCHREALTIME took word=ok
	"$1" "$3" >"$out" 2>&1 || rc=$?
	took=$(((${EPOCHREALTIME/./} - ${began/./}) / 10000))
	ok=$(grep -ac '^\[       OK \]' "$out" || :)
	# cmocka names each once as it fails and once in a list
	names=$(awk '/^\[  FAILED  \]/ && !/test\(s\)/ && !seen[$0]++ { print $4 }' "$out")
	bad=$(grep -c . <<<"$names" || :)
	left=$(awk '/^\[  SKIPPED \]/ && !/test\(s\)/ && !seen[$0]++ { n++ } END { print n + 0 }' "$out")
	of_root=$(grep -ac '^skipped: it needs root$' "$out" || :)
	if [ "$rc" != 0 ] && [ "$bad" = 0 ]; then
		bad=1 # a crash, or a sanitizer's verdict
	fi
	echo "$ok $bad $((left - of_root)) $of_root ${names//$'\n'/ }" >"$2/$3.counts"
	if [ "$bad" != 0 ]; then
		word=FAIL
		cat "$out"
	else
		grep -a '^seed ' "$out" || :
	fi
	printf '%-4s %3d.%02d s  %s (%d tests)\n' $word $((took / 100)) $((took % 100)) "$3" $((ok + bad))
}

# As many at once as there are CPUs.
run_cmocka() { # PROGRAM NAME...
	local program=$1 name ok bad left of_root names results
	results=$(mktemp -d)
	shift
	export -f cmocka_one
	printf '%s\0' "$@" | xargs -0 -P"$(nproc)" -I{} bash -c 'cmocka_one "$@"' _ "$program" "$results" {}
	export -fn cmocka_one # else it is in the environment of each test that follows
	for name in "$@"; do
		read -r ok bad left of_root names <"$results/$name.counts"
		passed=$((passed + ok))
		failed=$((failed + bad))
		skipped=$((skipped + left))
		[ "$of_root" = 0 ] || add_left_out "not run for lack of root" "$of_root"
		[ "$left" = 0 ] || add_left_out "skipped: in $name" "$left"
		[ "$bad" = 0 ] || failures+=("$program $name: $names")
	done
	rm -rf "$results"
}

run_unit() {
	local names at=build/sanitized target=sanitized
	# one build is enough in CI: the one for the fuzzer, by clang
	[ -z "${CI:-}" ] || at=build/fuzzed target=fuzzed
	# the large ones first: the slowest is among them
	mapfile -t names < <(find tests/unit -name 'test_*.c' -printf '%s %f\n' | sort -rn | cut -d' ' -f2)
	build $target
	run_cmocka $at/unit/all "${names[@]%.c}"
}

# Code with threads, under TSan: the store's writer, the receiver of marks, the reader of PSS.
run_threads() {
	build BUILD=build/threads SANITIZE=-fsanitize=thread build/threads/unit/all
	run_cmocka build/threads/unit/all test_{inbox,observers,pss_reader,pushed,recorder,store}
}

# Programs that end with a count of their own.
run_counted() { # COMMAND...
	local out counts reason
	out=$(mktemp)
	"$@" 2>&1 | tee "$out" || :
	counts=$(tail -1 "$out")
	while IFS= read -r reason; do
		add_left_out "${reason%: *}" "${reason##*: }"
	done < <(grep -aE '^(not run for lack of .*|skipped: .*|left to make check-long): [0-9]+$' "$out")
	mapfile -t -O "${#failures[@]}" failures < <(grep -aE '^FAIL |FAILED' "$out")
	rm -f "$out"
	if ! [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
		failures+=("$* ended without its count")
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + BASH_REMATCH[1]))
	failed=$((failed + BASH_REMATCH[2]))
	skipped=$((skipped + BASH_REMATCH[3]))
}

run_python() { # FOLDER [OPTION...]
	local folder=tests/$1
	shift
	build all truth
	run_counted python3 tests/lib/runner.py "$@" "$folder"
}

run_kernels() {
	tools/install-deps.sh kernels
	# shellcheck disable=SC2086 # a list
	run_counted tools/check-kernels.sh ${KERNELS:-6.1 7.2}
}

run_report() {
	tools/install-deps.sh report
	tools/install-npm.sh
	build all
	run_counted python3 tests/lib/runner.py --jobs "$(nproc)" tests/report
}

# one for all groups
[ "${BPFMON_TESTS:-}" = long ] || export SEED=${SEED:-$((EPOCHSECONDS % 1000000))}
for group in "${@:-unit}"; do
	case $group in
	unit) run_unit ;;
	threads) run_threads ;;
	bpf) run_python bpf --jobs 2 ;; # which are for one CPU, but for what waits
	e2e) run_python e2e --jobs $((2 * $(nproc))) ;; # half of their time is waiting
	kernels) run_kernels ;;
	notebook)
		tools/install-deps.sh notebook
		run_python notebook --jobs "$(nproc)"
		;;
	servers)
		tools/install-deps.sh servers slurm
		build spank
		run_python servers --jobs "$(nproc)"
		;;
	systemd)
		tools/install-deps.sh systemd deb
		run_python systemd --jobs "$(nproc)"
		;;
	report) run_report ;;
	fuzz)
		tools/install-deps.sh fuzz
		seconds=0
		[ "${BPFMON_TESTS:-}" != long ] || seconds=20
		run_counted tools/run-fuzz.sh $seconds
		;;
	*) echo "no such group of tests: $group" >&2 && exit 2 ;;
	esac
done

echo
not_run=0
for reason in "${!left_out[@]}"; do
	echo "$reason: ${left_out[$reason]}"
	[[ $reason != "not run"* ]] || not_run=$((not_run + ${left_out[$reason]}))
done
if [ -n "${CI:-}" ] && [ $((skipped + not_run)) != 0 ]; then
	echo "$((skipped + not_run)) tests were left out: in CI each of them must run"
	failed=$((failed + skipped + not_run))
	skipped=0
fi
[ ${#failures[@]} = 0 ] || printf '%s\n' "failed:" "${failures[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
