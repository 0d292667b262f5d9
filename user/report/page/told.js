// SPDX-License-Identifier: BSD-2-Clause
// What programs pushed themselves: a chart is a name and a field, a curve its tags.
"use strict";

const precise = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 9 });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

// As it was pushed, to nine digits; whole numbers in full.
function plain(v) {
	if (!has(v))
		return missing;
	const a = Math.abs(v);
	if (a >= 1e15 || (a < 1e-6 && a > 0))
		return String(Number(v.toPrecision(9)));
	return Number.isInteger(v) ? grouped.format(v) : precise.format(v);
}

const plainAxis = (v) => (Math.abs(v) >= 1e12 ? v.toExponential(2) : Math.abs(v) >= 1e5 ? compact.format(v) : plain(v));
const truth = (v) => (has(v) ? String(v > 0) : missing);

// Nobody knows what these numbers are: 0 is in sight only when it is near. Never so little that a step is lost in a double.
function plainRange(u, least, most) {
	if (!has(least))
		return [0, 1];
	const span = Math.max((most - least) * 0.08, Math.max(Math.abs(least), Math.abs(most)) * 1e-6);
	if (least >= 0 && least <= most / 2)
		return [0, most > 0 ? most + span : 1];
	return [least - span, most + span];
}

const tagsText = (tags) => Object.entries(tags).map(([k, v]) => `${visible(k)}=${visible(v)}`).join(", ");
const fieldText = (s) => (s.field === "value" ? "" : ` ${visible(s.field)}`);
const seriesText = (s) => [visible(s.name) + fieldText(s), tagsText(s.tags)].filter(Boolean).join(", ");

// At each time the value told last.
function lastTold(values) {
	let last = null;
	return values.map((v) => (has(v) ? (last = v) : last));
}

// Where that is: the dot on a curve and what the legend tells are of the same point.
function lastBefore(u, series, i) {
	while (i >= 0 && !has(u.data[series][i]))
		i--;
	return i < 0 ? null : i;
}

// The curves of a chart over all their times; where one has no point it goes on as a line.
function toldKind(chart, i) {
	const [time, ...columns] = uPlot.join(chart.series.map((s) => [s.time, s.values]));
	const curves = chart.series.map((s, k) => ({ key: String(k), label: tagsText(s.tags) || visible(chart.field), colour: (k + 1) % 7,
		style: k < 7 ? "line" : "dashed", told: lastTold(columns[k]), points: s.points, isTruth: s.boolean, format: s.boolean ? truth : plain }));
	return { name: `told-${i}`, title: visible(chart.name), what: visible(chart.field), curves, place: "told-grid", format: plain, axis: plainAxis, range: plainRange,
		data: { time, columns, each: Math.max(...chart.series.map((s) => s.each)) },
		dotAt: lastBefore, draw: (c) => ({ points: { show: c.points < 60, size: 4 }, paths: c.isTruth ? uPlot.paths.stepped({ align: 1 }) : undefined }) };
}

function restText(rest, what, unit) {
	const named = rest.named.map((s) => `${seriesText(s)} (${count(s.values)})`).join("; ");
	const more = rest.series - rest.named.length;
	return rest.series ? `${what} ${count(rest.series)} series, ${count(rest.values)} ${unit}: ${named}${more ? `; and ${count(more)} more` : ""}.` : "";
}

function toldByTheProgram() {
	const told = data.pushed, dropped = (summary.pushed || {}).dropped;
	byId("told").hidden = !told;
	if (!told)
		return;
	const kinds = told.charts.map(toldKind);
	kinds.forEach(addChart);
	fitCharts("told-grid");
	byId("told-thinned").textContent = kinds.some((k) => k.data.each > 1) ? "Of many points those are drawn that are the least or the most of some in a row: no peak is hidden." : "";
	byId("told-rest").textContent = [restText(told.left_out, "Not drawn are", "points"), restText(told.texts, "Texts are not drawn: of", "values"),
		told.others ? `${count(told.others)} values of still other series were not even told apart.` : "",
		dropped ? `${count(dropped)} lines came faster than they are taken, and were dropped.` : ""].filter(Boolean).join(" ");
}
