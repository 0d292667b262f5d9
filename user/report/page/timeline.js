// SPDX-License-Identifier: BSD-2-Clause
// The lifetimes of processes: a row for each process, or one for all processes of a program.
"use strict";

const DENSITY_STEPS = 240;
const MANY_ROWS = 500; // beyond these, rows are laid out when scrolled into view
const endOf = (p) => (has(p.end) ? p.end : wall);
const durationOf = (p) => endOf(p) - p.start;

const orders = {
	duration: (a, b) => durationOf(b) - durationOf(a),
	cpu: (a, b) => (b.cpu_seconds || 0) - (a.cpu_seconds || 0),
	rss: (a, b) => (b.rss_peak_bytes || 0) - (a.rss_peak_bytes || 0),
	start: (a, b) => a.start - b.start,
};

// The parent of each process: the one of that PID that was alive at its start. Computed once.
function parents() {
	const byPid = new Map();
	if (parents.known) return parents.known;
	for (const p of processes) byPid.set(p.pid, [...(byPid.get(p.pid) || []), p]);
	parents.known = new Map(
		processes.map((p) => [
			p,
			(byPid.get(p.ppid) || []).find((q) => q !== p && q.start <= p.start && endOf(q) >= p.start),
		]),
	);
	return parents.known;
}

// The first @limit of @order with their ancestors, each after its parent. Siblings are ordered by the best rank
// of themselves and their descendants.
function asTree(order, limit) {
	const first = [...processes].sort(orders[order]).slice(0, limit),
		children = new Map(),
		rank = new Map();
	first.forEach((p, i) => {
		for (let q = p; q && !rank.has(q); q = parents().get(q)) {
			rank.set(q, i);
			const parent = parents().get(q) || null;
			children.set(parent, [...(children.get(parent) || []), q]);
		}
	});
	const ordered = [];
	const rest = (children.get(null) || []).reverse().map((p) => [p, 0]);
	while (rest.length) {
		const [p, depth] = rest.pop();
		ordered.push({ p, depth });
		for (const c of (children.get(p) || []).reverse()) rest.push([c, depth + 1]);
	}
	return ordered;
}

function ended(p) {
	if (has(p.state)) return ["alive", "alive at the end"];
	if (has(p.signal)) return ["failed", `killed by ${signalText(p.signal)}`];
	return [p.exit_code ? "failed" : "ok", has(p.exit_code) ? `exit ${p.exit_code}` : "exit not seen"];
}

// Paths that were cut may be equal as text; their indexes are not.
function programOf(p) {
	return has(p.program) ? p.program : p.comm || "?";
}

// A program's processes as one: sums, and how many lived at each moment.
function byProgram() {
	const groups = new Map();
	for (const p of processes) {
		const key = programOf(p);
		const g = groups.get(key) || {
			name: visible(lastPart(p.exe || p.comm || "?")),
			members: [],
			start: p.start,
			end: endOf(p),
			cpu_seconds: 0,
			rss_peak_bytes: 0,
		};
		g.members.push(p);
		g.start = Math.min(g.start, p.start);
		g.end = Math.max(g.end, endOf(p));
		g.cpu_seconds += p.cpu_seconds || 0;
		g.rss_peak_bytes = Math.max(g.rss_peak_bytes, p.rss_peak_bytes || 0);
		groups.set(key, g);
	}
	return [...groups.values()];
}

const share = (t) => (t - view.from) / (view.to - view.from);

function place(bar, from, to) {
	const left = Math.max(0, share(from)),
		right = Math.min(1, share(to));
	bar.hidden = right < 0 || left > 1;
	bar.style.left = `${left * 100}%`;
	bar.style.width = `${Math.max(0, right - left) * 100}%`;
}

// How many of @members were alive in each step of the visible range.
function density(members) {
	const change = new Array(DENSITY_STEPS + 1).fill(0);
	for (const p of members) {
		const first = Math.floor(share(p.start) * DENSITY_STEPS),
			last = Math.floor(share(endOf(p)) * DENSITY_STEPS);
		if (last < 0 || first >= DENSITY_STEPS) continue;
		change[Math.max(0, first)]++;
		change[Math.min(DENSITY_STEPS, last + 1)]--;
	}
	let alive = 0;
	return change.slice(0, DENSITY_STEPS).map((d) => (alive += d));
}

function drawDensity(canvas, members) {
	const steps = density(members),
		most = Math.max(1, ...steps),
		ctx = canvas.getContext("2d");
	canvas.width = DENSITY_STEPS;
	canvas.height = 14;
	ctx.fillStyle = ink.series[1];
	steps.forEach((n, i) => {
		const h = n ? Math.max(2, (n / most) * 14) : 0;
		ctx.fillRect(i, 14 - h, 1, h);
	});
}

function processRow(p, indent) {
	const [kind, how] = ended(p);
	const bar = el("span", `life ${kind}`);
	const track = el("span", "track", bar);
	const name = el("span", "name", el("b", "", p.name), el("span", "quiet", ` ${p.pid}`));
	if (indent) name.style.paddingLeft = `${Math.min(indent, 12) * 10}px`;
	const row = el(
		"div",
		"row",
		name,
		track,
		el("span", "num quiet", seconds(durationOf(p))),
		el("span", "num quiet", seconds(p.cpu_seconds)),
	);
	row.setAttribute("role", "listitem");
	row.title = `${p.args ? visible(p.args) : p.name}\nPID ${p.pid}, parent ${p.ppid}\n${clock(p.start, 0.001)} to ${clock(endOf(p), 0.001)}, ${how}\nCPU ${seconds(p.cpu_seconds)}, peak RSS ${bytes(p.rss_peak_bytes)}`;
	row.append(el("span", "unseen", how));
	row.redraw = () => place(bar, p.start, Math.max(endOf(p), p.start));
	return row;
}

function programRow(g) {
	const canvas = el("canvas", "density");
	const row = el(
		"div",
		"row",
		el("span", "name", el("b", "", g.name), el("span", "quiet", ` × ${count(g.members.length)}`)),
		el("span", "track", canvas),
		el("span", "num quiet", seconds(g.end - g.start)),
		el("span", "num quiet", seconds(g.cpu_seconds)),
	);
	canvas.setAttribute("aria-hidden", "true");
	row.setAttribute("role", "listitem");
	row.title = `${g.name}: up to ${count(Math.max(...density(g.members)))} at once`;
	row.redraw = () => drawDensity(canvas, g.members);
	return row;
}

function timelineRows() {
	const group = byId("tl-group").value,
		order = byId("tl-order").value;
	const limit = byId("tl-limit").value === "all" ? Infinity : Number(byId("tl-limit").value);
	const programs = group === "program" ? byProgram().sort(orders[order]) : null;
	const rows = programs
		? programs.slice(0, limit).map(programRow)
		: group === "tree"
			? asTree(order, limit).map(({ p, depth }) => processRow(p, depth))
			: [...processes]
					.sort(orders[order])
					.slice(0, limit)
					.map((p) => processRow(p, 0));
	byId("tl-count").textContent =
		`${count(rows.length)} of ${programs ? `${count(programs.length)} programs` : `${count(data.processes.total)} processes`}`;
	return rows;
}

// Times and events of the visible range, for rows that are @width pixels wide.
function timeTrack(width) {
	const axis = el("span", "track axis");
	const most = width < 640 ? 2 : 7;
	const step = timeSteps.find((s) => (view.to - view.from) / s <= most) || timeSteps.at(-1);
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
		const tick = el("span", "tick", clock(t, step));
		tick.style.left = `${share(t) * 100}%`;
		axis.append(tick);
	}
	for (const e of timedEvents().filter((e) => e.at >= view.from && e.at <= view.to)) {
		const moment = el("span", `moment ${grave.includes(e.event) ? "bad" : ""}`);
		moment.style.left = `${share(e.at) * 100}%`;
		moment.title = `${clock(e.at, 0.001)} ${eventLabel(e)}`;
		axis.append(moment);
	}
	return axis;
}

function timelineAxis() {
	return el(
		"div",
		"row head",
		el("span", "name quiet", "name, PID"),
		timeTrack(byId("tl-rows").clientWidth),
		el("span", "num quiet", "lifetime"),
		el("span", "num quiet", "CPU"),
	);
}

function redrawTimeline() {
	const box = byId("tl-rows");
	box.firstChild.replaceWith(timelineAxis());
	for (const row of box.children) if (row.redraw) row.redraw();
}

function fillTimeline() {
	const rows = timelineRows();
	byId("tl-rows").classList.toggle("many", rows.length > MANY_ROWS);
	byId("tl-rows").replaceChildren(el("div", ""), ...rows);
	redrawTimeline();
}

function timeline() {
	byId("timeline").hidden = !processes.length;
	if (!processes.length) return;
	for (const id of ["tl-group", "tl-order", "tl-limit"]) byId(id).addEventListener("change", fillTimeline);
	byId("tl-key").append(
		el("i", "life ok"),
		" exit 0 ",
		el("i", "life failed"),
		" failed or killed ",
		el("i", "life alive"),
		" alive at the end",
	);
	view.listeners.push(redrawTimeline);
	fillTimeline();
}
