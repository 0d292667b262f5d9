// SPDX-License-Identifier: BSD-2-Clause
// Spans: lanes over time, and tables of their resources.
"use strict";

const spans = data.spans ? rowsOf(data.spans.fields, data.spans.rows) : [];
const spanColours = [1, 3, 4, 5, 6]; // by name; 2 would look like the mark of failed spans
let spanLanes = null;

const spanText = (s) => visible(s.text || "(no name)");

function spanHow(s) {
	const kind = s.open ? "alive" : s.exit_code || has(s.signal) ? "failed" : "ok";
	const status = has(s.signal)
		? `killed by ${signalText(s.signal)}`
		: has(s.exit_code)
			? `exit ${s.exit_code}`
			: "ended";
	return [kind, (s.open ? "open at the end" : status) + (s.complete ? "" : ", incomplete")];
}

// Formats both bounds as one text, or one value if they are close.
function peakText(s) {
	if (!has(s.rss_peak_bytes)) return missing;
	if (!has(s.rss_peak_upper_bytes)) return `${bytes(s.rss_peak_bytes)} or more`;
	if (s.rss_peak_upper_bytes <= s.rss_peak_bytes * 1.01) return bytes(s.rss_peak_bytes);
	const [least, unit] = bytes(s.rss_peak_bytes).split(" "),
		[most, largerUnit] = bytes(s.rss_peak_upper_bytes).split(" ");
	return unit === largerUnit ? `${least} – ${most} ${unit}` : `${least} ${unit} – ${most} ${largerUnit}`;
}

// A child must have a larger id than its parent, so that no file can create a cycle.
function linkSpans() {
	const byNumber = new Map(spans.map((s) => [s.id, s]));
	spans.sort((a, b) => a.start - b.start || a.id - b.id);
	for (const s of spans) {
		s.text = [data.spans.names[s.name]].flat()[0];
		s.spans = 1;
		s.over = s.parent < s.id ? byNumber.get(s.parent) || null : null;
		s.within = [];
		s.open = !has(s.end);
		s.end = Math.max(s.start, s.open ? wall : s.end);
		if (s.open) s.wall_seconds ||= wall - s.start;
	}
	for (const s of spans) if (s.over) s.over.within.push(s);
	for (const s of [...spans].sort((a, b) => b.id - a.id)) {
		s.first = Math.min(s.start, ...s.within.map((c) => c.first));
		s.last = Math.max(s.end, ...s.within.map((c) => c.last));
	}
}

function describeSpan(s) {
	const parts = [
		`${spanText(s)}${s.tags ? ` (${visible(s.tags)})` : ""}`,
		`${clock(s.start, 0.001)} to ${clock(s.end, 0.001)}, ${seconds(s.end - s.start)}`,
		spanHow(s)[1],
		`CPU ${seconds(s.cpu_seconds)}`,
		`peak ${peakText(s)}`,
		`${count(s.processes_total)} ${s.processes_total === 1 ? "process" : "processes"}`,
		s.over ? `within ${spanText(s.over)}` : null,
	];
	return parts.filter(Boolean).join(" · ");
}

function drawSpanLanes() {
	const placed = lanesPlace(`${count(spans.length)} spans over time`);
	placed.canvas.id = "span-lanes";
	placed.said.id = "span-said";
	placed.note.id = "spans-rest";
	byId("span-place").append(placed.box, placed.said, placed.note);
	spanLanes = watched.spans = new Lanes(placed, spans, {
		what: "spans",
		label: spanText,
		describe: describeSpan,
		isLit: (s) => s.name === spanLanes.lit,
		paint: (s) => {
			const [kind] = spanHow(s);
			return {
				colour: ink.series[spanColours[s.name % spanColours.length]],
				failed: kind === "failed",
				open: kind === "alive",
			};
		},
	});
	spanLanes.draw();
}

function endOfSpans(n) {
	const parts = [
		n.failed ? `${count(n.failed)} failed` : null,
		n.open ? `${count(n.open)} open at the end` : null,
		n.broken ? `${count(n.broken)} incomplete` : null,
	].filter(Boolean);
	return parts.join(", ") || "all succeeded";
}

// Returns a row per name: its only span, or the sums of several.
function namedSpans() {
	const one = new Map(spans.map((s) => [s.name, s]));
	return data.spans.names.map((n, i) => {
		if (!Array.isArray(n)) return { ...one.get(i), longest_seconds: one.get(i).wall_seconds };
		const [sum] = rowsOf(data.spans.name_fields, [n]);
		return { ...sum, text: sum.name, name: i, end: sum.open ? wall : sum.end, how: endOfSpans(sum) };
	});
}

const spanColumns = [
	["Span", spanText, String, "text wide", { tip: spanText }],
	["Tags", (s) => s.tags, visible, "text wide"],
	["Count", (s) => s.spans, count],
	["Start", (s) => s.start, (v) => clock(v, 0.01)],
	["Wall", (s) => s.wall_seconds, seconds, "", { bar: "wall" }],
	["Longest", (s) => s.longest_seconds, seconds],
	["CPU", (s) => s.cpu_seconds, seconds, "", { bar: "cpu" }],
	["Peak RSS", (s) => s.rss_peak_bytes, (v, s) => peakText(s), "", { bar: "rss" }],
	["Read", (s) => s.read_bytes, bytes, "", io],
	["Written", (s) => s.write_bytes, bytes, "", io],
	["Processes", (s) => s.processes_total, count],
	["End", (s) => s.how || spanHow(s)[1], String, "text"],
];

// There is one table of names and one of single spans; one of them is visible.
function spansTable(id, titles, caption, items) {
	const columns = spanColumns.filter(([title]) => titles(title));
	const by = columns.findIndex(([title]) => title === "CPU");
	const table = new SortedTable(byId(id), columns, caption, by);
	table.go = (s) => showTime(s.start, s.end);
	table.over = (s) => spanLanes.light(s ? s.name : null);
	table.items = items;
	return table;
}

function spansSection() {
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
	drawSpanLanes();
}
