#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Checks what can be checked without running: format, static analysis, scripts, names, the direction of
# includes, generated documents. Runs every step, or those named, names those that failed, exits 1 if
# any did.
#
# Usage: tools/lint.sh [STEP...]    (after make: it needs the skeleton and build/bpfmon)
set -eu -o pipefail

cd "$(dirname "$0")/.."
build=${BUILD:-build}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bpfmon # of verdicts; without it all is analysed again
failed=""
wanted=" $* "

mapfile -t user_c < <(find user -name '*.c' -printf '%s %p\n' | sort -rn | cut -d' ' -f2)
mapfile -t formatted < <(find bpf user tools/c tests/unit tests/fuzz tests/gpu tests/kernels tests/truth/*/ -name '*.[ch]' | sort)

step() { # NAME COMMAND...
	local name=$1 said start=$SECONDS
	shift
	[[ $wanted = "  " || $wanted = *" $name "* ]] || return 0
	if said=$("$@" 2>&1); then
		printf 'ok     %3d s  %s\n' $((SECONDS - start)) "$name"
	else
		printf '%s\n' "$said"
		printf 'FAILED %3d s  %s\n' $((SECONDS - start)) "$name"
		failed+=" $name"
	fi
}

format() {
	clang-format --dry-run -Werror "${formatted[@]}"
}

# Fails where there is a finding outside the generated skeleton, or no message about the failure. A file without one is
# not analysed again until something changes that the analyzer reads: its text, what it includes, or the configuration.
tidy_one() { # FILE
	local said key flags=(-std=gnu11 -D_GNU_SOURCE -Iinclude -Iuser/lib -Iuser -I"$build")
	key=$({
		echo "$tidy_key"
		cat "$1"
		clang -E -dD "${flags[@]}" "$1"
	} 2>/dev/null | sha256sum | cut -d' ' -f1)
	[ ! -e "$tidy_cache/$key" ] || return 0
	if ! said=$(clang-tidy --quiet "$1" -- "${flags[@]}" 2>/dev/null) &&
		{ [ -z "$said" ] || grep -E ': (error|warning): ' <<<"$said" | grep -qv '\.skel\.h:'; }; then
		echo "$1: ${said:-clang-tidy failed without a word}"
		return 1
	fi
	touch "$tidy_cache/$key"
}

# One file a process, the large ones first.
tidy() {
	tidy_cache=$cache/clang-tidy
	tidy_key=$(clang-tidy --version && cat .clang-tidy && grep -rh NOLINT user include --include='*.h' | sort)
	mkdir -p "$tidy_cache"
	find "$tidy_cache" -type f -mtime +30 -delete
	export build tidy_cache tidy_key
	export -f tidy_one
	printf '%s\0' "${user_c[@]}" | xargs -0 -P"$(nproc)" -I{} bash -c 'tidy_one {}'
}

# cppcheck knows neither the cleanup attribute (hence no resourceLeak), nor jansson's loops, and cannot
# expand the table of metrics.
check_cpp() {
	mkdir -p "$cache/cppcheck"
	cppcheck --cppcheck-build-dir="$cache/cppcheck" --enable=warning,portability,performance --error-exitcode=1 --inline-suppr --quiet \
		--std=c11 -j"$(nproc)" --suppress=missingIncludeSystem --suppress=resourceLeak \
		--suppress=preprocessorErrorDirective:user/lib/run/metric.c \
		-Iinclude -Iuser/lib -Iuser -D_GNU_SOURCE '-DBPFMON_VERSION="0"' \
		'-Djson_object_foreach(o,k,v)=for(k=f(o);v=g(k);)' \
		'-Djson_array_foreach(a,i,v)=for(i=0;v=g(a,i);i++)' user
}

python_compiles() {
	find tests tools -name '*.py' -print0 | PYTHONPYCACHEPREFIX=$build/pycache \
		xargs -0 -r python3 -m py_compile || return
	if [ -n "${CI:-}" ] || [ -x /usr/bin/mypy ]; then
		(cd tools/python && /usr/bin/mypy --no-error-summary)
	else
		echo "types not checked: mypy is missing (tools/install-deps.sh python)"
	fi
}

manual() {
	local said page
	for page in docs/man/*; do
		if command -v man >/dev/null; then
			said=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page" 2>&1 >/dev/null)
			[ -z "$said" ] || { echo "$said" && return 1; }
		fi
		if command -v mandoc >/dev/null; then
			mandoc -Tlint -W warning "$page"
		fi
	done
}

step format format
step clang-tidy tidy
step cppcheck check_cpp
step yaml yamllint --strict share/bpfmon/kubernetes
step shellcheck shellcheck tools/*.sh share/bpfmon/slurm/*.sh tools/github-action/*.sh .ci/run docs/completion/bpfmon
if [ -n "${CI:-}" ] || command -v npm >/dev/null; then
	step javascript tools/check-javascript.sh
else
	echo "skipped       javascript: npm is missing (tools/install-deps.sh report)"
fi
step python python_compiles
step includes tools/check-includes.sh
step names tools/check-names.py
step allocations tools/check-allocations.sh
step maps tools/check-maps.sh
step stack tools/check-stack.py
step circles tools/check-circles.py
step docs tools/gen-docs.sh --check
step pictures tools/gen-pictures.py --check
step dashboards tools/gen-dashboards.py --check
step manual manual

if [ -n "$failed" ]; then
	echo "lint failed:$failed" >&2
	exit 1
fi
