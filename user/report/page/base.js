// SPDX-License-Identifier: BSD-2-Clause
// The data of the page; values as text; elements of the document. Data becomes text, never markup.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const meta = data.meta;
const summary = data.summary;
const byId = (id) => document.getElementById(id);

// An element with a class, and what is in it: texts and elements.
function el(name, className, ...children) {
	const e = document.createElement(name);
	if (className) e.className = className;
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}

// What could hide, reorder or break a line is shown as its number.
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function visible(text) {
	return String(text).replace(unseen, (c) => {
		const code = c.codePointAt(0);
		if (c === "\n") return "\\n";
		if (c === "\t") return "\\t";
		return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16);
	});
}

// What stands for a value that was not read; it is never shown as 0.
const missing = "–";
const has = (v) => v !== null && v !== undefined;
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

function digits(v) {
	const a = Math.abs(v);
	return a >= 100 || v === 0 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 0.01 ? v.toFixed(2) : v.toPrecision(2);
}

function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
	let i = 0;
	if (!has(v)) return missing;
	for (; Math.abs(v) >= 1024 && i < units.length - 1; i++) v /= 1024;
	return (i ? digits(v) : grouped.format(v)) + " " + units[i];
}

function count(v) {
	if (!has(v)) return missing;
	if (Math.abs(v) >= 1e8) return digits(v / 1e6) + " M";
	return Math.abs(v) >= 10 || Number.isInteger(v) ? grouped.format(v) : digits(v);
}

function seconds(v) {
	if (!has(v)) return missing;
	const a = Math.abs(v);
	if (a < 0.001 && a > 0) return digits(v * 1e6) + " µs";
	if (a < 1 && a > 0) return digits(v * 1e3) + " ms";
	return a < 120 ? digits(v) + " s" : clock(v);
}

const cores = (v) => (has(v) ? digits(v) : missing);
const rate = (format) => (v) => (has(v) ? format(v) + "/s" : missing);
const percent = (v) => (has(v) ? digits(v * 100) + " %" : missing);

// A time of the run, as precise as a step of @step seconds wants it: 1:02:03.5, or of a short run 3.5 s
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

// The end of a path.
const lastPart = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

// Processes as objects; the data has them as rows, and their paths once each.
const processes = data.processes.rows.map((row) => {
	const p = {};
	for (const [i, field] of data.processes.fields.entries()) p[field] = row[i];
	p.program = p.exe;
	p.exe = has(p.exe) ? data.processes.exes[p.exe] : null;
	p.name = visible(p.comm || (p.exe ? lastPart(p.exe) : "?"));
	return p;
});

// How long the run took, and the part of it that is shown.
const lastSample = Math.max(0, ...Object.values(data.charts).map((c) => c.time.at(-1) || 0));
const wall = Math.max(summary.wall_seconds || 0, lastSample, 1e-6);
const view = { from: 0, to: wall, listeners: [] };

function showRange(from, to) {
	const least = Math.min(wall, 1e-3);
	from = Math.max(0, from);
	to = Math.min(wall, to);
	if (to - from < least) return;
	view.from = from;
	view.to = to;
	byId("reset-zoom").disabled = from <= 0 && to >= wall;
	for (const listener of view.listeners) listener();
}
