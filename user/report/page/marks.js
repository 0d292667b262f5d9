// SPDX-License-Identifier: BSD-2-Clause
// What is drawn over the curves: events, peaks and their holders, limits.
"use strict";

const grave = ["oom_kill", "lost", "limit"];

// The label of an event: the text of a mark, or the kind of event.
const eventLabel = (e) =>
	visible(typeof e.text === "string" && e.text ? e.text : e.event)
		.replace(/_/g, e.text ? "_" : " ")
		.slice(0, 40);

// A vertical line at each event. A label that would overlap the one before is left out.
function drawEvents(u) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	let free = bbox.left;
	ctx.save();
	ctx.lineWidth = dpr;
	ctx.font = `${10.5 * dpr}px system-ui, sans-serif`;
	ctx.textAlign = "left";
	ctx.textBaseline = "alphabetic";
	for (const e of timedEvents()) {
		const x = Math.round(u.valToPos(e.at, "x", true));
		if (x < bbox.left || x > bbox.left + bbox.width) continue;
		ctx.strokeStyle = ctx.fillStyle = grave.includes(e.event) ? ink.event : ink.text;
		ctx.setLineDash([3 * dpr, 3 * dpr]);
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + bbox.height);
		ctx.stroke();
		const text = eventLabel(e),
			width = ctx.measureText(text).width;
		if (x < free || x + width + 4 * dpr > bbox.left + bbox.width) continue;
		ctx.fillText(text, x + 3 * dpr, bbox.top - 3 * dpr);
		free = x + width + 9 * dpr;
	}
	ctx.restore();
}

function drawLabel(u, text, x, y) {
	const { ctx, bbox } = u;
	ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
	ctx.textAlign = "left";
	ctx.textBaseline = "alphabetic";
	const width = ctx.measureText(text).width;
	x = Math.max(bbox.left + 2, Math.min(x - width / 2, bbox.left + bbox.width - width - 2));
	ctx.fillStyle = ink.paper;
	ctx.globalAlpha = 0.8;
	ctx.fillRect(x - 2, y - 11 * devicePixelRatio, width + 4, 14 * devicePixelRatio);
	ctx.globalAlpha = 1;
	ctx.fillStyle = ink.mark;
	ctx.fillText(text, x, y);
}

// The peak of the tree and its time: the exact one if it was recorded. One process may have held all of it.
function memoryPeak() {
	const exact = has(summary.rss_peak_exact_bytes),
		s = summary;
	const value = exact ? s.rss_peak_exact_bytes : s.rss_peak_bytes;
	const at = exact ? s.rss_peak_exact_elapsed_seconds : s.rss_peak_elapsed_seconds;
	return has(value) && has(at) ? { value, at } : null;
}

// The process with the largest high-water mark of its own.
function largestProcess() {
	return processes.reduce(
		(most, p) => (has(p.rss_peak_bytes) && (!most || p.rss_peak_bytes > most.rss_peak_bytes) ? p : most),
		null,
	);
}

// The peak of the largest process, as a line over its lifetime.
function drawLargest(u, largest) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	const y = u.valToPos(largest.rss_peak_bytes, "y", true);
	const from = Math.max(bbox.left, u.valToPos(largest.start, "x", true));
	const to = Math.min(bbox.left + bbox.width, u.valToPos(has(largest.end) ? largest.end : wall, "x", true));
	ctx.lineWidth = 1.5 * dpr;
	ctx.setLineDash([6 * dpr, 3 * dpr]);
	ctx.beginPath();
	ctx.moveTo(from, y);
	ctx.lineTo(Math.max(to, from + 2 * dpr), y);
	ctx.stroke();
	if (to > bbox.left && from < bbox.left + bbox.width)
		drawLabel(u, `${largest.name} (${largest.pid}) ${bytes(largest.rss_peak_bytes)}`, (from + to) / 2, y + 14 * dpr);
}

function drawPeaks(u) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	const largest = largestProcess(),
		peak = memoryPeak();
	const isAlone = peak && largest && largest.rss_peak_bytes > peak.value * 0.97 && largest.start <= peak.at;
	const holder = (summary.rss_peak_holders || [])[0];
	const heldBy = holder
		? `; ${visible(holder.comm)} (${holder.pid}) ${bytes(holder.rss_bytes)}`
		: isAlone
			? `; ${largest.name} (${largest.pid}) ${bytes(largest.rss_peak_bytes)}`
			: "";
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = ink.mark;
	if (largest && !isAlone && !(holder && holder.pid === largest.pid)) drawLargest(u, largest);
	if (peak) {
		const x = u.valToPos(peak.at, "x", true),
			y = u.valToPos(peak.value, "y", true);
		ctx.setLineDash([]);
		ctx.fillStyle = ink.mark;
		ctx.beginPath();
		ctx.arc(x, y, 3.5 * dpr, 0, 2 * Math.PI);
		ctx.fill();
		if (x >= bbox.left && x <= bbox.left + bbox.width)
			drawLabel(u, `peak ${bytes(peak.value)} at ${clock(peak.at)}${heldBy}`, x, y - 8 * dpr);
	}
	ctx.restore();
}

function drawLimit(kind) {
	return (u) => {
		const limit = kind.limit?.();
		if (!limit) return;
		const { ctx, bbox } = u,
			y = u.valToPos(limit, "y", true);
		ctx.save();
		ctx.strokeStyle = ink.text;
		ctx.lineWidth = devicePixelRatio;
		ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
		ctx.beginPath();
		ctx.moveTo(bbox.left, y);
		ctx.lineTo(bbox.left + bbox.width, y);
		ctx.stroke();
		ctx.restore();
	};
}
