// SPDX-License-Identifier: BSD-2-Clause
// Six tiles: wall time, CPU, memory, I/O, processes, trouble; and GPUs, if it held any. Only trouble and what slowed the run down have a colour.
// While a time is selected, they are those of its samples; what is known of the whole run alone says so.
"use strict";

const SPARK_WIDTH = 120;
const SPARK_HEIGHT = 26;
const SPARK_STEPS = 60;

function svgElement(name, attributes, ...children) {
	const e = document.createElementNS("http://www.w3.org/2000/svg", name);
	for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
	e.append(...children);
	return e;
}

const sparkFrame = (...children) =>
	svgElement(
		"svg",
		{
			class: "spark",
			viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`,
			preserveAspectRatio: "none",
			"aria-hidden": "true",
			focusable: "false",
		},
		...children,
	);

// Returns the largest value of each step of the range that is shown; steps without a value are omitted.
function sparkSteps(time, values) {
	const steps = new Array(SPARK_STEPS).fill(null);
	values.forEach((v, i) => {
		const at = isSelected() ? share(time[i]) : time[i] / wall,
			step = Math.min(SPARK_STEPS - 1, Math.floor(at * SPARK_STEPS));
		if (has(v) && at >= 0 && at <= 1) steps[step] = Math.max(steps[step] ?? 0, v);
	});
	return steps.map((v, i) => [i, v]).filter(([, v]) => has(v));
}

// Draws the sum of some curves of a chart. Returns null if it would be empty.
function spark(name, ...keys) {
	const chart = data.charts[name];
	const columns = keys.map((key) => chart?.columns[key]).filter(Boolean);
	if (!columns.length) return null;
	const sums = columns[0].map((_, i) =>
		columns.some((c) => has(c[i])) ? columns.reduce((sum, c) => sum + (c[i] || 0), 0) : null,
	);
	const steps = sparkSteps(chart.time, sums);
	const most = Math.max(0, ...steps.map(([, v]) => v));
	if (steps.length < 3 || !most) return null;
	const x = (i) => ((i / (SPARK_STEPS - 1)) * SPARK_WIDTH).toFixed(1);
	const line = steps.map(([i, v]) => `${x(i)} ${(SPARK_HEIGHT - 1 - (v / most) * (SPARK_HEIGHT - 3)).toFixed(1)}`);
	const area = `M${x(steps[0][0])} ${SPARK_HEIGHT}L${line.join("L")}L${x(steps.at(-1)[0])} ${SPARK_HEIGHT}Z`;
	return sparkFrame(
		svgElement("path", { class: "spark-area", d: area }),
		svgElement("path", { class: "spark-line", d: `M${line.join("L")}` }),
	);
}

const percentOf = (part, whole) => `${Math.round((part / whole) * 100)} %`;

function wallTile() {
	const interval = withoutZeros(seconds(meta.interval_seconds));
	return {
		name: data.running ? "Wall time so far" : "Wall time",
		value: seconds(summary.wall_seconds ?? wall),
		more: [data.answer.phase, `${count(data.samples)} samples, every ${interval}`],
		spark: data.phases ? sparkPhases() : null,
	};
}

function cpuTile() {
	const s = summary,
		{ used, busy } = data.answer;
	return {
		name: "CPU",
		value: used || missing,
		more: [
			has(busy) ? `${percentOf(busy, 1)} busy; up to ${cores(s.cores_peak)} cores` : null,
			`${seconds(s.cpu_seconds)}: user ${seconds(s.user_seconds)}, system ${seconds(s.system_seconds)}`,
			s.runqueue_wait_seconds > 0 ? `waited ${seconds(s.runqueue_wait_seconds)} for a CPU` : null,
			has(s.energy_apportioned_joules) ? energyText() : null,
		],
		spark: spark("cpu", "cores"),
	};
}

function memoryTile() {
	const s = summary;
	const isExact = has(s.rss_peak_exact_bytes);
	const peak = data.answer.peak_bytes;
	const at = memoryPeak()?.at;
	const largest = largestProcess();
	return {
		name: "Memory",
		value: bytes(peak),
		more: [
			data.answer.request ? `request ${data.answer.request}` : null,
			`${isExact ? "exact peak, resident" : "peak, resident"}${has(at) ? ` at ${seconds(at)}` : ""}${s.marks_reset ? ", or more" : ""}`,
			has(s.process_rss_peak_bytes) && !data.running
				? `largest process ${bytes(s.process_rss_peak_bytes)}${largest ? `, ${largest.name}` : ""}`
				: null,
			has(s.cgroup_peak_bytes) ? `cgroup ${bytes(s.cgroup_peak_bytes)}, page cache included` : null,
		],
		isBad: s.oom_kills > 0,
		spark: spark("memory", "rss_bytes"),
	};
}

function ioTile(s = summary) {
	const isRead = (s.read_bytes || 0) > (s.write_bytes || 0);
	const upTo = summary.bounds?.write_bytes === "at_most" && has(s.write_bytes) ? "up to " : "";
	return {
		name: isRead ? "I/O: read" : "I/O: written",
		value: isRead ? bytes(s.read_bytes) : `${upTo}${bytes(s.write_bytes)}`,
		more: [
			isRead ? `from storage; ${upTo}${bytes(s.write_bytes)} written` : `to storage; ${bytes(s.read_bytes)} read`,
			has(s.rchar_bytes) ? `calls: ${bytes(s.rchar_bytes)} read, ${bytes(s.wchar_bytes)} written` : null,
		],
		spark: spark("io", "read_bytes", "write_bytes"),
	};
}

function processesTile() {
	const s = summary;
	const alive = data.charts.processes;
	const most = Math.max(0, ...((alive?.most || alive?.columns)?.processes || []).filter(has));
	const busiest = [...(s.programs || [])].sort((a, b) => (b.cpu_seconds || 0) - (a.cpu_seconds || 0))[0];
	const total = s.processes_total,
		least = Math.max(processes.length, most); // if the run was cut off
	return {
		name: total === 1 ? "Process" : "Processes",
		value: has(total) ? count(total) : least ? `${count(least)} or more` : "–",
		more: [
			[
				most > 0 && `up to ${count(most)} at a sample`,
				has(s.execs) && `${count(s.execs)} ${s.execs === 1 ? "exec" : "execs"}`,
			]
				.filter(Boolean)
				.join("; "),
			busiest?.cpu_seconds > 0 && s.cpu_seconds > 0 && !data.running
				? `${percentOf(busiest.cpu_seconds, s.cpu_seconds)} of the CPU time in ${visible(lastPart(busiest.exe || "?")).slice(0, 40)}`
				: null,
		],
		spark: spark("processes", "processes"),
	};
}

const MISSING_SHARE = 0.01; // of the samples; fewer are mentioned, but are no trouble

// Returns what went wrong, the worst first.
function troubles() {
	const s = summary,
		[end, kind] = endText();
	const losses = Object.values(s.losses || {}).reduce((sum, n) => sum + n, 0);
	const list = [];
	if (s.oom_kills) list.push(`${count(s.oom_kills)} OOM ${s.oom_kills === 1 ? "kill" : "kills"}`);
	if (kind === "bad") list.push(end);
	if (losses) list.push(`${count(losses)} lost`);
	else if (!s.complete && !data.running) list.push("incomplete");
	if (data.unreadable) list.push(`${count(data.unreadable)} lines unreadable`);
	if (data.missing?.share >= MISSING_SHARE) list.push(`${count(data.missing.samples)} samples missing`);
	return list;
}

function troubleTile() {
	const s = summary,
		bad = troubles(),
		[worst, ...others] = [...bad, data.answer.slowed].filter(Boolean);
	const slow = [
		s.majflt > 0 ? `${count(s.majflt)} major ${s.majflt === 1 ? "fault" : "faults"}` : null,
		s.swap_peak_bytes > 0 ? `${bytes(s.swap_peak_bytes)} swapped out` : null,
		`${count(s.minflt)} minor faults`,
	];
	return {
		name: "Trouble",
		value: worst || "none",
		more: [
			others.join(", ") || null,
			s.complete ? "complete: nothing was lost" : data.running ? "nothing was lost so far" : null,
			data.missing && !others.length ? data.missing.text : null,
			slow.filter(Boolean).join(", "),
		],
		isBad: bad.length > 0,
		isWarning: !!worst,
	};
}

// The tiles of a selection, in the order of those of the run.
function selectedTiles() {
	const f = figuresInView();
	const peak = data.running ? null : memoryPeak(),
		isIn = peak && peak.at >= view.from && peak.at <= view.to, // no sample can be larger
		memory = isIn ? peak : f.memory;
	const areListed = !data.running && processes.length === data.processes.total;
	return [
		{
			name: "Selected time",
			value: seconds(view.to - view.from),
			more: [`of ${seconds(wall)}`, measuredText(f)],
		},
		{
			name: "CPU",
			value: has(f.cores) ? `${f.cores.toFixed(2)} cores` : missing,
			more: [
				has(f.cores_peak) ? `up to ${cores(f.cores_peak)} cores` : null,
				has(f.cpu_seconds) ? seconds(f.cpu_seconds) : null,
				f.runqueue_wait_seconds > 0 ? `waited ${seconds(f.runqueue_wait_seconds)} for a CPU` : null,
			],
			spark: spark("cpu", "cores"),
		},
		{
			name: "Memory",
			value: bytes(memory?.value),
			more: [`${isIn ? "peak" : "largest sample"}, resident${has(memory?.at) ? ` at ${seconds(memory.at)}` : ""}`],
			spark: spark("memory", "rss_bytes"),
		},
		summary.gpus_held_peak && selectedGpus(),
		ioTile(f),
		{
			name: "Processes",
			value: areListed ? count(processes.filter(livesInView).length) : missing,
			more: [f.alive > 0 ? `up to ${count(f.alive)} at a sample` : null],
			spark: spark("processes", "processes"),
		},
	]
		.filter(Boolean)
		.map((t) => ({ ...t, isSelected: true }));
}

const runTiles = () =>
	[wallTile, cpuTile, memoryTile, summary.gpus_held_peak && gpuTile, ioTile, processesTile]
		.filter(Boolean)
		.map((make) => make());

function tiles() {
	const place = byId("figures"),
		list = [...(isSelected() ? selectedTiles() : runTiles()), troubleTile()];
	// what is below must not move while a range is dragged
	place.style.minHeight = isSelected() ? place.style.minHeight || `${place.getBoundingClientRect().height}px` : "";
	place.replaceChildren(
		...list.map((t) =>
			el(
				"div",
				`tile${t.isSelected ? " selected" : ""}${t.isBad ? " bad" : t.isWarning ? " warn" : ""}`,
				el("dt", "", t.name, !t.isSelected && isSelected() ? ", whole run" : null),
				el(
					"dd",
					"",
					el("b", "", t.value),
					...t.more.filter(Boolean).map((line) => el("span", "", line)),
					t.spark || null,
				),
			),
		),
	);
}
