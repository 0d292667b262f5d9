// SPDX-License-Identifier: BSD-2-Clause
// Metrics that programs pushed: one chart per name and field, one curve per set of tags.
"use strict";

const precise = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 9 });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });

// Formats a pushed value to nine digits, whole numbers in full.
function plain(v) {
	if (!has(v)) return missing;
	const a = Math.abs(v);
	if (a >= 1e15 || (a < 1e-6 && a > 0)) return String(Number(v.toPrecision(9)));
	return Number.isInteger(v) ? grouped.format(v) : precise.format(v);
}

const plainAxis = (v) => (Math.abs(v) >= 1e12 ? v.toExponential(2) : Math.abs(v) >= 1e5 ? compact.format(v) : plain(v));
const booleanText = (v) => (has(v) ? String(v > 0) : missing);

// The unit is unknown, so the axis includes 0 only if that is near. The range is wide enough that axis steps are not
// lost in the precision of a double.
function plainRange(u, least, most) {
	if (!has(least)) return [0, 1];
	const span = Math.max((most - least) * 0.08, Math.max(Math.abs(least), Math.abs(most)) * 1e-6);
	if (least >= 0 && least <= most / 2) return [0, most > 0 ? most + span : 1];
	return [least - span, most + span];
}

const tagsText = (tags) =>
	Object.entries(tags)
		.map(([k, v]) => `${visible(k)}=${visible(v)}`)
		.join(", ");
const fieldText = (s) => (s.field === "value" ? "" : ` ${visible(s.field)}`);
const seriesText = (s) => [visible(s.name) + fieldText(s), tagsText(s.tags)].filter(Boolean).join(", ");

// Fills each time with the last pushed value.
function lastPushed(values) {
	let last = null;
	return values.map((v) => {
		if (has(v)) last = v;
		return last;
	});
}

// Returns the index of the last pushed value, so that the dot on a curve and the legend agree.
function lastBefore(u, series, i) {
	while (i >= 0 && !has(u.data[series][i])) i--;
	return i < 0 ? null : i;
}

// Points of less than a pixel are drawn as their mean.
const pushedPaths = (sparse) => (u, s, i0, i1) =>
	(u.data[s].slice(i0, i1 + 1).filter(has).length > u.bbox.width ? stepPaths : sparse)(u, s, i0, i1);

// The curves of a chart over the union of their times; gaps are bridged by lines.
function pushedKind(chart, i) {
	const [time, ...joined] = uPlot.join(
		chart.series.map((s) => [s.time, s.values, s.least || s.values, s.most || s.values]),
	);
	const [columns, least, most] = [0, 1, 2].map((first) => joined.filter((_, k) => k % 3 === first));
	const curves = chart.series.map((s, k) => ({
		key: String(k),
		label: tagsText(s.tags) || visible(chart.field),
		colour: (k + 1) % 7,
		style: k < 7 ? "line" : "dashed",
		filled: lastPushed(columns[k]),
		points: s.points,
		isBoolean: s.boolean,
		format: s.boolean ? booleanText : plain,
	}));
	return {
		name: `pushed-${i}`,
		title: visible(chart.name),
		what: visible(chart.field),
		curves,
		place: "pushed-grid",
		format: plain,
		axis: plainAxis,
		range: plainRange,
		data: { time, columns, least, most, each: Math.max(...chart.series.map((s) => s.each)) },
		dotAt: lastBefore,
		draw: (c) => ({
			points: { show: c.points < 60, size: 4 },
			paths: pushedPaths(c.isBoolean ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear()),
		}),
	};
}

function restText(rest, what, unit) {
	const named = rest.named.map((s) => `${seriesText(s)} (${count(s.values)})`).join("; ");
	const more = rest.series - rest.named.length;
	return rest.series
		? `${what} ${count(rest.series)} series, ${count(rest.values)} ${unit}: ${named}${more ? `; and ${count(more)} more` : ""}.`
		: "";
}

function pushedCharts() {
	const pushed = data.pushed,
		dropped = summary.pushed?.dropped;
	const kinds = pushed.charts.map(pushedKind);
	addCharts(kinds);
	fitCharts("pushed-grid");
	byId("pushed-thinned").textContent = kinds.some((k) => k.data.each > 1)
		? "Of many points, neighbours are drawn as their mean, in a band from the smallest to the largest: no peak is hidden."
		: "";
	byId("pushed-rest").textContent = [
		restText(pushed.left_out, "Not drawn are", "points"),
		restText(pushed.texts, "Texts are not drawn: of", "values"),
		pushed.others ? `${count(pushed.others)} values of further series were only counted.` : "",
		dropped ? `${count(dropped)} lines exceeded the accepted rate and were dropped.` : "",
	]
		.filter(Boolean)
		.join(" ");
}
