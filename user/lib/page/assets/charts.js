// SPDX-License-Identifier: BSD-2-Clause
// The charts: one uPlot each, with a common cursor and zoom.
"use strict";

// Formats of each unit. The data defines the charts and their curves.
const units = {
	cores: { format: cores },
	bytes: { format: bytes, base: 2 },
	byte_rate: { format: rate(bytes), base: 2 },
	count: { format: count },
	count_rate: { format: rate(count) },
	share: { format: percent },
	gpus: { format: count },
	watts: { format: unitFormats.watts },
};
const chartKinds = Object.entries(data.charts).map(([name, c]) => ({
	name,
	title: c.title,
	what: c.what,
	curves: c.curves,
	place: "chart-grid",
	limits: limitsOf(name),
	data: c,
	...units[c.unit],
}));
const timeSteps = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
	14400, 21600, 43200, 86400, 172800, 604800,
];
const binarySteps = Array.from({ length: 62 }, (_, i) => 2 ** i);
const PLOT_HEIGHT = 156; // of all charts, without axis and padding
const AXIS_HEIGHT = 26;
const PAD = { top: 8, right: 12, bottom: 8 };
const NEAR = 1.6; // limits up to this multiple of the largest value are drawn by default
const drawn = [];
watched.charts = drawn;
const underlays = []; // functions that draw below the curves of all charts
let ink = {};

// Colours come from the style sheet, so that themes are defined in one place.
function readInk() {
	const style = getComputedStyle(document.documentElement);
	const get = (name) => style.getPropertyValue(name).trim();
	ink = watched.ink = {
		text: get("--quiet"),
		grid: get("--grid"),
		event: get("--bad"),
		mark: get("--text"),
		paper: get("--paper"),
		gutter: parseFloat(get("--gutter")),
		tint: Number(get("--tint")),
		series: [0, 1, 2, 3, 4, 5, 6].map((i) => get(`--series-${i}`)),
		fill: [0, 1, 2, 3, 4, 5, 6].map((i) => get(`--fill-${i}`)),
	};
}

// Stacks curves on the values below them. Values that were not read stay null.
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
	const { columns, least, most } = kind.data;
	return kind.curves
		.map((c) => ({ ...c, how: c.style, values: columns[c.key], least: least?.[c.key], most: most?.[c.key] }))
		.filter((c) => c.values.some(has));
}

// Returns the index of the time nearest to @at.
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

// The range extends from 0 to the largest visible value, peak, or limit that is near or switched on.
function rangeOf(chart) {
	return (
		chart.kind.range ||
		((u, least, most) => {
			const values = [...chart.peaks(), ...chart.curves.filter(isShown).map((c) => c.largest), chart.sum];
			let top = Math.max(most || 0, ...values.map((v) => v?.value || 0));
			const near = top * NEAR;
			for (const l of chart.limits) {
				l.isShown = l.isAsked ?? l.value <= near;
				if (l.isShown) top = Math.max(top, l.value);
			}
			return [0, top > 0 ? top * 1.05 : 1];
		})
	);
}

function seriesOf(chart, curve) {
	const { kind } = chart;
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
		paths: (u, s, i0, i1) => stepPaths(u, s, i0, i1, (i) => (isMean(chart, i) ? chart.kind.data.each : 1)),
		...kind.draw?.(curve),
	};
}

// The last stacked curve is the sum and covers the others, so it is drawn first.
function layers(curves) {
	const stacked = curves.filter((c) => c.how === "stacked").reverse();
	return [...stacked, ...curves.filter((c) => c.how !== "stacked")];
}

// Of charts with the same times above each other, only the lowest has labels.
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
			size: kind.isAbove ? 0 : AXIS_HEIGHT,
			ticks: { ...line.ticks, show: !kind.isAbove },
			values: (u, splits, axis, space, step) => splits.map((v) => (kind.isAbove ? "" : clock(v, step))),
		},
		{
			...line,
			size: ink.gutter,
			space: 32,
			incrs: kind.base === 2 ? binarySteps : undefined,
			values: (u, splits) => splits.map((v) => withoutZeros((kind.axis || kind.format)(v))),
		},
	];
}

function plotOptions(chart) {
	const { kind } = chart;
	return {
		width: chart.width || 500,
		height: heightOf(kind),
		legend: { show: false },
		padding: [PAD.top, PAD.right, kind.isAbove ? PAD.bottom : 0, 0],
		scales: { x: { time: false, min: view.from, max: view.to }, y: { range: rangeOf(chart) } },
		axes: axesOf(kind),
		series: [{}, ...layers(chart.curves).map((c) => ({ ...seriesOf(chart, c), show: c.shown ?? c.how !== "hidden" }))],
		cursor: {
			sync: { key: "bpfmon", scales: ["x", null] },
			drag: { x: true, y: false, setScale: false },
			points: { size: 6 },
			...(kind.dotAt && { dataIdx: kind.dotAt }),
			bind: { dblclick: () => () => showRange(0, wall) },
		},
		hooks: {
			drawClear: kind.below ? [kind.below] : underlays,
			// above the areas of stacked curves, below lines
			drawAxes: [(u) => !kind.below && !topOfStack(chart) && drawExtremes(u, chart)],
			drawSeries: [(u, i) => !kind.below && i === topOfStack(chart) && drawExtremes(u, chart)],
			draw: [drawEvents, (u) => drawLimits(u, chart), (u) => drawPeaks(u, chart.peaks())],
			setCursor: [() => chart.plot && showValues(chart)],
			setSelect: [(u) => zoomToSelection(u)],
		},
	};
}

const heightOf = (kind) => PLOT_HEIGHT + PAD.top + (kind.isAbove ? PAD.bottom : AXIS_HEIGHT);

function zoomToSelection(u) {
	const { left, width } = u.select;
	if (width < 4) return;
	const from = u.posToVal(left, "x"),
		to = u.posToVal(left + width, "x");
	u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	showRange(from, to);
}

// Returns times and curves in drawing order.
function plotData(chart) {
	const stacked = stack(
		chart.curves.map((c) => c.values),
		chart.curves,
	);
	return [chart.time, ...layers(chart.curves).map((c) => stacked[chart.curves.indexOf(c)])];
}

function buildPlot(chart) {
	for (const [i, c] of layers(chart.curves).entries()) c.index = i + 1;
	if (chart.plot) chart.plot.destroy();
	chart.plot = null;
	findLargest(chart);
	chart.plot = new uPlot(plotOptions(chart), plotData(chart), chart.place);
	chart.plot.setScale("x", { min: view.from, max: view.to });
	showValues(chart);
}

// Adds all charts before measuring any, to avoid repeated layout.
function addCharts(kinds) {
	const made = kinds.map(makeChart).filter(Boolean);
	measureCharts(made);
	made.forEach(buildPlot);
}

function measureCharts(list) {
	for (const chart of list) chart.width = chart.place.clientWidth;
}

// Adds or replaces the frame of a chart. Returns null if it has no curve or is folded.
function makeChart(kind) {
	const curves = curvesOf(kind);
	if (!curves.length || kind.fold?.(kind, curves)) return null;
	const chart = { kind, curves, time: kind.data.time, place: el("div", "plot") };
	chart.limits = kind.limits || [];
	chart.peaks = kind.peaks || (() => []);
	chart.notes = kind.notes || [];
	findLargest(chart);
	const title = el("h3", "", kind.title, el("span", "quiet", ` ${kind.what}`));
	const figure = el("figure", "chart", el("div", "head", title, kind.choice?.() || null, legend(chart)), chart.place);
	figure.dataset.chart = kind.name;
	chart.figure = figure;
	chart.place.tabIndex = 0;
	chart.place.setAttribute("role", "application");
	chart.place.setAttribute("aria-roledescription", "chart");
	chart.place.setAttribute("aria-label", describe(chart));
	chart.place.setAttribute("aria-describedby", "charts-help");
	chart.place.addEventListener("keydown", (event) => onKey(chart, event));
	const before = drawn.findIndex((c) => c.kind.name === kind.name);
	if (before >= 0) {
		drawn[before].plot.destroy();
		drawn[before].figure.replaceWith(figure);
		drawn[before] = chart;
	} else {
		byId(kind.place).append(figure);
		drawn.push(chart);
	}
	return chart;
}

function fitCharts(place) {
	new ResizeObserver(() =>
		drawn
			.filter((c) => c.kind.place === place)
			.forEach((c) => {
				const width = c.place.clientWidth;
				if (width && width !== c.plot.width) c.plot.setSize({ width, height: heightOf(c.kind) });
				c.width = width;
			}),
	).observe(byId(place));
}

function charts() {
	readInk();
	addCharts(chartKinds.filter((k) => !k.isLater).map((k) => k.now?.() ?? k));
	view.listeners.push(() => {
		for (const c of drawn) {
			findLargest(c);
			c.plot.setScale("x", { min: view.from, max: view.to });
			showValues(c);
		}
	});
	for (const place of ["stage-charts", "chart-grid"]) if (byId(place)) fitCharts(place);
	sayThinned(Math.max(...Object.values(data.charts).map((c) => c.each)));
}

// Explains steps of @each samples.
function sayThinned(each) {
	byId("thinned").textContent =
		each > 1
			? `A step is ${count(each)} of ${count(data.samples)} samples: a line is their mean, its pale band goes from the smallest to the largest value.`
			: "";
}

// Charts below the first screen.
function laterCharts() {
	addCharts(chartKinds.filter((k) => k.isLater));
}

function redrawCharts() {
	readInk();
	measureCharts(drawn);
	drawn.forEach(buildPlot);
	for (const draw of view.painters) draw();
}
