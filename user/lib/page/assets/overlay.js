// SPDX-License-Identifier: BSD-2-Clause
// Several runs in the same charts: a curve per side; for several runs their median in a band.
"use strict";

function timedEvents() {
	return [];
}

// Includes the quartiles, so that no band is cut off.
function bandRange(kind) {
	const most = Math.max(0, ...Object.values(kind.data.bands).flatMap(([, high]) => high.filter(has)));
	return (u, least, top) => {
		const up = Math.max(top || 0, most);
		return [0, up > 0 ? up * 1.05 : 1];
	};
}

// Draws bands below the curves, so that curves stay visible.
function drawBands(kind) {
	return (u) => {
		const { ctx } = u;
		ctx.save();
		ctx.beginPath();
		ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		ctx.clip();
		for (const curve of kind.curves) {
			const band = kind.data.bands[curve.key];
			if (!band || !u.series.some((s) => s.key === curve.key && s.show)) continue;
			const points = u.data[0].map((_, i) => i).filter((i) => has(band[0][i]));
			const at = (i, v) => [u.valToPos(u.data[0][i], "x", true), u.valToPos(v, "y", true)];
			ctx.beginPath();
			for (const i of points) ctx.lineTo(...at(i, band[1][i]));
			for (const i of points.reverse()) ctx.lineTo(...at(i, band[0][i]));
			ctx.closePath();
			ctx.globalAlpha = 0.22;
			ctx.fillStyle = ink.series[curve.colour];
			ctx.fill();
		}
		ctx.restore();
	};
}

// Shows the median with quartiles at the cursor, otherwise the largest median.
function bandText(format) {
	return (v) => {
		if (!has(v) || typeof v === "number") return format(v);
		return has(v.median) ? `${format(v.median)} (${format(v.low)} to ${format(v.high)})` : missing;
	};
}

function prepareCharts() {
	for (const kind of chartKinds) {
		for (const curve of kind.curves) {
			const band = kind.data.bands[curve.key],
				values = kind.data.columns[curve.key];
			curve.label = sides[curve.group].title;
			if (!band) continue;
			if (curve.runs > 1) byId("bands-help").hidden = false;
			if (curve.runs > 1) curve.label += ` (${count(curve.runs)} runs)`;
			else kind.data.most = { ...kind.data.most, [curve.key]: band[1] };
			curve.filled = values.map((median, i) => ({ median, low: band[0][i], high: band[1][i] }));
			curve.format = bandText(kind.format);
		}
		kind.fold = foldChart;
		kind.lineTitle = kind.title + (kind.what === "per second" ? "" : `, ${kind.what}`);
		kind.range = bandRange(kind);
		kind.below = drawBands(kind);
		kind.draw = () => ({ paths: uPlot.paths.linear() });
	}
}

themeControls();
showSides();
showComparison();
prepareCharts();
charts();
tips();
foldsInPrint();
zoomControls();
byId("made-by").textContent = `Made by bpfmon ${data.version}. This page is self-contained and fetches nothing.`;
