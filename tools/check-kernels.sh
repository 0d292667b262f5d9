#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Boots Debian's kernels, one per CPU at once, and runs bpfmon on the truth programs in each. What a
# kernel offers, how its tests end, and how many instructions its verifier walks per program
# are compared with the files in tests/data/kernels. The console is kept in build/kernels.
#
# Usage: tools/check-kernels.sh KERNEL...      as in: 6.1 7.2 7.2-arm64
#   GOLDEN=1  keeps the results instead of comparing them
# Fails if a test fails, if a kernel cannot be fetched or does not reach its end, or at a difference. The
# last line is "N passed, N failed, N skipped": the tests of each kernel, and one for its end and the
# comparison. A test that its kernel does not permit in full counts as passed.
set -eu -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL # a make of its own, with all CPUs

cd "$(dirname "$0")/.."
cache=${BPFMON_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon-kernels}
golden=tests/data/kernels
logs=build/kernels
failed=""
nr_passed=0 nr_failed=0
at_once=$(nproc) # a guest has one CPU
declare -A built # where the programs for an architecture are
varying='^(verified|kernel) '

arch_of() { # KERNEL
	case $1 in *-arm64) echo arm64 ;; *) echo amd64 ;; esac
}

build() { # ARCH; prints where
	case $1 in
	amd64) make -s STATIC=1 BUILD=build/static guest >&2 && echo build/static ;;
	arm64) tools/build-arm64.sh guest >&2 && echo build/arm64 ;;
	esac
}

# The lines of a console that are the same each time: capabilities, how tests end, what the verifier did. How many
# events a kernel has skipped is not.
facts() { # CONSOLE
	sed -nE -e '/^@capability (BPF is |Runs are |configuration |[0-9]+ delay metrics )/d' -e 's/(: |; )(fork|socket)_events [0-9]+//g' -e 's/^@(kernel|capability|verified) /\1 /p' \
		-e 's/^@(ok|remark) [0-9.]+ (.*)/test \2: passed/p' \
		-e 's/^@FAIL [0-9.]+ ([^:]*).*/test \1: FAILED/p' \
		-e 's/^@absent [0-9.]+ (.*)/test \1/p' "$1"
}

# Instructions may vary by a fifth upwards; all else has to be the same.
compare() { # KEPT FOUND
	local differs=0
	[ -e "$1" ] || { echo "nothing is kept of this kernel" && return 1; }
	awk '
	$1 != "verified" { next }
	FNR == NR { kept[$2] = $3; next }
	{ found[$2] }
	!($2 in kept) { print "the program " $2 " is new"; bad = 1 }
	$2 in kept && $3 > 1.2 * kept[$2] {
		print "the verifier goes through " $3 " instructions of " $2 ", " kept[$2] " before"
		bad = 1
	}
	END {
		for (p in kept)
			if (!(p in found)) { print "the program " p " is gone"; bad = 1 }
		exit bad
	}' "$1" "$2" || differs=1
	diff -u --label "$1" --label found <(grep -Ev "$varying" "$1") <(grep -Ev "$varying" "$2") || differs=1
	return $differs
}

boot() { # KERNEL; leaves its console in $logs, and how many seconds it took
	local kernel=$1 arch start=$SECONDS status=0
	arch=$(arch_of "$kernel")
	tools/boot-kernel.sh "$cache/$kernel/vmlinuz" "$arch" "${built[$arch]}" >"$logs/$kernel.log" || status=$?
	echo $((SECONDS - start)) >"$logs/$kernel.seconds"
	return $status
}

count() { # FACTS WAS_AS_EXPECTED
	local bad
	bad=$(grep -c '^test.*: FAILED$' "$1" || :)
	nr_failed=$((nr_failed + bad + !$2))
	nr_passed=$((nr_passed + $(grep -c ^test "$1" || :) - bad + $2))
}

check() { # KERNEL, which was booted
	local kernel=$1 log=$logs/$1.log facts=$logs/$1.txt passed expected=1
	facts "$log" >"$facts"
	passed=$(grep -c '^test.*: passed$' "$facts" || :)
	printf '%-11s %s of %s tests passed, %s s  (%s)\n' "$kernel" "$passed" \
		"$(grep -c ^test "$facts" || :)" "$(cat "$logs/$kernel.seconds")" "$(cat "$cache/$kernel/package")"
	grep -E '^@(FAIL|absent|remark|note)' "$log" | sed 's/^@/    /' || :
	if ! grep -q '^@end' "$log"; then
		echo "    did not come to its end; the last it said, of $log:"
		tail -5 "$log"
		expected=0
	fi
	if [ -n "${GOLDEN:-}" ]; then
		mkdir -p $golden && cp "$facts" "$golden/$kernel.txt"
	elif ! compare "$golden/$kernel.txt" "$facts"; then
		echo "    this is not what $golden/$kernel.txt has; GOLDEN=1 would keep it"
		failed+=" $kernel"
		expected=0
	fi
	count "$facts" $expected
}

check_all() { # KERNEL...; in this order, while those that follow run
	local kernels=("$@") booted=() i
	for ((i = 0; i < $#; i++)); do
		while ((${#booted[@]} < $# && ${#booted[@]} < i + at_once)); do
			boot "${kernels[${#booted[@]}]}" &
			booted+=($!)
		done
		wait "${booted[i]}" || failed+=" ${kernels[i]}"
		check "${kernels[i]}"
	done
}

end_guests() {
	local group
	for group in $(jobs -p); do
		kill -- "-$group" 2>/dev/null || :
	done
}

[ $# -gt 0 ] || { echo "usage: tools/check-kernels.sh KERNEL..." >&2 && exit 2; }
mkdir -p $logs
tools/fetch-kernels.sh "$@"
for kernel; do # before any guest runs: each would start the same make
	arch=$(arch_of "$kernel")
	[ -n "${built[$arch]:-}" ] || built[$arch]=$(build "$arch")
done
set -m # a guest and what started it are a process group
trap end_guests EXIT
check_all "$@"
if [ -n "$failed" ]; then
	echo "failed on: $(tr ' ' '\n' <<<"${failed# }" | sort -uV | paste -sd ' ')"
fi
echo "$nr_passed passed, $nr_failed failed, 0 skipped"
[ -z "$failed" ]
