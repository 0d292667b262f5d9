#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Compares what bpfmon measures of an NVIDIA GPU with what the program itself knows and with nvidia-smi: memory, busy
# time, two processes, one that is killed, an idle holder, energy. CI does not run it, as it has no GPU: run it by hand
# where there is one and nothing else uses it. BPF and root are not needed. It takes 2 minutes, and prints a line for
# each case: ok or FAILED, the figures, their ratio.
#
# It needs a built bpfmon, the driver with nvidia-smi, python3, and a C compiler unless BUILD has gpuload.
#
# Usage: tools/check-gpu.sh [FOLDER]    keeps runs and figures in FOLDER, which must not be there
#   BUILD=build  the folder of bpfmon and of gpuload
#   GPU=UUID     the GPU, otherwise the first
# Exit status: 0 all cases are ok, 1 one failed, 2 there is no GPU or something is missing.
set -eu -o pipefail

origin=$PWD
cd "$(dirname "$0")/.."
export LC_ALL=C
build=${BUILD:-build}
judge=tests/gpu/judge.py
nr_failed=0
helper="" meter="" # processes in the background
scratch="" # a folder to be removed

stop() {
	echo "check-gpu: $*" >&2
	exit 2
}

clean_up() {
	# shellcheck disable=SC2086 # two numbers, or one
	[ -z "$helper$meter" ] || kill $helper $meter 2>/dev/null || :
	[ -z "$scratch" ] || rm -rf "$scratch"
}

find_gpu() {
	local list
	list=$(nvidia-smi -L 2>/dev/null) || list=""
	gpu=${GPU:-$(sed -n 's/^GPU [0-9]*: .*(UUID: \(GPU-[^)]*\)).*/\1/p' <<<"$list" | head -n 1)}
	[ -n "$gpu" ] || stop "no NVIDIA GPU: nvidia-smi -L lists none"
	export CUDA_VISIBLE_DEVICES=$gpu GPU=$gpu
}

find_load() {
	load=$build/gpuload
	[ ! -x "$load" ] || return 0
	load=$folder/gpuload
	"${CC:-cc}" -O2 -std=gnu11 -o "$load" tests/gpu/gpuload.c -ldl || stop "cannot compile tests/gpu/gpuload.c"
}

# Waits until each of these files has a line, for up to 20 s.
await() { # FILE...
	local file
	local -i tries=200
	for file; do
		while [ ! -s "$file" ] && ((tries-- > 0)); do sleep 0.1; done
	done
}

# Runs a command under bpfmon, and asks nvidia-smi while its loads hold their memory. A command that hangs is ended after
# 40 s.
measure() { # NAME LOADS OPTION... -- COMMAND...
	local name=$1 loads=$2
	local -a options=()
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	at=$folder/$name
	timeout 40 "$build/bpfmon" --no-store -q -i 0.5 -f jsonl -o "$at/run.jsonl" "${options[@]}" "$@" 2>"$at/stderr" &
	helper=$!
	local -a files=()
	for ((i = 1; i <= loads; i++)); do files+=("$at/load-$i.jsonl"); done
	await "${files[@]}"
	sleep 1
	nvidia-smi -i "$gpu" --query-compute-apps=pid,used_memory --format=csv,noheader,nounits >"$at/apps.csv" || :
	wait "$helper" || echo "       $name: the command under bpfmon failed: $(tail -n 1 "$at/stderr")"
	helper=""
}

verdict() { # CASE NAME TITLE
	python3 "$judge" "$1" "$folder/$2" "$3" || nr_failed=$((nr_failed + 1))
}

memory_case() { # MIB
	mkdir "$folder/memory-$1"
	measure "memory-$1" 1 -- "$load" "$1" 0 5000 "$folder/memory-$1/load-1.jsonl"
	verdict memory "memory-$1" "memory of $1 MiB"
}

busy_case() {
	mkdir "$folder/busy"
	measure busy 1 -- "$load" 256 5000 10000 "$folder/busy/load-1.jsonl"
	verdict busy busy "busy 5 s of 10 s"
}

# shellcheck disable=SC2016 # the inner shell's
together_case() {
	mkdir "$folder/together"
	measure together 2 -- sh -c '"$1" 256 0 8000 "$2/load-1.jsonl" & "$1" 1024 0 8000 "$2/load-2.jsonl" & wait' \
		sh "$load" "$folder/together"
	verdict memory together "two processes"
}

# shellcheck disable=SC2016 # the inner shell's
killed_case() {
	mkdir "$folder/killed"
	measure killed 1 -- sh -c '"$1" 512 1000 30000 "$2/load-1.jsonl" & sleep 10; kill -KILL $!; sleep 3' \
		sh "$load" "$folder/killed"
	verdict killed killed "killed by SIGKILL"
}

idle_case() {
	mkdir "$folder/idle"
	measure idle 1 --stalled-after 5s -- "$load" 512 0 15000 "$folder/idle/load-1.jsonl"
	verdict idle idle "idle holder"
}

energy_case() {
	mkdir "$folder/energy"
	# its times are local, as judge.py reads them
	stdbuf -oL nvidia-smi -i "$gpu" --query-gpu=timestamp,power.draw --format=csv,noheader,nounits -lms 200 \
		>"$folder/energy/power.csv" &
	meter=$!
	measure energy 1 -- "$load" 256 13000 13000 "$folder/energy/load-1.jsonl"
	kill "$meter" 2>/dev/null || :
	wait "$meter" 2>/dev/null || :
	meter=""
	verdict energy energy "energy of 10 s"
}

[ $# -le 1 ] || stop "usage: tools/check-gpu.sh [FOLDER]"
case ${1:-} in -*) stop "usage: tools/check-gpu.sh [FOLDER]" ;; esac
find_gpu
[ -x "$build/bpfmon" ] || stop "no $build/bpfmon: run make, or set BUILD"
if [ $# = 1 ]; then
	case $1 in /*) folder=$1 ;; *) folder=$origin/$1 ;; esac
	mkdir "$folder" || stop "cannot make $folder"
else
	scratch=$(mktemp -d)
	folder=$scratch
fi
trap clean_up EXIT
find_load

echo "GPU $gpu, driver $(nvidia-smi -i "$gpu" --query-gpu=driver_version,name --format=csv,noheader), $("$build/bpfmon" --version)"
memory_case 256
memory_case 2048
busy_case
together_case
killed_case
idle_case
energy_case
if [ "$nr_failed" != 0 ]; then
	echo "$nr_failed of 7 cases failed"
	exit 1
fi
