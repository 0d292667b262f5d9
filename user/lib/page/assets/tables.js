// SPDX-License-Identifier: BSD-2-Clause
// Tables of processes and programs, and helpers for other tables.
"use strict";

const FIRST_ROWS = 12; // of tables that are rarely read to the end

// Removes the folders of the first word of a command line.
const shortArgs = (text) => visible(text.replace(/^[^\s'"]*\/(?=[^\s'"/])/, ""));
const io = { bar: "io" };
const extra = { extra: true };

const endOf = (p) => (has(p.end) ? p.end : wall);
const durationOf = (p) => endOf(p) - p.start;

function ended(p) {
	if (has(p.state)) return ["alive", "alive at the end"];
	if (has(p.signal)) return ["failed", `killed by ${signalText(p.signal)}`];
	return [p.exit_code ? "failed" : "ok", has(p.exit_code) ? `exit ${p.exit_code}` : "exit not seen"];
}

const processColumns = [
	["Name", (p) => p.name, String, "text", { tip: (p) => visible(p.exe || p.name) }],
	["PID", (p) => p.pid, String],
	["Parent", (p) => p.ppid, String, "", extra],
	["Arguments", (p) => p.args || p.exe || "", shortArgs, "text wide"],
	["Start", (p) => p.start, (v) => clock(v, 0.01)],
	["Lived", (p) => durationOf(p), seconds],
	["CPU", (p) => p.cpu_seconds, seconds, "", { bar: "cpu" }],
	["User", (p) => p.user_seconds, seconds, "", extra],
	["System", (p) => p.system_seconds, seconds, "", extra],
	["Waited", (p) => p.runqueue_wait_seconds, seconds, "", extra],
	["Peak RSS", (p) => p.rss_peak_bytes, bytes, "", { bar: "rss" }],
	...(data.processes.fields.includes("gpu_memory_peak_bytes") ? gpuColumns : []),
	["Read", (p) => p.read_bytes, bytes, "", io],
	["Written", (p) => p.write_bytes, bytes, "", io],
	["Major faults", (p) => p.majflt, count, "", extra],
	["Threads", (p) => p.threads_total, count, "", extra],
	["End", (p) => ended(p)[1], String, "text"],
];
const programColumns = [
	["Program", (p) => lastPart(p.exe || "unknown"), visible, "text", { tip: (p) => visible(p.exe || "unknown") }],
	["Processes", (p) => p.processes, count],
	["CPU", (p) => p.cpu_seconds, seconds, "", { bar: "cpu" }],
	["User", (p) => p.user_seconds, seconds],
	["System", (p) => p.system_seconds, seconds],
	["Largest peak RSS", (p) => p.rss_peak_bytes, bytes, "", { bar: "rss" }],
	["Read", (p) => p.read_bytes, bytes, "", io],
	["Written", (p) => p.write_bytes, bytes, "", io],
	["Minor faults", (p) => p.minflt, count],
	["Major faults", (p) => p.majflt, count],
	["Switches", (p) => (has(p.nvcsw) && has(p.nivcsw) ? p.nvcsw + p.nivcsw : null), count],
];

function programsTable() {
	const list = summary.programs || [];
	const table = new SortedTable(byId("programs-table"), programColumns, "Programs: the sums over their processes", 2);
	table.growing(FIRST_ROWS);
	const programOf = new Set(processes.map((p) => p.exe));
	// long paths can be cut differently, and the page may lack processes
	const isKnown = processes.length === data.processes.total && list.every((g) => programOf.has(g.exe ?? null));
	const update = () => {
		const alive = isKnown && new Set(processes.filter(livesInView).map((p) => p.exe));
		table.show(isKnown ? list.filter((g) => alive.has(g.exe ?? null)) : list);
	};
	onSelection(update);
	update();
	// the table of processes shows the same for one process
	byId("programs").hidden = !list.length || (list.length === 1 && list[0].processes === 1);
	if (data.programs.total > list.length)
		byId("programs").append(
			el("p", "quiet", `The ${count(list.length)} with the most CPU time, of ${count(data.programs.total)}.`),
		);
}

function processesTable() {
	const table = new SortedTable(byId("processes-table"), processColumns, "Processes", 6);
	table.go = (p) => showTime(p.start, endOf(p));
	const update = () => {
		const words = byId("find").value.toLowerCase();
		const found = processes.filter(
			(p) =>
				livesInView(p) &&
				(!words || String(p.pid) === words || `${p.name} ${p.exe || ""} ${p.args || ""}`.toLowerCase().includes(words)),
		);
		table.show(found);
		const left = data.processes.total - processes.length;
		byId("processes-count").textContent =
			(found.length < processes.length ? `${count(found.length)} of ` : "") +
			several(processes.length, "process", "processes") +
			(!isSelected()
				? ""
				: `: those alive from ${clock(view.from)} to ${clock(view.to)}, with the figures of their whole lives`) +
			(left ? `; the page has those of ${count(data.processes.total)} with the most CPU time, memory or lifetime` : "");
	};
	byId("processes").hidden = !processes.length;
	byId("find").addEventListener("input", update);
	onSelection(update);
	table.growing(FIRST_ROWS);
	extraColumns("processes-all", table.table);
	update();
}
