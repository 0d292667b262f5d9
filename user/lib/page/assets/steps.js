// SPDX-License-Identifier: BSD-2-Clause
// Curves as steps: a value lasts from the previous time to its own. Rows of less than a pixel share a step, which has
// their mean in a band from minimum to maximum. A line through steps of less than a pixel per sample has gaps where it
// would go up and down every few pixels, as it would cover the band.
"use strict";

const BAND_ALPHA = 0.22; // of colours; of the total, which is over other curves, less
const TOTAL_ALPHA = 0.14;
const FAR = 15; // pixels between steps that are not of similar height
const SOON = 3; // pixels between two such steps

// Returns the steps of the rows @i0 to @i1, with x in pixels of the canvas. Values of null are gaps; undefined is no
// row of this curve.
function stepsOf(u, mean, i0, i1, least = mean, most = mean) {
	const [time] = u.data,
		{ min, max } = u.scales.x;
	const xOf = (i) => u.bbox.left + ((time[i] - min) / (max - min)) * u.bbox.width;
	const steps = [];
	let last = null,
		x = xOf(Math.max(0, i0 - 1));
	for (let i = i0; i <= i1; i++) {
		if (mean[i] === undefined) continue;
		const from = x;
		x = xOf(i);
		if (mean[i] === null) {
			last = null;
			continue;
		}
		const weight = Math.max(x - from, 1e-9);
		if (last && x - last.x <= 1) {
			last.mean = (last.mean * last.weight + mean[i] * weight) / (last.weight + weight);
			last.weight += weight;
			last.least = Math.min(last.least, least[i] ?? mean[i]);
			last.most = Math.max(last.most, most[i] ?? mean[i]);
			last.row = i;
			last.end = x;
		} else {
			const values = { mean: mean[i], least: least[i] ?? mean[i], most: most[i] ?? mean[i] };
			last = { x: from, end: x, ...values, weight, first: i, row: i, isApart: !last };
			steps.push(last);
		}
	}
	return steps;
}

// Returns true if a step has less than a pixel per sample. @samples returns the number of samples of a row.
function isDense(step, samples) {
	let all = 0;
	for (let i = step.first; i <= step.row; i++) all += samples(i);
	return step.end - step.x < all;
}

// Builds the paths of a curve, as uPlot needs them.
function stepPaths(u, index, i0, i1, samples = () => 1) {
	const { scale } = u.series[index];
	const stroke = new Path2D(),
		fill = new Path2D(),
		zero = u.valToPos(0, scale, true);
	let end = null,
		before = zero,
		jump = -Infinity;
	const close = () => has(end) && fill.lineTo(end, zero);
	for (const step of stepsOf(u, u.data[index], i0, i1)) {
		const y = u.valToPos(step.mean, scale, true);
		if (step.isApart) {
			close();
			fill.moveTo(step.x, zero);
		}
		const isFar = Math.abs(y - before) > FAR * devicePixelRatio,
			isSoon = step.x - jump < SOON * devicePixelRatio;
		if (step.isApart || (isFar && isSoon && isDense(step, samples))) stroke.moveTo(step.x, y);
		if (isFar) jump = step.x;
		before = y;
		for (const path of [stroke, fill]) {
			path.lineTo(step.x, y);
			path.lineTo(step.end, y);
		}
		end = step.end;
	}
	close();
	return { stroke, fill, clip: null, band: null, gaps: null, flags: 1 };
}

// Fills the band of a curve of the data of the plot, or of values beside it.
function fillBand(u, { mean, least, most, colour, scale = "y" }) {
	const { ctx, bbox } = u,
		[from, to] = [u.valToIdx(u.scales.x.min), u.valToIdx(u.scales.x.max)];
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.globalAlpha = colour ? BAND_ALPHA : TOTAL_ALPHA;
	ctx.fillStyle = ink.series[colour];
	for (const s of stepsOf(u, mean, Math.max(0, from - 1), Math.min(mean.length - 1, to + 1), least, most)) {
		const top = u.valToPos(s.most, scale, true),
			height = u.valToPos(s.least, scale, true) - top;
		const x = Math.round(s.x); // whole pixels, as neighbours must neither overlap nor leave a gap
		if (height > 0) ctx.fillRect(x, top, Math.round(s.end) - x, height);
	}
	ctx.restore();
}

// Returns true if a row of a chart is the mean of different samples.
const isMean = (chart, i) => chart.curves.some((c) => c.most?.[i] > c.values[i]);

const isShown = (curve) => curve.shown ?? curve.how !== "hidden";

// Draws the bands of all lines; of a stack without a line for its total, that of its sum.
function drawExtremes(u, chart) {
	for (const c of chart.curves)
		if (c.how !== "stacked" && isShown(c))
			fillBand(u, { mean: u.data[c.index], least: c.least, most: c.most, colour: c.colour });
	const { least, most } = chart.kind.data;
	const top = topOfStack(chart);
	if (top && chart.curves.every((c) => c.how === "stacked"))
		fillBand(u, { mean: u.data[top], least: least?.sum, most: most?.sum, colour: 0 });
}

// Returns the place of the stacked curve that is drawn last, 0 without one. The first one drawn is the sum.
const topOfStack = (chart) =>
	Math.max(0, ...chart.curves.filter((c) => c.how === "stacked" && isShown(c)).map((c) => c.index));
