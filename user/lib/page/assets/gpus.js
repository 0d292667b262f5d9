// SPDX-License-Identifier: BSD-2-Clause
// What only a run that held GPUs has, or whose machine has energy counters: a tile, and columns of processes.
"use strict";

const gpusText = (used, held) => (has(used) ? `${digits(used)} of ${several(held, "GPU", "GPUs")}` : count(held));

function gpuTile() {
	const s = summary,
		used = s.wall_seconds > 0 && has(s.gpu_seconds) ? s.gpu_seconds / s.wall_seconds : null;
	return {
		name: "GPUs used",
		value: gpusText(used, s.gpus_held_peak),
		more: [
			s.gpus_used_peak > 0 ? `up to ${digits(s.gpus_used_peak)}` : null,
			has(s.gpu_seconds) ? `${seconds(s.gpu_seconds)} of work, idle for ${seconds(s.gpu_idle_seconds)}` : null,
			has(s.gpu_memory_peak_bytes) ? `up to ${bytes(s.gpu_memory_peak_bytes)} of their memory` : null,
			has(s.gpu_energy_joules) ? `${unitFormats.joules(s.gpu_energy_joules)}, by all processes on them` : null,
		],
		spark: spark("gpu", "gpus_used"),
	};
}

function selectedGpus() {
	const gpus = totalInView("gpu", "gpus_used"),
		memory = mostInView("gpu-memory", "gpu_memory_bytes");
	return {
		name: "GPUs used",
		value: gpus ? gpusText(gpus.total / (gpus.to - gpus.from), summary.gpus_held_peak) : missing,
		more: [memory ? `up to ${bytes(memory.value)} of their memory` : null],
		spark: spark("gpu", "gpus_used"),
	};
}

function energyText() {
	const { energy_apportioned_joules: share, host_energy_joules: whole } = summary;
	return `${unitFormats.joules(share)} of the machine's ${unitFormats.joules(whole)}, by CPU time`;
}

// Columns of the table of processes.
const gpuColumns = [
	["GPU", (p) => p.gpu_seconds, seconds, "", { bar: "gpu" }],
	["Peak GPU memory", (p) => p.gpu_memory_peak_bytes, bytes, "", { bar: "gpu-memory" }],
];
