// SPDX-License-Identifier: BSD-2-Clause
// Tables that sort by any column: programs, processes, phases, events; facts of the run; missing metrics.
"use strict";

const ROWS_SHOWN = 50;

const processColumns = [
	["PID", (p) => p.pid, String],
	["Parent", (p) => p.ppid, String],
	["Name", (p) => p.name, String, "text"],
	["Arguments", (p) => p.args || p.exe || "", visible, "text wide"],
	["Start", (p) => p.start, (v) => clock(v, 0.01)],
	["Lived", (p) => durationOf(p), seconds],
	["CPU", (p) => p.cpu_seconds, seconds],
	["User", (p) => p.user_seconds, seconds],
	["System", (p) => p.system_seconds, seconds],
	["Waited", (p) => p.runqueue_wait_seconds, seconds],
	["Peak RSS", (p) => p.rss_peak_bytes, bytes],
	["Read", (p) => p.read_bytes, bytes],
	["Written", (p) => p.write_bytes, bytes],
	["Major faults", (p) => p.majflt, count],
	["Threads", (p) => p.threads_total, count],
	["End", (p) => ended(p)[1], String, "text"],
];
const programColumns = [
	["Program", (p) => p.exe || "unknown", visible, "text wide"],
	["Processes", (p) => p.processes, count],
	["CPU", (p) => p.cpu_seconds, seconds],
	["User", (p) => p.user_seconds, seconds],
	["System", (p) => p.system_seconds, seconds],
	["Largest peak RSS", (p) => p.rss_peak_bytes, bytes],
	["Minor faults", (p) => p.minflt, count],
	["Major faults", (p) => p.majflt, count],
	["Read", (p) => p.read_bytes, bytes],
	["Written", (p) => p.write_bytes, bytes],
	["Switches", (p) => (has(p.nvcsw) && has(p.nivcsw) ? p.nvcsw + p.nivcsw : null), count],
];

// Absent values come last in both directions.
function compare(get, down) {
	return (a, b) => {
		const x = get(a),
			y = get(b);
		if (!has(x) || !has(y)) return has(x) ? -1 : has(y) ? 1 : 0;
		const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y));
		return down ? -order : order;
	};
}

class SortedTable {
	constructor(table, columns, caption, by) {
		Object.assign(this, { table, columns, by, down: true, items: [], limit: ROWS_SHOWN });
		this.body = el("tbody", "");
		this.heads = columns.map(([title, , , kind], i) => {
			const button = el("button", "", title);
			button.type = "button";
			button.addEventListener("click", () => this.sortBy(i));
			const head = el("th", kind || "", button);
			head.scope = "col";
			return head;
		});
		table.append(el("caption", "unseen", caption), el("thead", "", el("tr", "", ...this.heads)), this.body);
	}

	sortBy(i) {
		this.down = i === this.by ? !this.down : !(this.columns[i][3] || "").startsWith("text");
		this.by = i;
		this.show();
	}

	show(items = this.items) {
		this.items = items;
		this.heads.forEach((head, i) => {
			if (i === this.by) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
			else head.removeAttribute("aria-sort");
		});
		const sorted = [...items].sort(compare(this.columns[this.by][1], this.down));
		this.body.replaceChildren(...sorted.slice(0, this.limit).map((item) => this.row(item)));
	}

	row(item) {
		const row = el(
			"tr",
			"",
			...this.columns.map(([, get, format, kind]) => {
				const v = get(item);
				const cell = el("td", kind || "", has(v) ? format(v, item) : missing);
				if (kind === "text wide") cell.title = cell.textContent;
				return cell;
			}),
		);
		if (this.go) row.addEventListener("click", () => this.go(item));
		if (this.over) {
			for (const name of ["mouseenter", "focusin"]) row.addEventListener(name, () => this.over(item));
			for (const name of ["mouseleave", "focusout"]) row.addEventListener(name, () => this.over(null));
		}
		return row;
	}
}

// Holders are known only of an exact peak.
function holdersTable() {
	const list = summary.rss_peak_holders || [],
		others = summary.rss_peak_others || {};
	const share = (h) => h.rss_bytes / summary.rss_peak_exact_bytes;
	byId("holders").hidden = !list.length;
	if (!list.length) return;
	const table = new SortedTable(
		byId("holders-table"),
		[
			["PID", (h) => h.pid, String],
			["Name", (h) => h.comm, visible, "text"],
			["Program", (h) => h.exe, visible, "text wide"],
			["Resident", (h) => h.rss_bytes, bytes],
			["Share", share, percent],
		],
		"Holders of the exact peak",
		3,
	);
	table.show(list);
	if (others.processes)
		byId("holders").append(
			el("p", "quiet", `${count(others.processes)} more processes held ${bytes(others.rss_bytes)} in all.`),
		);
}

// What each phase used. A click on a row zooms the charts to it.
function phasesTable() {
	byId("phases").hidden = !data.phases;
	if (!data.phases) return;
	const list = data.phases.rows.map((row) => Object.fromEntries(data.phases.fields.map((field, i) => [field, row[i]])));
	const took = (p) => p.end - p.start;
	const cpus = meta.system?.cpus || Infinity;
	// the kernel updates CPU time at ticks: a shorter time gives no ratio
	const used = (p) =>
		has(p.cpu_seconds) && p.shared_end - p.start >= 0.005
			? Math.min(p.cpu_seconds / (p.shared_end - p.start), cpus)
			: null;
	const own = (p) => (has(p.text) ? visible(p.text) : "(start)");
	const more = (p) => ` (values: with the next ${count(p.shared_phases - 1)})`;
	const name = (p) =>
		own(p) + (has(p.shared_with) ? ` (in ${own(list[p.shared_with])})` : p.shared_phases > 1 ? more(p) : "");
	const link = (text) => {
		const button = el("button", "link", text);
		button.type = "button";
		return button;
	};
	const table = new SortedTable(
		byId("phases-table"),
		[
			["Phase", name, link, "text wide"],
			["Start", (p) => p.start, (v) => clock(v, 0.01)],
			["Wall", took, seconds],
			["CPU", (p) => p.cpu_seconds, seconds],
			["Cores", used, cores],
			["User", (p) => p.user_seconds, seconds],
			["System", (p) => p.system_seconds, seconds],
			["Peak RSS at samples", (p) => p.rss_bytes, bytes],
			["Read", (p) => p.read_bytes, bytes],
			["Written", (p) => p.write_bytes, bytes],
			["Started", (p) => p.forks, count],
		],
		"Phases: what was used between marks",
		1,
	);
	table.limit = Infinity;
	table.down = false;
	table.go = (p) => showRange(p.start, p.end);
	table.show(list);
	if (list.some((p) => has(p.shared_with)))
		byId("phases").append(
			el("p", "quiet", "Where no sample separates phases, the first of them has what they used together."),
		);
	const unlisted = data.phases.total - list.length + data.phases.left_out;
	if (unlisted)
		byId("phases").append(
			el("p", "quiet", `The first ${count(list.length)} are listed; ${count(unlisted)} more marks are not.`),
		);
}

function programsTable() {
	const list = summary.programs || [];
	const table = new SortedTable(byId("programs-table"), programColumns, "Programs: the sums over their processes", 2);
	table.limit = Infinity;
	table.show(list);
	byId("programs").hidden = !list.length;
	if (data.programs_total > list.length)
		byId("programs").append(
			el("p", "quiet", `The ${count(list.length)} with the most CPU time, of ${count(data.programs_total)}.`),
		);
}

function processesTable() {
	const table = new SortedTable(byId("processes-table"), processColumns, "Processes", 6);
	const update = () => {
		const words = byId("find").value.toLowerCase();
		const found = processes.filter(
			(p) =>
				!words || String(p.pid) === words || `${p.name} ${p.exe || ""} ${p.args || ""}`.toLowerCase().includes(words),
		);
		table.show(found);
		const left = data.processes.total - processes.length;
		byId("processes-count").textContent =
			`${count(Math.min(table.limit, found.length))} of ${count(found.length)}` +
			(left
				? `; the page has the ${count(processes.length)} of ${count(data.processes.total)} with the most CPU time, memory or lifetime`
				: "");
		byId("more").hidden = found.length <= table.limit;
	};
	byId("processes").hidden = !processes.length;
	byId("find").addEventListener("input", update);
	byId("more").addEventListener("click", () => {
		table.limit *= 4;
		update();
	});
	update();
}

// Events with their time since the start.
function timedEvents() {
	timedEvents.list ||= data.events
		.filter((e) => typeof e.time === "number")
		.map((e) => ({ ...e, at: Math.max(0, e.time - meta.start_time) }))
		.sort((a, b) => a.at - b.at);
	return timedEvents.list;
}

function eventDetail(e) {
	if (e.event === "oom_kill") return oomText(e, 1);
	return Object.entries(e)
		.filter(([key]) => !["kind", "time", "elapsed_seconds", "event", "at"].includes(key))
		.map(([key, v]) =>
			key === "text"
				? v
				: `${key.replace(/_/g, " ")} ${key.endsWith("_bytes") ? bytes(v) : typeof v === "object" ? JSON.stringify(v) : v}`,
		)
		.join(", ");
}

function events() {
	const list = timedEvents();
	byId("events-none").hidden = list.length > 0;
	if (!list.length) return;
	const table = new SortedTable(
		byId("events-table"),
		[
			["Time", (e) => e.at, (v) => clock(v, 0.001)],
			["Event", (e) => e.event, (v) => visible(v).replace(/_/g, " "), "text"],
			["What", eventDetail, visible, "text wide"],
		],
		"Events",
		0,
	);
	table.limit = Infinity;
	table.down = false;
	table.show(list);
	const more = Object.entries(data.event_counts).filter(([name, n]) => n > list.filter((e) => e.event === name).length);
	if (more.length)
		byId("events").append(
			el(
				"p",
				"quiet",
				"Only the first of these are listed: " + visible(more.map(([name, n]) => `${name} (${count(n)})`).join(", ")),
			),
		);
}

// A value of meta as text: {"a": 1} is a=1.
function metaText(v) {
	if (typeof v !== "object" || v === null) return v;
	return Array.isArray(v)
		? v.map(metaText).join(" ")
		: Object.entries(v)
				.map(([k, w]) => `${k}=${metaText(w)}`)
				.join(", ");
}

// Keys that have a place of their own on the page; all others are listed under their own names.
const placedMeta = [
	"kind",
	"schema",
	"version",
	"run",
	"command",
	"start_time",
	"interval_seconds",
	"units",
	"capabilities",
	"name",
	"tags",
	"user",
	"uid",
	"host",
	"cwd",
	"system",
];
const placedSystem = ["cpus", "memory_bytes", "kernel"];

function otherFacts(object, placed) {
	return Object.entries(object)
		.filter(([key]) => !placed.includes(key))
		.map(([key, v]) => [
			key.replace(/_bytes$/, "").replace(/_/g, " "),
			key.endsWith("_bytes") && typeof v === "number" ? bytes(v) : metaText(v),
		]);
}

function facts() {
	const system = meta.system || {},
		self = summary.self;
	const rows = [
		["Run", meta.run],
		["Name", meta.name],
		["Tags", metaText(meta.tags || {})],
		["User", has(meta.user) ? `${meta.user} (${meta.uid})` : null],
		["Host", meta.host],
		["Kernel", system.kernel],
		["CPUs", system.cpus],
		["Memory", has(system.memory_bytes) ? bytes(system.memory_bytes) : null],
		["Directory", meta.cwd],
		...otherFacts(system, placedSystem),
		...otherFacts(meta, placedMeta),
		["Interval", withoutZeros(seconds(meta.interval_seconds))],
		["Samples", count(data.samples)],
		["Processes that outlived the run", count(summary.outlived)],
		["bpfmon itself", self ? `${seconds(self.cpu_seconds)} CPU, ${bytes(self.rss_bytes)}` : null],
		["Recorded by", `bpfmon ${meta.version}`],
		["Read from", data.source],
	];
	for (const [name, v] of rows)
		if (has(v) && v !== "")
			byId("meta-list").append(el("div", "", el("dt", "", visible(name)), el("dd", "", visible(v))));
}

function missingMetrics() {
	const list = Object.entries(meta.capabilities || {}).filter(([, c]) => c && !c.available);
	if (!list.length) {
		byId("missing").append(el("p", "quiet", "Nothing: every requested metric could be read."));
		return;
	}
	const rows = list.map(([key, c]) =>
		el("div", "", el("dt", "", visible(key)), el("dd", "", visible(c.reason || "no reason recorded"))),
	);
	byId("missing").append(el("dl", "facts", ...rows));
}
