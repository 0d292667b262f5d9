// SPDX-License-Identifier: BSD-2-Clause
// Lifetimes of processes: in lanes, or as rows per program (which open into lanes) or per process.
"use strict";

const MANY_PROCESSES = 50; // beyond these, programs are the default
const MANY_ROWS = 500; // beyond these, rows are laid out when scrolled into view

const orders = {
	duration: (a, b) => durationOf(b) - durationOf(a),
	cpu: (a, b) => (b.cpu_seconds || 0) - (a.cpu_seconds || 0),
	rss: (a, b) => (b.rss_peak_bytes || 0) - (a.rss_peak_bytes || 0),
	start: (a, b) => a.start - b.start,
};

// Returns the parent of each process: the one of that PID alive at its start. Computed once.
function parents() {
	const byPid = new Map();
	if (parents.known) return parents.known;
	for (const p of processes) {
		if (!byPid.has(p.pid)) byPid.set(p.pid, []);
		byPid.get(p.pid).push(p);
	}
	parents.known = new Map(
		processes.map((p) => [
			p,
			(byPid.get(p.ppid) || []).find((q) => q !== p && q.start <= p.start && endOf(q) >= p.start),
		]),
	);
	return parents.known;
}

// Returns the first @limit processes of @order with their ancestors, each after its parent. Siblings are sorted by
// the best rank of themselves and their descendants.
function asTree(order, limit) {
	const first = [...processes].sort(orders[order]).slice(0, limit),
		children = new Map(),
		rank = new Map();
	first.forEach((p, i) => {
		for (let q = p; q && !rank.has(q); q = parents().get(q)) {
			rank.set(q, i);
			const parent = parents().get(q) || null;
			if (!children.has(parent)) children.set(parent, []);
			children.get(parent).push(q);
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

// Merges the processes of a program. Those with the most CPU time have a colour of their own.
function byProgram() {
	if (byProgram.known) return byProgram.known;
	const groups = new Map();
	for (const p of processes) {
		// shortened paths may be equal as text, but their indexes differ
		const key = has(p.program) ? p.program : p.comm || "?";
		if (!groups.has(key))
			groups.set(key, {
				name: visible(lastPart(p.exe || p.comm || "?")),
				path: visible(p.exe || p.comm || "?"),
				members: [],
				start: p.start,
				end: endOf(p),
				cpu_seconds: 0,
				rss_peak_bytes: 0,
			});
		const g = groups.get(key);
		g.members.push(p);
		g.start = Math.min(g.start, p.start);
		g.end = Math.max(g.end, endOf(p));
		g.cpu_seconds += p.cpu_seconds || 0;
		g.rss_peak_bytes = Math.max(g.rss_peak_bytes, p.rss_peak_bytes || 0);
	}
	byProgram.known = [...groups.values()].sort(orders.cpu);
	byProgram.known.forEach((g, i) => {
		g.colour = i < 6 ? i + 1 : null;
		for (const p of g.members) p.group = g;
	});
	return byProgram.known;
}

const programInk = (g) => (g.colour ? ink.series[g.colour] : ink.text);

// Returns the largest number of @members alive at the same time.
function mostAtOnce(members) {
	const ends = members.map(endOf).sort((a, b) => a - b);
	let most = 0,
		over = 0;
	for (const [i, p] of [...members].sort(orders.start).entries()) {
		while (ends[over] <= p.start && over < i) over++;
		most = Math.max(most, i + 1 - over);
	}
	return most;
}

function drawDensity(canvas, g) {
	const width = Math.max(1, canvas.clientWidth),
		steps = density(g.members.map(lifeOf), Math.ceil(width / 2)),
		most = Math.max(1, ...steps),
		ctx = canvas.getContext("2d");
	canvas.width = steps.length;
	canvas.height = 16;
	ctx.fillStyle = programInk(g);
	steps.forEach((n, i) => {
		const h = n ? Math.max(2, (n / most) * 16) : 0;
		ctx.fillRect(i, 16 - h, 1, h);
	});
}

// Returns the bar of a process for the lanes, created once.
function lifeOf(p) {
	p.life ||= { p, start: p.start, end: Math.max(endOf(p), p.start) };
	return p.life;
}

function describeProcess(p) {
	const parent = parents().get(p);
	return [
		`${p.name} (${p.pid})`,
		`${clock(p.start, 0.001)} to ${clock(endOf(p), 0.001)}, ${seconds(durationOf(p))}`,
		ended(p)[1],
		`CPU ${seconds(p.cpu_seconds)}`,
		`peak ${bytes(p.rss_peak_bytes)}`,
		parent ? `of ${parent.name} (${parent.pid})` : null,
		p.args ? shortArgs(p.args) : null,
	]
		.filter(Boolean)
		.join(" · ");
}

// Labels each process of a program with its first argument that few others have.
function nameByArgument(members) {
	const words = members.map((p) => [...new Set((p.args || "").split(" ").slice(1))]),
		seen = new Map();
	for (const word of words.flat()) seen.set(word, (seen.get(word) || 0) + 1);
	members.forEach((p, i) => {
		const own = words[i].find((word) => seen.get(word) * 10 <= members.length && /[a-z0-9]/i.test(word));
		p.mark = own ? visible(lastPart(own)) : p.name;
	});
}

function processLanes(members, label) {
	const placed = lanesPlace(label);
	const lives = members.map(lifeOf).sort((a, b) => a.start - b.start || a.p.pid - b.p.pid);
	const lanes = new Lanes(placed, lives, {
		what: "processes",
		label: (i) => (members === processes ? i.p.name : i.p.mark),
		describe: (i) => describeProcess(i.p),
		isLit: (i) => i.p.group === lanes.lit,
		paint: (i) => {
			const [kind] = ended(i.p);
			return { colour: programInk(i.p.group), failed: kind === "failed", open: kind === "alive" };
		},
	});
	return lanes;
}

function barCell(part, text) {
	const cell = el("span", "num part", text);
	if (part > 0) cell.style.setProperty("--part", part);
	return cell;
}

function timelineRow(first, track, third, of, most) {
	const row = el(
		"div",
		"row",
		first,
		track,
		el("span", "num quiet third", third),
		barCell(of.cpu_seconds / most.cpu_seconds, seconds(of.cpu_seconds)),
		barCell(of.rss_peak_bytes / most.rss_peak_bytes, bytes(of.rss_peak_bytes)),
	);
	row.setAttribute("role", "listitem");
	return row;
}

function processRow(p, indent, most) {
	const [kind, how] = ended(p);
	const bar = el("span", `life ${kind}`);
	const name = el("span", "name", el("b", "", p.name), el("span", "quiet", ` ${p.pid}`));
	if (indent) name.style.paddingLeft = `${Math.min(indent, 12) * 10}px`;
	bar.style.color = `var(${p.group.colour ? `--series-${p.group.colour}` : "--quiet"})`;
	const row = timelineRow(name, el("span", "track", bar), seconds(durationOf(p)), p, most);
	withTip(row, describeProcess(p));
	row.append(el("span", "unseen", how));
	row.redraw = () => place(bar, p.start, Math.max(endOf(p), p.start));
	return row;
}

// The lanes of a program are shown below its row while it is open.
function openProgram(row, g, button) {
	const isOpen = button.getAttribute("aria-expanded") === "true";
	button.setAttribute("aria-expanded", String(!isOpen));
	if (isOpen) {
		row.lanes.close();
		row.nextSibling.remove();
		return;
	}
	nameByArgument(g.members);
	row.lanes = processLanes(g.members, `Processes of ${g.name} over time`);
	const { box, said, note } = row.lanes;
	row.after(el("div", "opened", box, said, note));
	row.lanes.draw();
}

function programRow(g, most) {
	const canvas = el("canvas", "density");
	const button = el("button", "open", el("b", "", g.name), el("span", "quiet", ` × ${count(g.members.length)}`));
	button.type = "button";
	button.setAttribute("aria-expanded", "false");
	canvas.setAttribute("aria-hidden", "true");
	withTip(button, g.path);
	const row = timelineRow(
		el("span", "name", button),
		el("span", "track", canvas),
		count(mostAtOnce(g.members)),
		g,
		most,
	);
	button.addEventListener("click", () => openProgram(row, g, button));
	row.redraw = () => drawDensity(canvas, g);
	return row;
}

// Returns the largest values of @list, to which bars are scaled.
function largestOfAll(list) {
	const most = { cpu_seconds: 0, rss_peak_bytes: 0 };
	for (const of of list) for (const key in most) most[key] = Math.max(most[key], of[key] || 0);
	return most;
}

function timelineRows(group) {
	const order = byId("tl-order").value,
		limit = byId("tl-limit").value === "all" ? Infinity : Number(byId("tl-limit").value);
	const programs = byProgram(),
		most = largestOfAll(group === "program" ? programs : processes);
	const rows =
		group === "program"
			? [...programs]
					.sort(orders[order])
					.slice(0, limit)
					.map((g) => programRow(g, most))
			: asTree(order, limit).map(({ p, depth }) => processRow(p, depth, most));
	byId("tl-count").textContent =
		group === "program" && rows.length === programs.length
			? processesText()
			: `${count(rows.length)} of ${group === "program" ? `${count(programs.length)} programs` : `${count(data.processes.total)} processes`}`;
	return rows;
}

function processesText() {
	return `${several(data.processes.total, "process", "processes")} of ${several(byProgram().length, "program", "programs")}, up to ${count(mostAtOnce(processes))} at once`;
}

function timelineAxis() {
	const box = byId("tl-rows"),
		isProgram = byId("tl-group").value === "program";
	const track = el("span", "track");
	const row = el(
		"div",
		"row head quiet",
		el("span", "name", isProgram ? "program" : "name, PID"),
		track,
		el("span", "num third", isProgram ? "at once" : "lifetime"),
		el("span", "num", "CPU"),
		el("span", "num", isProgram ? "largest" : "peak"),
	);
	box.firstChild.replaceWith(row);
	track.replaceWith(timeTrack(track.clientWidth));
}

function redrawTimeline() {
	const box = byId("tl-rows");
	if (box.hidden) return;
	fillTimeline.width = box.clientWidth;
	timelineAxis();
	for (const row of box.children) if (row.redraw) row.redraw();
}

function fillLanes() {
	const lanes = processLanes(processes, "Processes over time");
	fillTimeline.lanes = watched.processes = lanes;
	byId("tl-lanes").replaceChildren(lanes.box, lanes.said, lanes.note);
	byId("tl-count").textContent = processesText();
	lanes.draw();
}

function fillTimeline() {
	const group = byId("tl-group").value,
		box = byId("tl-rows");
	fillTimeline.lanes?.close();
	for (const row of box.children) if (row.nextSibling?.className === "opened") row.lanes.close();
	fillTimeline.lanes = null;
	box.hidden = group === "lanes";
	byId("tl-lanes").hidden = group !== "lanes";
	byId("tl-order").parentElement.hidden = group === "lanes";
	byId("tl-limit").parentElement.hidden =
		group === "lanes" || (group === "program" ? byProgram() : processes).length <= 25;
	if (group === "lanes") {
		fillLanes();
		return;
	}
	const rows = timelineRows(group);
	box.classList.toggle("many", rows.length > MANY_ROWS);
	box.replaceChildren(el("div", ""), ...rows);
	redrawTimeline();
}

// The legend of programs. Pointing at a name highlights its processes in the lanes.
function timelineKey() {
	const key = byId("tl-key"),
		programs = byProgram();
	for (const g of programs.slice(0, 6)) {
		const name = el("button", "curve", el("i", `swatch s${g.colour}`), g.name);
		name.type = "button";
		for (const event of ["mouseenter", "focus"]) name.addEventListener(event, () => fillTimeline.lanes?.light(g));
		for (const event of ["mouseleave", "blur"]) name.addEventListener(event, () => fillTimeline.lanes?.light(null));
		key.append(withTip(name, g.path));
	}
	if (programs.length > 6) key.append(el("span", "", el("i", "swatch"), `${count(programs.length - 6)} others`));
	if (processes.some((p) => ended(p)[0] === "failed"))
		key.append(el("span", "", el("i", "life failed"), "failed or killed"));
	if (processes.some((p) => has(p.state))) key.append(el("span", "", el("i", "life alive"), "alive at the end"));
}

function timeline() {
	byProgram();
	byId("tl-group").value = processes.length > MANY_PROCESSES ? "program" : "lanes";
	for (const id of ["tl-group", "tl-order", "tl-limit"]) byId(id).addEventListener("change", fillTimeline);
	timelineKey();
	view.listeners.push(redrawTimeline);
	new ResizeObserver(() => byId("tl-rows").clientWidth !== fillTimeline.width && redrawTimeline()).observe(
		byId("tl-rows"),
	);
	fillTimeline();
}
