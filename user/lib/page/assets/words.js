// SPDX-License-Identifier: BSD-2-Clause
// Formats keys and values of a meta line for people.
"use strict";

const several = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;

// Names of keys that would not be understood.
const factNames = {
	run: "UUID",
	uid: "User's number",
	cwd: "Directory",
	start_time: "Started",
	interval_seconds: "Interval",
	cpus: "CPUs",
	cpu_model: "Processor",
	cpu_sockets: "Sockets",
	cpu_cores: "Cores",
	cpu_threads: "Threads",
	cpu_governor: "Frequency governor",
	numa_memory_bytes: "Memory of NUMA nodes",
	numa_nodes: "NUMA nodes",
	transparent_hugepage: "Transparent huge pages",
	os: "System",
	boot_time: "Booted",
	virtual: "Virtual machine",
	cpus_allowed: "CPUs allowed",
	cpus_allowed_count: "Number of CPUs allowed",
	mems_allowed: "NUMA nodes allowed",
	memory_max_bytes: "Memory, at most",
	memory_high_bytes: "Memory, slowed down from",
	swap_max_bytes: "Swap, at most",
	memory_and_swap_max_bytes: "Memory and swap, at most",
	cpu_max_cores: "Cores, at most",
	pids_max: "Processes, at most",
	rlimit_as_bytes: "Address space",
	rlimit_data_bytes: "Data segment",
	rlimit_stack_bytes: "Stack",
	rlimit_fsize_bytes: "File size",
	rlimit_core_bytes: "Core dump",
	rlimit_memlock_bytes: "Locked memory",
	rlimit_nofile: "Open files",
	rlimit_nproc: "Processes of the user",
	rlimit_cpu_seconds: "CPU time",
};

// SLURM_JOB_ID stays as it is, huge_pages_bytes becomes "Huge pages".
function keyText(key) {
	const known = Object.hasOwn(factNames, key) ? factNames[key] : null;
	if (known || key !== key.toLowerCase()) return known || visible(key);
	const unit = unitOf(key),
		words = visible((unit ? key.slice(0, -unit.length - 1) : key).replace(/_/g, " ")).replace(/^gpu(s?)\b/, "GPU$1");
	return words.charAt(0).toUpperCase() + words.slice(1);
}

// 2026-11-22 07:00:37 UTC
const dateText = (v) => new Date(v * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC";
const isDate = (v) => Math.abs(v) < 8e12;

// Formats a value by the suffix of its key: bytes, durations, dates; {"a": 1} becomes a=1.
function factText(key, v) {
	if (Array.isArray(v)) return v.map((w) => factText("", w)).join(" ");
	if (v !== null && typeof v === "object")
		return Object.entries(v)
			.map(([k, w]) => (key === "tags" ? `${k}=${factText("", w)}` : `${k}: ${factText(key, w)}`))
			.join(", ");
	if (typeof v === "boolean") return v ? "yes" : "no";
	if (typeof v !== "number") return String(v);
	if (unitOf(key)) return unitOf(key) === "seconds" ? withoutZeros(seconds(v)) : formatOfKey(key)(v);
	if (key.endsWith("_time") && isDate(v)) return dateText(v);
	return /(^|_)[pu]?id$/.test(key) || !Number.isInteger(v) ? String(v) : grouped.format(v);
}
