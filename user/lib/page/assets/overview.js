// SPDX-License-Identifier: BSD-2-Clause
// The overview: the whole run in a strip, with a brush that selects the visible range.
"use strict";

const OVERVIEW_HEIGHT = 46;
const GRIP = 10; // pixels around an end of the brush that can be dragged
const overview = { plot: null, drag: null, frame: 0 };

function overviewCurves() {
	const { cpu, memory } = data.charts;
	return [
		[cpu, "cores", { stroke: ink.series[1], fill: ink.fill[1], scale: "cpu", width: 1 }, 1],
		[memory, "rss_bytes", { stroke: ink.series[3], scale: "memory", width: 1.5 }, 3],
	]
		.filter(([chart, key]) => chart?.columns[key]?.some(has))
		.map(([chart, key, series, colour]) => {
			const values = chart.columns[key];
			const [least, most] = [chart.least?.[key] || values, chart.most?.[key] || values];
			return { series, colour, columns: [chart.time, values, least, most] };
		});
}

function drawOverview() {
	const place = byId("overview-plot"),
		curves = overviewCurves();
	const [time, ...columns] = curves.length ? uPlot.join(curves.map((c) => c.columns)) : [];
	const upTo = (i) => {
		const most = Math.max(0, ...(columns[3 * i + 2] || []).filter(has));
		return { range: () => [0, most > 0 ? most * 1.1 : 1] };
	};
	const scales = Object.fromEntries(curves.map((c, i) => [c.series.scale, upTo(i)]));
	if (overview.plot) overview.plot.destroy();
	overview.plot = null;
	if (!curves.length) return;
	overview.plot = new uPlot(
		{
			width: drawn[0] ? drawn[0].width - ink.gutter - PAD.right : 500,
			height: OVERVIEW_HEIGHT,
			legend: { show: false },
			cursor: { show: false },
			padding: [2, 0, 0, 0],
			scales: { x: { time: false, range: () => [0, wall] }, ...scales },
			axes: [{ show: false }, { show: false }],
			series: [{}, ...curves.map((c) => ({ ...c.series, paths: stepPaths, points: { show: false } }))],
			hooks: {
				draw: [
					(u) =>
						curves.forEach((c, i) => {
							const [mean, least, most] = columns.slice(3 * i);
							fillBand(u, { mean, least, most, colour: c.colour, scale: c.series.scale });
						}),
				],
			},
		},
		[time, ...curves.map((c, i) => columns[3 * i])],
		place,
	);
}

const overviewWidth = () => byId("brush").clientWidth || 1;

function showBrush() {
	const from = view.from / wall,
		to = view.to / wall;
	const window_ = byId("brush-window");
	window_.style.left = `${from * 100}%`;
	window_.style.width = `${(to - from) * 100}%`;
	byId("brush").classList.toggle("whole", isWhole());
	byId("brush-from").style.left = `${from * 100}%`;
	byId("brush-to").style.left = `${to * 100}%`;
	byId("shade-before").style.width = `${from * 100}%`;
	byId("shade-after").style.width = `${(1 - to) * 100}%`;
	const values = { "brush-from": view.from, "brush-to": view.to, "brush-window": (view.from + view.to) / 2 };
	for (const [id, v] of Object.entries(values)) {
		byId(id).setAttribute("aria-valuenow", v.toFixed(6));
		byId(id).setAttribute(
			"aria-valuetext",
			id === "brush-window" ? `${clock(view.from)} to ${clock(view.to)}` : clock(v),
		);
	}
}

// Returns what a press at @x pixels drags: an end, the window, or a new range.
function grabAt(x) {
	const width = overviewWidth();
	const from = (view.from / wall) * width,
		to = (view.to / wall) * width;
	const at = (x / width) * wall;
	if (Math.abs(x - from) <= GRIP && Math.abs(x - from) <= Math.abs(x - to)) return { what: "from", other: view.to };
	if (Math.abs(x - to) <= GRIP) return { what: "to", other: view.from };
	if (x > from && x < to && !isWhole()) return { what: "window", at, from: view.from, to: view.to };
	return { what: "new", other: at };
}

function dragTo(x) {
	const { what, other, at, from, to } = overview.drag;
	const t = Math.max(0, Math.min(wall, (x / overviewWidth()) * wall));
	if (what === "window") {
		const by = Math.max(-from, Math.min(wall - to, t - at));
		showRange(from + by, to + by, true);
	} else {
		showRange(Math.min(t, other), Math.max(t, other), true);
	}
}

function onBrushDown(event) {
	if (event.button) return;
	const brush = byId("brush"),
		left = brush.getBoundingClientRect().left;
	overview.drag = { ...grabAt(event.clientX - left), left, moved: false, x: event.clientX };
	brush.setPointerCapture(event.pointerId);
}

// Limited to once per frame, as a mouse reports more often.
function onBrushMove(event) {
	const { drag } = overview;
	if (!drag) return;
	drag.moved ||= Math.abs(event.clientX - drag.x) > 2;
	drag.x = event.clientX;
	if (!drag.moved || overview.frame) return;
	overview.frame = requestAnimationFrame(() => {
		overview.frame = 0;
		if (overview.drag) dragTo(overview.drag.x - overview.drag.left);
	});
}

function onBrushUp(event) {
	const { drag } = overview;
	if (!drag) return;
	if (drag.moved && event.type === "pointerup") dragTo(event.clientX - drag.left);
	overview.drag = null;
	view.chosen?.();
}

// Arrow keys move an end or the window by 1 % of the run, with Shift by 10 %.
function onBrushKey(event) {
	const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
	const by = way * (wall / 100) * (event.shiftKey ? 10 : 1),
		what = event.target.id;
	let from = view.from,
		to = view.to;
	if (event.key === "Home" || event.key === "End") {
		if (what === "brush-window") return;
		if (what === "brush-from" && event.key === "Home") from = 0;
		if (what === "brush-to" && event.key === "End") to = wall;
	} else if (!way) {
		return;
	} else if (what === "brush-window") {
		const step = Math.max(-from, Math.min(wall - to, by));
		from += step;
		to += step;
	} else if (what === "brush-from") {
		from = Math.min(from + by, to - shortestRange);
	} else {
		to = Math.max(to + by, from + shortestRange);
	}
	showRange(from, to, true);
	event.preventDefault();
}

function overviewStrip() {
	const brush = byId("brush");
	drawOverview();
	showBrush();
	brush.addEventListener("pointerdown", onBrushDown);
	brush.addEventListener("pointermove", onBrushMove);
	brush.addEventListener("pointerup", onBrushUp);
	brush.addEventListener("pointercancel", onBrushUp);
	brush.addEventListener("dblclick", () => showRange(0, wall));
	for (const id of ["brush-from", "brush-to", "brush-window"]) {
		byId(id).setAttribute("aria-valuemin", "0");
		byId(id).setAttribute("aria-valuemax", wall.toFixed(6));
		byId(id).addEventListener("keydown", onBrushKey);
		byId(id).addEventListener("keyup", () => view.chosen?.());
	}
	view.listeners.push(showBrush);
	view.painters.push(drawOverview);
	new ResizeObserver(() => {
		const width = byId("overview-plot").clientWidth;
		if (overview.plot && width && width !== overview.plot.width)
			overview.plot.setSize({ width, height: OVERVIEW_HEIGHT });
	}).observe(byId("overview-plot"));
}
