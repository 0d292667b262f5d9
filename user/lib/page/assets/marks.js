// SPDX-License-Identifier: BSD-2-Clause
// What is drawn over the curves: events, peaks and their holders, limits.
"use strict";

const grave = ["oom_kill", "lost", "limit"];

// The label of an event: the text of a mark, or the kind of event.
const eventLabel = (e) =>
	visible(typeof e.text === "string" && e.text ? e.text : e.event)
		.replace(/_/g, e.text ? "_" : " ")
		.slice(0, 40);

// A vertical line at each event. Their names stand in lanes above the charts: no text covers a curve.
function drawEvents(u) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	ctx.save();
	ctx.lineWidth = dpr;
	for (const e of timedEvents()) {
		const x = Math.round(u.valToPos(e.at, "x", true));
		if (x < bbox.left || x > bbox.left + bbox.width) continue;
		const isGrave = grave.includes(e.event);
		ctx.strokeStyle = isGrave ? ink.event : ink.text;
		ctx.globalAlpha = isGrave ? 1 : 0.45;
		ctx.setLineDash(isGrave ? [] : [2 * dpr, 3 * dpr]);
		ctx.beginPath();
		ctx.moveTo(x, bbox.top);
		ctx.lineTo(x, bbox.top + bbox.height);
		ctx.stroke();
	}
	ctx.restore();
}

// The peak of the tree and its time: the exact one if it was recorded. One process may have held all of it.
function memoryPeak() {
	const exact = has(summary.rss_peak_exact_bytes),
		s = summary;
	const value = exact ? s.rss_peak_exact_bytes : s.rss_peak_bytes;
	const at = exact ? s.rss_peak_exact_elapsed_seconds : s.rss_peak_elapsed_seconds;
	return has(value) && has(at) ? { value, at } : null;
}

// The process with the largest high-water mark of its own. While a run goes on, only those that have ended are known.
function largestProcess() {
	if (data.running) return null;
	return processes.reduce(
		(most, p) => (has(p.rss_peak_bytes) && (!most || p.rss_peak_bytes > most.rss_peak_bytes) ? p : most),
		null,
	);
}

// Whether one process held nearly all at the peak.
const isAlone = (peak, largest) =>
	!!peak && !!largest && largest.rss_peak_bytes > peak.value * 0.97 && largest.start <= peak.at;

// The process whose own peak is drawn beside that of all: null if it is the same.
function separateLargest() {
	const largest = largestProcess();
	const holder = (summary.rss_peak_holders || [])[0];
	return largest && !isAlone(memoryPeak(), largest) && holder?.pid !== largest.pid ? largest : null;
}

const isShownAt = (from, to) => to >= view.from && from <= view.to;

// What is drawn beside the curves of memory, as far as it is of the time that is shown.
function memoryPeaks() {
	const peak = memoryPeak(),
		largest = separateLargest();
	const list = [];
	if (peak) list.push({ value: peak.value, from: peak.at, to: peak.at });
	if (largest) list.push({ value: largest.rss_peak_bytes, from: largest.start, to: largest.end ?? wall });
	return list.filter((p) => isShownAt(p.from, p.to));
}

// The same in words, for the legend.
function memoryNotes() {
	const peak = memoryPeak(),
		largest = largestProcess(),
		separate = separateLargest();
	const holder = (summary.rss_peak_holders || [])[0];
	const named = (p, name, held) => `${visible(name)} (${p.pid}) ${bytes(held)}`;
	const list = [];
	if (peak) {
		const heldBy = holder
			? `; ${named(holder, holder.comm, holder.rss_bytes)}`
			: isAlone(peak, largest)
				? `; ${named(largest, largest.name, largest.rss_peak_bytes)}`
				: "";
		list.push({ sign: "dot", text: `peak ${bytes(peak.value)} at ${clock(peak.at)}${heldBy}` });
	}
	if (separate)
		list.push({
			sign: "dashed",
			text: `largest process: ${named(separate, separate.name, separate.rss_peak_bytes)}`,
		});
	return list;
}

// A value at one moment is a dot, one of a longer time a line.
function drawPeaks(u, peaks) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = ink.mark;
	ctx.lineWidth = 1.5 * dpr;
	ctx.setLineDash([6 * dpr, 3 * dpr]);
	for (const p of peaks) {
		const x = u.valToPos(p.from, "x", true),
			y = u.valToPos(p.value, "y", true);
		ctx.beginPath();
		if (p.from === p.to) {
			ctx.arc(x, y, 3.5 * dpr, 0, 2 * Math.PI);
			ctx.fill();
		} else {
			ctx.moveTo(x, y);
			ctx.lineTo(Math.max(u.valToPos(p.to, "x", true), x + 2 * dpr), y);
			ctx.stroke();
		}
	}
	ctx.restore();
}

// What the command may use and what the machine has, in the unit of that chart.
function limitsOf(name) {
	const limits = meta.limits || {},
		system = meta.system || {};
	const found = {
		cpu: [
			["limit", limits.cpu_max_cores],
			["allowed", limits.cpus_allowed_count < system.cpus ? limits.cpus_allowed_count : null],
			["machine", system.cpus],
		],
		memory: [
			["limit", summary.oom?.limit_bytes || limits.memory_max_bytes],
			["throttled from", limits.memory_high_bytes],
			["machine", system.memory_bytes],
		],
	}[name];
	return (found || [])
		.filter(([, value]) => value > 0)
		.map(([label, value]) => ({
			key: `limit-${label}`,
			label,
			value,
			text: withoutZeros(name === "memory" ? bytes(value) : cores(value)),
		}));
}

function drawLimits(u, chart) {
	const { ctx, bbox } = u,
		dpr = devicePixelRatio;
	ctx.save();
	ctx.strokeStyle = ink.mark;
	ctx.lineWidth = 1.5 * dpr;
	ctx.setLineDash([2 * dpr, 3 * dpr]);
	for (const limit of chart.limits) {
		const y = Math.round(u.valToPos(limit.value, "y", true));
		const pressed = String(!!limit.isShown);
		if (limit.button.getAttribute("aria-pressed") !== pressed) limit.button.setAttribute("aria-pressed", pressed);
		if (!limit.isShown) continue;
		ctx.beginPath();
		ctx.moveTo(bbox.left, y);
		ctx.lineTo(bbox.left + bbox.width, y);
		ctx.stroke();
	}
	ctx.restore();
}
