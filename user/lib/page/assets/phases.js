// SPDX-License-Identifier: BSD-2-Clause
// Phases as coloured bands (a lane with names above the charts, a tint behind the curves), and their table.
"use strict";

const THINNEST = 3; // pixels; thinner phases share a band
const BAND_COLOURS = 6;

const phases = colourPhases(rowsOf(data.phases.fields, data.phases.rows));

// Names that differ only in a number, such as epoch 1 and epoch 2, have the same colour.
function colourPhases(list) {
	const colours = new Map();
	for (const p of list) {
		const stem = has(p.text) ? p.text.replace(/\d+/g, "#") : null;
		if (stem !== null && !colours.has(stem)) colours.set(stem, 1 + (colours.size % BAND_COLOURS));
		p.colour = stem === null ? 0 : colours.get(stem);
	}
	return list;
}

const phaseText = (p) => (has(p.text) ? visible(p.text) : "(start)");

function drawBands(u) {
	const { ctx, bbox } = u;
	ctx.save();
	ctx.globalAlpha = ink.tint;
	for (const p of phases) {
		if (p.end <= view.from || p.start >= view.to || !p.colour) continue;
		const x = Math.max(bbox.left, u.valToPos(p.start, "x", true)),
			end = Math.min(bbox.left + bbox.width, u.valToPos(p.end, "x", true));
		ctx.fillStyle = ink.series[p.colour];
		if (end > x) ctx.fillRect(x, bbox.top, end - x, bbox.height);
	}
	ctx.restore();
}

// Returns the visible phases; neighbours that are too thin form a group.
function groupPhases(width) {
	const groups = [];
	for (const p of phases) {
		if (p.end <= view.from || p.start >= view.to) continue;
		const isThin = ((p.end - p.start) / (view.to - view.from)) * width < THINNEST;
		const last = groups.at(-1);
		if (isThin && last?.isThin) {
			last.members.push(p);
			last.end = p.end;
		} else {
			groups.push({ members: [p], isThin, start: p.start, end: p.end });
		}
	}
	return groups;
}

function describePhase(p) {
	const used = has(p.shared_with)
		? "no sample separates it from the phase before"
		: `CPU ${seconds(p.cpu_seconds)}, memory up to ${bytes(p.rss_bytes)} at samples`;
	return `${phaseText(p)}: ${clock(p.start, 0.001)} to ${clock(p.end, 0.001)}, ${seconds(p.end - p.start)}; ${used}`;
}

function bandOf(group) {
	const [first] = group.members;
	const isOne = group.members.length === 1;
	const name = isOne ? phaseText(first) : `${count(group.members.length)} phases`;
	const band = el("button", `band ${isOne ? `b${first.colour}` : "several"}`, el("span", "", name));
	band.type = "button";
	band.tabIndex = -1;
	band.title = isOne ? describePhase(first) : `${name}, ${clock(group.start, 0.001)} to ${clock(group.end, 0.001)}`;
	band.setAttribute("aria-label", band.title);
	place(band, group.start, group.end);
	band.addEventListener("click", () => showTime(group.start, group.end));
	return band;
}

// Tab reaches one band, arrow keys the others.
function onBandKey(event) {
	const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
	const bands = [...byId("bands").children];
	const next = bands[bands.indexOf(event.target) + step];
	if (!step || !next) return;
	next.focus();
	event.preventDefault();
}

function redrawBands() {
	const lane = byId("bands");
	const bands = groupPhases(lane.clientWidth || 800).map(bandOf);
	const isInside = lane.contains(document.activeElement);
	if (bands.length) bands[0].tabIndex = 0;
	lane.replaceChildren(...bands);
	if (isInside) bands[0]?.focus();
}

function sparkPhases() {
	return sparkFrame(
		...phases.map((p) =>
			svgElement("rect", {
				class: `b${p.colour}`,
				x: ((p.start / wall) * SPARK_WIDTH).toFixed(2),
				y: SPARK_HEIGHT - 10,
				width: Math.max(0, ((p.end - p.start) / wall) * SPARK_WIDTH).toFixed(2),
				height: 10,
			}),
		),
	);
}

// Merges phases of the same name: sums, and the maximum of memory. Cores cover only the time whose CPU time is
// known.
function sumPhases(list) {
	const names = new Map();
	for (const p of list) {
		const sum = names.get(phaseText(p));
		if (!sum) {
			names.set(phaseText(p), { ...p });
			continue;
		}
		for (const key of [
			"phases",
			"took",
			"cpu_seconds",
			"cpu_span",
			"user_seconds",
			"system_seconds",
			"read_bytes",
			"write_bytes",
			"forks",
		])
			if (has(p[key])) sum[key] = (sum[key] || 0) + p[key];
		sum.isMixed ||= p.isMixed;
		if (has(p.rss_bytes)) sum.rss_bytes = Math.max(sum.rss_bytes || 0, p.rss_bytes);
		sum.end = p.end;
		sum.note = sum.isMixed ? " (in part with others)" : "";
	}
	return [...names.values()];
}

const phaseColumns = (cpus) => [
	["Phase", (p) => phaseText(p) + p.note, String, "text wide", { tip: (p) => phaseText(p) + p.note }],
	["Times", (p) => p.phases, count],
	["Start", (p) => p.start, (v) => clock(v, 0.01)],
	["Wall", (p) => p.took, seconds, "", { bar: "wall" }],
	["CPU", (p) => p.cpu_seconds, seconds, "", { bar: "cpu" }],
	// the kernel updates CPU time at ticks, so a shorter time gives no ratio
	["Cores", (p) => (p.cpu_span >= 0.005 ? Math.min(p.cpu_seconds / p.cpu_span, cpus) : null), cores],
	["User", (p) => p.user_seconds, seconds],
	["System", (p) => p.system_seconds, seconds],
	["Peak RSS at samples", (p) => p.rss_bytes, bytes, "", { bar: "rss" }],
	["Read", (p) => p.read_bytes, bytes, "", io],
	["Written", (p) => p.write_bytes, bytes, "", io],
	["Started", (p) => p.forks, count],
];

// The resources of each phase. A click on a row zooms the charts to it.
function phasesTable() {
	const list = phases;
	for (const p of list) {
		const more = p.shared_phases > 1 ? ` (values: with the next ${count(p.shared_phases - 1)})` : "";
		p.note = has(p.shared_with) ? ` (in ${phaseText(list[p.shared_with])})` : more;
		p.phases = 1;
		p.took = p.end - p.start;
		p.cpu_span = has(p.cpu_seconds) ? p.shared_end - p.start : null;
	}
	for (const p of list) {
		const head = has(p.shared_with) ? list[p.shared_with] : p;
		if (phaseText(head) !== phaseText(p)) head.isMixed = p.isMixed = true;
	}
	const sums = sumPhases(list),
		hasEqual = sums.length < list.length;
	const columns = phaseColumns(meta.system?.cpus || Infinity).filter(([title]) => hasEqual || title !== "Times");
	const table = new SortedTable(
		byId("phases-table"),
		columns,
		"Phases: what was used between marks",
		columns.findIndex(([title]) => title === "Wall"),
	);
	table.go = (p) => showRange(p.start, p.end);
	table.growing(FIRST_ROWS);
	const update = () => table.show(byId("phases-rows").value === "each" ? list : sums);
	byId("phases-controls").hidden = !hasEqual;
	if (!hasEqual || list.some((p) => p.isMixed)) byId("phases-rows").value = "each";
	byId("phases-rows").addEventListener("change", update);
	update();
	phasesNotes(list);
}

function phasesNotes(list) {
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

function phaseBands() {
	byId("bands").hidden = false;
	underlays.push(drawBands);
	byId("bands").addEventListener("keydown", onBandKey);
	view.listeners.push(redrawBands);
	new ResizeObserver(redrawBands).observe(byId("bands"));
}
