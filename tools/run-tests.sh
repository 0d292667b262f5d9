#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs groups of tests and counts: unit (cmocka, under ASan and UBSan), bpf and e2e (as root).
# The last line is "N passed, N failed, N skipped"; fails if any failed, or if one that needs root
# was skipped in CI.
#
# Usage: tools/run-tests.sh [unit] [bpf] [e2e]
set -eu -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
sanitized=build/sanitized
passed=0 failed=0 skipped=0

run_unit() {
	local bin out
	make -s BUILD=$sanitized SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all" \
		"$sanitized/unit-all"
	for bin in "$sanitized"/unit/test_*; do
		case $bin in *.d) continue ;; esac
		out=$("$bin" 2>&1) && rc=0 || rc=$?
		echo "$out"
		ok=$(grep -ac '^\[       OK \]' <<<"$out" || :)
		# cmocka names each once as it fails and once in a list
		bad=$(awk '/^\[  FAILED  \]/ && !/test\(s\)/ && !seen[$0]++ { n++ } END { print n + 0 }' \
			<<<"$out")
		passed=$((passed + ok))
		if [ "$rc" != 0 ] && [ "$bad" = 0 ]; then
			bad=1 # a crash, or a sanitizer's verdict
		fi
		failed=$((failed + bad))
	done
}

run_python() {
	local out counts
	make -s all truth
	out=$(mktemp)
	python3 tests/lib/runner.py "tests/$1" 2>&1 | tee "$out" || :
	counts=$(tail -1 "$out")
	rm -f "$out"
	if ! [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
		echo "the runner of tests/$1 ended without its count"
		failed=$((failed + 1))
		return
	fi
	passed=$((passed + BASH_REMATCH[1]))
	failed=$((failed + BASH_REMATCH[2]))
	skipped=$((skipped + BASH_REMATCH[3]))
}

for group in "${@:-unit}"; do
	case $group in
	unit) run_unit ;;
	bpf | e2e) run_python "$group" ;;
	*) echo "no such group of tests: $group" >&2 && exit 2 ;;
	esac
done

echo
if [ -n "${CI:-}" ] && [ "$skipped" != 0 ]; then
	echo "$skipped tests were skipped: in CI each of them must run"
	failed=$((failed + skipped))
	skipped=0
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
