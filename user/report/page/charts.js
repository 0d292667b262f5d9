// SPDX-License-Identifier: BSD-2-Clause
// The charts: one uPlot each, one cursor and one zoom for all.
"use strict";

// How values of each unit are written; which charts there are, and their curves, comes with the data.
const units = {
	cores: { format: cores, limit: () => meta.system?.cpus, limitText: "available" },
	bytes: { format: bytes, base: 2, limit: () => summary.oom?.limit_bytes, limitText: "allowed" },
	byte_rate: { format: rate(bytes), base: 2 },
	count: { format: count },
	count_rate: { format: rate(count) },
	share: { format: percent },
};
const chartKinds = Object.entries(data.charts).map(([name, c]) => ({
	name,
	title: c.title,
	what: c.what,
	curves: c.curves,
	place: "chart-grid",
	data: c,
	...units[c.unit],
}));
const timeSteps = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
	14400, 21600, 43200, 86400, 172800, 604800,
];
const binarySteps = Array.from({ length: 62 }, (_, i) => 2 ** i);
const CHART_HEIGHT = 190;
const drawn = [];
let ink = {};

// Colours are the style's, so that a theme is in one place.
function readInk() {
	const style = getComputedStyle(document.documentElement);
	const get = (name) => style.getPropertyValue(name).trim();
	ink = {
		text: get("--quiet"),
		grid: get("--grid"),
		event: get("--bad"),
		mark: get("--text"),
		paper: get("--paper"),
		series: [0, 1, 2, 3, 4, 5, 6].map((i) => get(`--series-${i}`)),
		fill: [0, 1, 2, 3].map((i) => get(`--fill-${i}`)),
	};
}

// Adds up the stacked curves; the sum of what was read, nothing where nothing was.
function stack(columns, curves) {
	const sums = columns[0].map(() => 0);
	return columns.map((column, i) => {
		if (curves[i].how !== "stacked") return column;
		return column.map((v, k) => {
			if (!has(v)) return null;
			sums[k] += v;
			return sums[k];
		});
	});
}

function curvesOf(kind) {
	return kind.curves
		.map((c) => ({ ...c, how: c.style, values: kind.data.columns[c.key] }))
		.filter((c) => c.values.some(has));
}

function largestOf(values, time) {
	let at = -1;
	values.forEach((v, i) => {
		if (has(v) && (at < 0 || v > values[at])) at = i;
	});
	return at < 0 ? null : { value: values[at], time: time[at] };
}

// The index of the time nearest to @at.
function nearest(times, at) {
	let low = 0,
		high = times.length - 1;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if (times[middle] < at) low = middle;
		else high = middle;
	}
	return Math.abs(times[low] - at) <= Math.abs(times[high] - at) ? low : high;
}

// From 0 up to the largest value, the limit and the peaks that are drawn.
function rangeOf(kind) {
	return (
		kind.range ||
		((u, least, most) => {
			let top = most || 0;
			if (kind.limit?.()) top = Math.max(top, kind.limit());
			if (kind.name === "memory")
				top = Math.max(top, largestProcess()?.rss_peak_bytes || 0, memoryPeak()?.value || 0) * 1.12;
			return [0, top > 0 ? top * 1.05 : 1];
		})
	);
}

function seriesOf(kind, curve) {
	const colour = ink.series[curve.colour];
	return {
		label: curve.label,
		key: curve.key,
		stroke: colour,
		width: curve.how === "stacked" ? 0.5 : kind.data.each > 1 ? 1 : 1.5,
		show: curve.how !== "hidden",
		fill: curve.how === "stacked" ? ink.fill[curve.colour] : undefined,
		dash: curve.how === "dashed" ? [4, 3] : undefined,
		points: { show: curve.values.length < 3, size: 5 },
		...kind.draw?.(curve),
	};
}

// Stacked curves lie over each other: the last, which is the sum, is drawn first.
function layers(curves) {
	const stacked = curves.filter((c) => c.how === "stacked").reverse();
	return [...stacked, ...curves.filter((c) => c.how !== "stacked")];
}

// 64.0 MiB -> 64 MiB
const withoutZeros = (text) => text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");

function axesOf(kind) {
	const line = {
		stroke: ink.text,
		font: "11px system-ui, sans-serif",
		grid: { stroke: ink.grid, width: 1 },
		ticks: { stroke: ink.grid, width: 1, size: 4 },
	};
	return [
		{
			...line,
			incrs: timeSteps,
			space: 70,
			size: 26,
			values: (u, splits, axis, space, step) => splits.map((v) => clock(v, step)),
		},
		{
			...line,
			size: 74,
			space: 32,
			incrs: kind.base === 2 ? binarySteps : undefined,
			values: (u, splits) => splits.map((v) => withoutZeros((kind.axis || kind.format)(v))),
		},
	];
}

// Some curves have a unit of their own; where a pushed curve has no value at a time, its last one holds.
const formatOf = (kind, curve) => curve.format || kind.format;
const valueAt = (curve, i) => (curve.filled || curve.values)[i];

// The values at the cursor, or the largest of each curve when it is elsewhere.
function showValues(chart) {
	const { plot, curves, time } = chart;
	const i = plot.cursor.idx;
	const inside = has(i) && has(plot.cursor.left) && plot.cursor.left >= 0;
	const mark = inside && timedEvents().findLast((e) => e.event === "mark" && e.at <= time[i]);
	chart.when.textContent = inside
		? `at ${clock(time[i], wall / 1000)}${mark ? `, ${eventLabel(mark)}` : ""}`
		: "largest";
	for (const c of curves) {
		c.output.textContent = formatOf(chart.kind, c)(inside ? valueAt(c, i) : c.largest?.value);
	}
}

function legend(chart) {
	const list = el("div", "legend");
	chart.when = el("span", "when quiet");
	list.append(chart.when);
	for (const c of chart.curves) {
		const swatch = el("i", `swatch s${c.colour}${c.how === "dashed" ? " dashed" : ""}`);
		c.output = el("b", "");
		const button = el("button", "curve", swatch, c.label + " ", c.output);
		button.type = "button";
		button.dataset.key = c.key;
		button.title = "Show or hide";
		button.setAttribute("aria-pressed", String(c.how !== "hidden"));
		button.addEventListener("click", () => {
			const shown = button.getAttribute("aria-pressed") !== "true";
			button.setAttribute("aria-pressed", String(shown));
			c.shown = shown;
			chart.plot.setSeries(c.index, { show: shown });
		});
		list.append(button);
	}
	return list;
}

function describe(chart) {
	const parts = chart.curves.map((c) =>
		c.largest ? `${c.label} up to ${formatOf(chart.kind, c)(c.largest.value)} at ${clock(c.largest.time)}` : c.label,
	);
	return `${chart.kind.title}, ${chart.kind.what}: ${parts.join("; ")}`;
}

function plotOptions(chart) {
	const { kind } = chart;
	const over = [drawEvents, drawLimit(kind)];
	if (kind.name === "memory") over.push(drawPeaks);
	return {
		width: chart.place.clientWidth || 500,
		height: CHART_HEIGHT,
		legend: { show: false },
		padding: [timedEvents().length ? 16 : 8, null, null, null],
		scales: { x: { time: false, min: view.from, max: view.to }, y: { range: rangeOf(kind) } },
		axes: axesOf(kind),
		series: [{}, ...layers(chart.curves).map((c) => ({ ...seriesOf(kind, c), show: c.shown ?? c.how !== "hidden" }))],
		cursor: {
			sync: { key: "bpfmon", scales: ["x", null] },
			drag: { x: true, y: false, setScale: false },
			points: { size: 6 },
			...(kind.dotAt && { dataIdx: kind.dotAt }),
			bind: { dblclick: () => () => showRange(0, wall) },
		},
		hooks: { draw: over, setCursor: [() => chart.plot && showValues(chart)], setSelect: [(u) => zoomToSelection(u)] },
	};
}

function zoomToSelection(u) {
	const { left, width } = u.select;
	if (width < 4) return;
	const from = u.posToVal(left, "x"),
		to = u.posToVal(left + width, "x");
	u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	showRange(from, to);
}

function buildPlot(chart) {
	const ordered = layers(chart.curves);
	for (const [i, c] of ordered.entries()) c.index = i + 1;
	const stacked = stack(
		chart.curves.map((c) => c.values),
		chart.curves,
	);
	const columns = ordered.map((c) => stacked[chart.curves.indexOf(c)]);
	if (chart.plot) chart.plot.destroy();
	chart.plot = null;
	chart.plot = new uPlot(plotOptions(chart), [chart.time, ...columns], chart.place);
	chart.plot.setScale("x", { min: view.from, max: view.to });
	showValues(chart);
}

// The arrow keys move the cursor of all charts from sample to sample.
function onKey(chart, event) {
	const { plot, time } = chart;
	const middle = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : (view.from + view.to) / 2;
	const width = view.to - view.from;
	if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
		let i = has(plot.cursor.idx) && plot.cursor.left >= 0 ? plot.cursor.idx : nearest(time, view.from);
		i = Math.max(0, Math.min(time.length - 1, i + (event.key === "ArrowRight" ? 1 : -1) * (event.shiftKey ? 10 : 1)));
		drawn.forEach((c) => {
			c.plot.setCursor({ left: c.plot.valToPos(time[i], "x"), top: CHART_HEIGHT / 3 });
			showValues(c);
		});
		byId("announced").textContent =
			`${clock(time[i], wall / 1000)}: ` +
			chart.curves.map((c) => `${c.label} ${formatOf(chart.kind, c)(valueAt(c, i))}`).join(", ");
	} else if (event.key === "+" || event.key === "=") {
		showRange(middle - width / 4, middle + width / 4);
	} else if (event.key === "-") {
		showRange(middle - width, middle + width);
	} else {
		return;
	}
	event.preventDefault();
}

function addChart(kind) {
	const curves = curvesOf(kind);
	if (!curves.length) return;
	const chart = { kind, curves, time: kind.data.time, place: el("div", "plot") };
	for (const c of curves) c.largest = largestOf(c.values, chart.time);
	const limit = kind.limit?.();
	const figure = el(
		"figure",
		"chart",
		el(
			"h3",
			"",
			kind.title,
			el("span", "quiet", ` ${kind.what}${limit ? `, of ${withoutZeros(kind.format(limit))} ${kind.limitText}` : ""}`),
		),
		legend(chart),
		chart.place,
	);
	figure.dataset.chart = kind.name;
	chart.place.tabIndex = 0;
	chart.place.setAttribute("role", "application");
	chart.place.setAttribute("aria-roledescription", "chart");
	chart.place.setAttribute("aria-label", describe(chart));
	chart.place.setAttribute("aria-describedby", "charts-help");
	chart.place.addEventListener("keydown", (event) => onKey(chart, event));
	byId(kind.place).append(figure);
	drawn.push(chart);
	buildPlot(chart);
}

function fitCharts(place) {
	new ResizeObserver(() =>
		drawn
			.filter((c) => c.kind.place === place)
			.forEach((c) => {
				const width = c.place.clientWidth;
				if (width && width !== c.plot.width) c.plot.setSize({ width, height: CHART_HEIGHT });
			}),
	).observe(byId(place));
}

function charts() {
	readInk();
	chartKinds.forEach(addChart);
	view.listeners.push(() => {
		for (const c of drawn) c.plot.setScale("x", { min: view.from, max: view.to });
	});
	fitCharts("chart-grid");
	const each = Math.max(...Object.values(data.charts).map((c) => c.each));
	byId("thinned").textContent =
		each > 1
			? `Of each ${count(each)} of the ${count(data.samples)} samples those with the smallest and the largest values are drawn: no peak is hidden.`
			: "";
}

function redrawCharts() {
	readInk();
	drawn.forEach(buildPlot);
}
