// SPDX-License-Identifier: BSD-2-Clause
// The data of the page, formatting of values, and creation of elements. Data is inserted as text, never as markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const meta = data.meta;
const summary = data.summary;
// exported under a name that survives minification, for the console and tests
const watched = {};
globalThis.bpfmon = watched;
const byId = (id) => document.getElementById(id);

// Creates an element with a class and children (texts and elements).
function el(name, className, ...children) {
	const e = document.createElement(name);
	if (className) e.className = className;
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}

// Characters that could hide, reorder or break a line are shown as their number.
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(text) {
	return String(text).replace(unseen, (c) => {
		const code = c.codePointAt(0);
		if (c === "\n") return "\\n";
		if (c === "\t") return "\\t";
		return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16);
	});
}

// Shown for a value that was not read, which is never shown as 0.
const missing = "–";
const has = (v) => v !== null && v !== undefined;
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function digits(v) {
	const a = Math.abs(v);
	return a >= 100 || v === 0 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 0.01 ? v.toFixed(2) : v.toPrecision(2);
}

// Rounds as format_bytes() of the text does.
function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let i = 0;
	if (!has(v)) return missing;
	for (; Math.abs(v) >= 1000 && i < units.length - 1; i++) v /= 1024;
	const a = Math.abs(v);
	const text = i && a < 100 ? (Math.floor(a * 10 + 0.5) / 10).toFixed(1) : Math.floor(a + 0.5).toFixed(0);
	return `${v < 0 ? "-" : ""}${text} ${units[i]}`;
}

function count(v) {
	if (!has(v)) return missing;
	if (Math.abs(v) >= 1e8) return digits(v / 1e6) + " M";
	return Math.abs(v) >= 10 || Number.isInteger(v) ? grouped.format(v) : digits(v);
}

const SHORT_UNITS = [
	["ns", 1],
	["us", 1e3],
	["ms", 1e6],
	["s", 1e9],
];
// the greater unit, the lesser one, its ns, how many of it are one of the greater, and from how many on the next pair
const LONG_UNITS = [
	["min", "s", 1e9, 60, 3600],
	["h", "min", 60e9, 60, 6000],
	["d", "h", 3600e9, 24, Infinity],
];

// The notation of all durations, with the results of format_seconds() in C: 12.3 ms, 39.5 s, 33 min 44 s, 33 h 24 min,
// 5 d 2 h. tests/data/durations has examples.
function seconds(v) {
	if (!has(v)) return missing;
	const ns = Math.round(Math.abs(v) * 1e9),
		sign = v < 0 && ns ? "-" : "";
	const rounded = (unit) => Math.floor(ns / unit + 0.5);
	if (!ns) return "0 s";
	if (ns >= 119.5e9) {
		const [more, less, unit, parts] = LONG_UNITS.find(([, , unit, , most]) => rounded(unit) < most);
		const n = rounded(unit);
		return `${sign}${Math.floor(n / parts)} ${more}${n % parts ? ` ${n % parts} ${less}` : ""}`;
	}
	for (const [name, unit] of SHORT_UNITS)
		for (const scale of [100, 10, 1]) {
			const n = rounded(unit / scale);
			if (unit >= scale && n < 1000) return `${sign}${(n / scale).toFixed(scale.toString().length - 1)} ${name}`;
		}
}

watched.seconds = seconds;

// With three digits, as of the text: 0.31 J, 812 J, 3.62 kJ.
const inUnit = (unit) => (v) => {
	let i = 0;
	if (!has(v)) return missing;
	for (; v >= 999.5 && i < 4; i++) v /= 1000;
	return `${v.toFixed(v < 9.995 ? 2 : v < 99.95 ? 1 : 0)} ${"kMGT".charAt(i - 1)}${unit}`;
};

// Formats of values by the units that end their keys.
const unitFormats = { bytes, seconds, joules: inUnit("J"), watts: inUnit("W"), hertz: inUnit("Hz") };
const unitOf = (key) => key.match(/_(bytes|seconds|joules|watts|hertz)$/)?.[1];
const formatOfKey = (key) => unitFormats[unitOf(key)] || count;

// 64.0 MiB -> 64 MiB
const withoutZeros = (text) => text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
const cores = (v) => (has(v) ? digits(v) : missing);
const rate = (format) => (v) => (has(v) ? format(v) + "/s" : missing);
const percent = (v) => (has(v) ? digits(v * 100) + " %" : missing);

// Formats a time of the run with the precision that a step of @step seconds needs: 1:02:03.5, or 3.5 s in a short
// run
function clock(v, step = Math.min(1, wall / 1000)) {
	const sign = v < 0 ? "-" : "";
	const places = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
	const a = Number(Math.abs(v).toFixed(places));
	const s = a % 60;
	const two = (n) => String(Math.floor(n)).padStart(2, "0");
	const rest = places ? s.toFixed(places).padStart(3 + places, "0") : two(s);
	const h = Math.floor(a / 3600);
	if (wall < 60) return `${sign}${a.toFixed(places)} s`;
	return h ? `${sign}${h}:${two((a / 60) % 60)}:${rest}` : `${sign}${Math.floor(a / 60)}:${rest}`;
}

const lastPart = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

const rowsOf = (fields, rows) => rows.map((row) => Object.fromEntries(fields.map((field, i) => [field, row[i]])));

// Processes as objects. The data contains each path once.
const processes = rowsOf(data.processes.fields, data.processes.rows);
for (const p of processes) {
	p.program = p.exe;
	p.exe = has(p.exe) ? data.processes.exes[p.exe] : null;
	// exit code, negative signal, or state of a process that has not ended
	if (typeof p.ended === "string") p.state = p.ended;
	else if (p.ended < 0) p.signal = -p.ended;
	else p.exit_code = p.ended;
	p.name = visible(p.comm || (p.exe ? lastPart(p.exe) : "?"));
}

if (data.programs) summary.programs = rowsOf(data.programs.fields, data.programs.rows);

// Charts with the same times share them.
function shareTimes(all) {
	for (const c of Object.values(all))
		if (typeof c.time === "string") {
			const [column] = Object.values(c.columns);
			c.time = all[c.time].time.slice(0, column?.length);
		}
}
shareTimes(data.charts);

// Duration of the run, and the range that is shown.
let lastSample = Math.max(0, ...Object.values(data.charts).map((c) => c.time.at(-1) || 0));
let wall = Math.max(summary.wall_seconds || 0, lastSample, 1e-6);
// latest: where a range begins that the page chose itself, the latest minutes of a running run
const view = { from: 0, to: wall, latest: null, listeners: [], painters: [], chosen: null };
const shortestRange = Math.min(wall, 1e-3);
const isWhole = () => view.from <= 0 && view.to >= wall;
const isSelected = () => !isWhole() && view.from !== view.latest;

// Extends a running run to the time @at.
function runReaches(at) {
	lastSample = Math.max(lastSample, at);
	wall = Math.max(wall, at);
}

// @isPassing: the range is still changing, while a pointer or key is down.
function showRange(from, to, isPassing = false) {
	from = Math.max(0, from);
	to = Math.min(wall, to);
	if (to - from < shortestRange) return;
	view.from = from;
	view.to = to;
	byId("reset-zoom").disabled = isWhole();
	for (const listener of view.listeners) listener();
	if (!isPassing) view.chosen?.();
}

// Zooms to a range, widened to the shortest that charts can show.
function showTime(from, to) {
	const more = Math.max(0, (Math.min(wall, 2e-3) - (to - from)) / 2);
	showRange(from - more, to + more);
}

// Returns the position of a time within the range that is shown, from 0 to 1.
const share = (t) => (t - view.from) / (view.to - view.from);

function place(bar, from, to) {
	const left = Math.max(0, share(from)),
		right = Math.min(1, share(to));
	bar.hidden = right < 0 || left > 1;
	bar.style.left = `${left * 100}%`;
	bar.style.width = `${Math.max(0, right - left) * 100}%`;
}
