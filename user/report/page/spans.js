// SPDX-License-Identifier: BSD-2-Clause
// Spans: their lanes over time, on one canvas, and what they used as a table.
"use strict";

const LANES = 40; // what does not fit into these is drawn as how many there are at each moment
const LANES_HEIGHT = 320;
const LABEL_HEIGHT = 14; // a lane that is lower has no texts
const REST_HEIGHT = 24;

const spanObjects = (fields, rows) => rows.map((row) => Object.fromEntries(fields.map((f, i) => [f, row[i]])));
const spans = data.spans ? spanObjects(data.spans.fields, data.spans.rows) : [];
const spanLanes = { drawn: [], rest: [], at: null, lit: null };

const spanEnd = (s) => Math.max(s.start, has(s.end) ? s.end : wall);
const spanText = (s) => visible(s.text || "(no name)");

function spanHow(s) {
	const kind = !has(s.end) ? "alive" : s.exit_code || has(s.signal) ? "failed" : "ok";
	const status = has(s.signal)
		? `killed by ${signalText(s.signal)}`
		: has(s.exit_code)
			? `exit ${s.exit_code}`
			: "ended";
	return [kind, (has(s.end) ? status : "open at the end") + (s.complete ? "" : ", incomplete")];
}

// Bounds as one text, of which the first two digits tell.
function peakText(s) {
	if (!has(s.rss_peak_bytes)) return missing;
	if (!has(s.rss_peak_upper_bytes)) return `${bytes(s.rss_peak_bytes)} or more`;
	if (s.rss_peak_upper_bytes <= s.rss_peak_bytes * 1.01) return bytes(s.rss_peak_bytes);
	const [least, unit] = bytes(s.rss_peak_bytes).split(" "),
		[most, largerUnit] = bytes(s.rss_peak_upper_bytes).split(" ");
	return unit === largerUnit ? `${least} – ${most} ${unit}` : `${least} ${unit} – ${most} ${largerUnit}`;
}

// A child has a larger number than its parent, so that no file makes a circle.
function linkSpans() {
	const byNumber = new Map(spans.map((s) => [s.id, s]));
	spans.sort((a, b) => a.start - b.start || a.id - b.id);
	for (const s of spans) {
		s.text = [data.spans.names[s.name]].flat()[0];
		s.spans = 1;
		s.over = s.parent < s.id ? byNumber.get(s.parent) || null : null;
		s.within = [];
		if (!has(s.end)) s.wall_seconds ||= wall - s.start;
	}
	for (const s of spans) if (s.over) s.over.within.push(s);
	for (const s of [...spans].sort((a, b) => b.id - a.id)) {
		s.first = Math.min(s.start, ...s.within.map((c) => c.first));
		s.last = Math.max(spanEnd(s), ...s.within.map((c) => c.last));
	}
}

// Puts blocks, in the order of their starts, into the first rows that are free for all of their height.
// Returns how many rows are used; what has no place among @most rows is left out.
function packBlocks(blocks, most) {
	const free = [];
	for (const b of blocks) {
		let y = 0;
		for (let i = 0; i < b.height && y + i < most; i++)
			if (free[y + i] > b.start) {
				y += i + 1;
				i = -1;
			}
		b.y = y + b.height <= most ? y : null;
		if (b.y === null) continue;
		for (let i = 0; i < b.height; i++) free[y + i] = b.end;
	}
	return free.length;
}

// A span and what is within it: a block of up to @most rows, the span in the first one.
function spanBlock(s, isShown, most) {
	const inner = most > 1 ? s.within.filter(isShown).map((c) => spanBlock(c, isShown, most - 1)) : [];
	return {
		span: s,
		inner,
		height: 1 + packBlocks(inner, most - 1),
		start: s.first,
		end: s.last,
	};
}

function takeBlocks(blocks, top, drawn) {
	for (const b of blocks.filter((b) => b.y !== null)) {
		drawn.push({ span: b.span, lane: top + b.y });
		takeBlocks(b.inner, top + b.y + 1, drawn);
	}
}

// The lanes of the spans that are at least partly in the visible range, where no block has more than @most of them.
function laySpansOf(most) {
	const drawn = [];
	const isShown = (s) => s.last >= view.from && s.first <= view.to;
	const blocks = spans.filter((s) => !s.over && isShown(s)).map((s) => spanBlock(s, isShown, most));
	const used = packBlocks(blocks, LANES);
	takeBlocks(blocks, 0, drawn);
	const placed = new Set(drawn.map((at) => at.span));
	const rest = spans.filter((s) => !placed.has(s) && spanEnd(s) >= view.from && s.start <= view.to);
	return { drawn, rest, used };
}

// High blocks beside each other are cut where more spans have a place so.
function laySpans() {
	let best = laySpansOf(LANES);
	for (let most = LANES >> 1; best.rest.length && most; most >>= 1) {
		const lanes = laySpansOf(most);
		if (lanes.rest.length < best.rest.length) best = lanes;
	}
	Object.assign(spanLanes, best, { height: Math.max(8, Math.min(20, Math.floor(LANES_HEIGHT / best.used))) });
}

function spanBox(at, width) {
	const left = Math.max(-2, Math.min(1.01, share(at.span.start)) * width),
		right = Math.min(width + 2, Math.max(-0.01, share(spanEnd(at.span))) * width);
	const gap = right - left > 4 ? 1 : 0;
	return {
		x: left,
		y: at.lane * spanLanes.height + 1,
		width: Math.max(1.5, right - left - gap),
		height: spanLanes.height - 2,
	};
}

function drawSpan(ctx, at, width) {
	const box = spanBox(at, width),
		colour = { ok: 1, failed: 2, alive: 3 }[spanHow(at.span)[0]];
	const isLabelled = spanLanes.height >= LABEL_HEIGHT && box.width > 24;
	ctx.globalAlpha = has(spanLanes.lit) && spanLanes.lit !== at.span.name ? 0.25 : 1;
	ctx.fillStyle = box.width > 3 ? ink.fill[colour] : ink.series[colour];
	ctx.fillRect(box.x, box.y, box.width, box.height);
	if (box.width > 3) {
		ctx.strokeStyle = ink.series[colour];
		ctx.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
	}
	if (isLabelled) {
		const x = Math.max(0, box.x) + 4;
		ctx.save();
		ctx.beginPath();
		ctx.rect(x, box.y, box.x + box.width - x - 3, box.height);
		ctx.clip();
		ctx.fillStyle = ink.mark;
		ctx.fillText(spanText(at.span), x, box.y + box.height / 2);
		ctx.restore();
	}
	if (spanLanes.at === at.span) {
		ctx.strokeStyle = ink.mark;
		ctx.strokeRect(box.x - 1, box.y - 0.5, box.width + 2, box.height + 1);
	}
	ctx.globalAlpha = 1;
}

// How many of those without a lane there are at each moment.
function drawRest(ctx, width) {
	const steps = density(spanLanes.rest.map((s) => ({ start: s.start, end: spanEnd(s) }))),
		most = Math.max(1, ...steps),
		top = spanLanes.used * spanLanes.height + 4;
	ctx.fillStyle = ink.text;
	steps.forEach((n, i) => {
		const h = n ? Math.max(2, (n / most) * (REST_HEIGHT - 4)) : 0;
		const left = Math.floor((i / steps.length) * width),
			right = Math.floor(((i + 1) / steps.length) * width);
		ctx.fillRect(left, top + REST_HEIGHT - 4 - h, right - left, h);
	});
	spanLanes.most = most;
}

function redrawSpans() {
	const canvas = byId("span-lanes"),
		width = canvas.parentElement.clientWidth - 24;
	if (width <= 0) return;
	laySpans();
	const height = spanLanes.used * spanLanes.height + (spanLanes.rest.length ? REST_HEIGHT : 0) + 2;
	canvas.width = width * devicePixelRatio;
	canvas.height = height * devicePixelRatio;
	canvas.style.height = `${height}px`;
	paintSpans();
	byId("span-axis").replaceChildren(timeTrack(width));
	byId("spans-rest").textContent = spanLanes.rest.length
		? `${count(spanLanes.rest.length)} spans have no place in the lanes: the lowest row shows how many of them there are at a time, up to ${count(spanLanes.most)}. Zoom in to see them.`
		: "";
}

function paintSpans() {
	const canvas = byId("span-lanes"),
		ctx = canvas.getContext("2d"),
		width = canvas.width / devicePixelRatio;
	ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
	ctx.clearRect(0, 0, width, canvas.height);
	ctx.font = "11.5px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.lineWidth = 1;
	for (const at of spanLanes.drawn) drawSpan(ctx, at, width);
	if (spanLanes.rest.length) drawRest(ctx, width);
}

function describeSpan(s) {
	const parts = [
		`${spanText(s)}${s.tags ? ` (${visible(s.tags)})` : ""}`,
		`${clock(s.start, 0.001)} to ${clock(spanEnd(s), 0.001)}, ${seconds(spanEnd(s) - s.start)}`,
		spanHow(s)[1],
		`CPU ${seconds(s.cpu_seconds)}`,
		`peak ${peakText(s)}`,
		`${count(s.processes_total)} ${s.processes_total === 1 ? "process" : "processes"}`,
		s.over ? `within ${spanText(s.over)}` : null,
	];
	return parts.filter(Boolean).join(" · ");
}

// The span that the pointer or the keyboard is at; null: none.
function pointAtSpan(s) {
	if (spanLanes.at === s) return;
	spanLanes.at = s;
	byId("span-said").textContent = s ? describeSpan(s) : "";
	byId("span-lanes").title = s ? describeSpan(s) : "";
	byId("span-lanes").style.cursor = s ? "pointer" : "";
	paintSpans();
}

function lightSpans(name) {
	if (spanLanes.lit === name) return;
	spanLanes.lit = name;
	paintSpans();
}

// The bar at a place, or one that is too thin to be hit exactly.
function spanUnder(event) {
	const canvas = byId("span-lanes"),
		lane = Math.floor(event.offsetY / spanLanes.height);
	const near = spanLanes.drawn
		.filter((at) => at.lane === lane)
		.map((at) => {
			const box = spanBox(at, canvas.clientWidth);
			return { span: at.span, away: Math.max(box.x - event.offsetX, event.offsetX - box.x - box.width, 0) };
		})
		.filter((at) => at.away < 3)
		.sort((a, b) => a.away - b.away);
	return near.length ? near[0].span : null;
}

// Zooms to a time, but not to less than the charts can show.
function showTime(from, to) {
	const more = Math.max(0, (Math.min(wall, 2e-3) - (to - from)) / 2);
	showRange(from - more, to + more);
}

// The arrow keys go to the spans before and after, to the one around and to the first within.
function onSpanKey(event) {
	const s = spanLanes.at,
		step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
	if (step) pointAtSpan(spans[s ? Math.max(0, Math.min(spans.length - 1, spans.indexOf(s) + step)) : 0]);
	else if (event.key === "ArrowUp" && s) pointAtSpan(s.over || s);
	else if (event.key === "ArrowDown" && s) pointAtSpan(s.within[0] || s);
	else if (event.key === "Enter" && s) showTime(s.start, spanEnd(s));
	else return;
	event.preventDefault();
}

function spanControls() {
	const canvas = byId("span-lanes");
	canvas.setAttribute(
		"aria-label",
		`${count(spans.length)} spans over time; the arrow keys go from one to the next, up to the one around it, down to the first within it; Enter zooms`,
	);
	canvas.addEventListener("mousemove", (event) => pointAtSpan(spanUnder(event)));
	canvas.addEventListener("mouseleave", () => pointAtSpan(null));
	canvas.addEventListener("click", (event) => {
		const s = spanUnder(event);
		if (s) showTime(s.start, spanEnd(s));
	});
	canvas.addEventListener("dblclick", () => showRange(0, wall));
	canvas.addEventListener("keydown", onSpanKey);
	view.listeners.push(redrawSpans);
	new ResizeObserver(redrawSpans).observe(canvas.parentElement);
}

function endOfSpans(n) {
	const parts = [
		n.failed ? `${count(n.failed)} failed` : null,
		n.open ? `${count(n.open)} open at the end` : null,
		n.broken ? `${count(n.broken)} incomplete` : null,
	].filter(Boolean);
	return parts.join(", ") || "all succeeded";
}

// What a table shows of each name: its only span, or the sums of several.
function namedSpans() {
	const one = new Map(spans.map((s) => [s.name, s]));
	return data.spans.names.map((n, i) => {
		if (!Array.isArray(n)) return { ...one.get(i), longest_seconds: one.get(i).wall_seconds };
		const [sum] = spanObjects(data.spans.name_fields, [n]);
		return { ...sum, text: sum.name, name: i, end: sum.open ? null : sum.end, how: endOfSpans(sum) };
	});
}

const spanLink = (text) => {
	const button = el("button", "link", text);
	button.type = "button";
	return button;
};
const spanColumns = [
	["Span", spanText, spanLink, "text wide"],
	["Tags", (s) => s.tags, visible, "text wide"],
	["Count", (s) => s.spans, count],
	["Start", (s) => s.start, (v) => clock(v, 0.01)],
	["Wall", (s) => s.wall_seconds, seconds],
	["Longest", (s) => s.longest_seconds, seconds],
	["CPU", (s) => s.cpu_seconds, seconds],
	["Peak RSS", (s) => s.rss_peak_bytes, (v, s) => peakText(s)],
	["Read", (s) => s.read_bytes, bytes],
	["Written", (s) => s.write_bytes, bytes],
	["Processes", (s) => s.processes_total, count],
	["End", (s) => s.how || spanHow(s)[1], String, "text"],
];

// One table for names and one for single spans, of which one is shown.
function spansTable(id, titles, caption, items) {
	const columns = spanColumns.filter(([title]) => titles(title));
	const by = columns.findIndex(([title]) => title === "CPU");
	const table = new SortedTable(byId(id), columns, caption, by);
	table.go = (s) => showTime(s.start, spanEnd(s));
	table.over = (s) => lightSpans(s ? s.name : null);
	table.items = items;
	return table;
}

function spansSection() {
	byId("spans").hidden = !data.spans;
	if (!data.spans) return;
	linkSpans();
	const names = namedSpans();
	const tables = {
		names: spansTable("span-names", (t) => t !== "Tags", "Spans: the sums of those with the same name", names),
		each: spansTable("span-each", (t) => !["Count", "Longest"].includes(t), "Spans, one a row", spans),
	};
	const update = () => {
		const shown = byId("spans-rows").value;
		for (const [which, t] of Object.entries(tables)) t.table.hidden = which !== shown;
		tables[shown].show();
		const { items, limit } = tables[shown],
			total = shown === "names" ? data.spans.names_total : data.spans.total;
		byId("spans-count").textContent =
			`${count(Math.min(limit, items.length))} of ${count(total)}` +
			(total > items.length
				? `; the page has the ${count(spans.length)} longest spans of ${count(data.spans.total)}`
				: "");
		byId("spans-more").hidden = items.length <= limit;
	};
	byId("spans-rows").addEventListener("change", update);
	byId("spans-more").addEventListener("click", () => {
		tables[byId("spans-rows").value].limit *= 4;
		update();
	});
	update();
	spanControls();
	redrawSpans();
}
