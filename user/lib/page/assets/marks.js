// SPDX-License-Identifier: BSD-2-Clause
// Marks over the curves: events, peaks and their holders, limits.
"use strict";

const grave = ["oom_kill", "limit"];

// The label of an event: the text of a mark, or the kind of event.
const eventLabel = (e) =>
	visible(typeof e.text === "string" && e.text ? e.text : e.event)
		.replace(/_/g, e.text ? "_" : " ")
		.slice(0, 40);

// Draws a vertical line at each event. Names are in lanes above the charts, so that no text covers a curve.
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

// Returns the peak of the tree and its time, exact if recorded.
function memoryPeak() {
	const exact = has(summary.rss_peak_exact_bytes),
		s = summary;
	const value = exact ? s.rss_peak_exact_bytes : s.rss_peak_bytes;
	const at = exact ? s.rss_peak_exact_elapsed_seconds : s.rss_peak_elapsed_seconds;
	return has(value) && has(at) ? { value, at } : null;
}

// Returns the process with the largest high-water mark of its own. It is unknown while the run lasts, because live
// processes have no record yet.
function largestProcess() {
	if (data.running) return null;
	return processes.reduce(
		(most, p) => (has(p.rss_peak_bytes) && (!most || p.rss_peak_bytes > most.rss_peak_bytes) ? p : most),
		null,
	);
}

// Returns true if one process held nearly all memory at the peak.
const isAlone = (peak, largest) =>
	!!peak && !!largest && largest.rss_peak_bytes > peak.value * 0.97 && largest.start <= peak.at;

// Returns the largest process if its peak is drawn separately from the peak of the tree, otherwise null.
function separateLargest() {
	const largest = largestProcess();
	const holder = (summary.rss_peak_holders || [])[0];
	return largest && !isAlone(memoryPeak(), largest) && holder?.pid !== largest.pid ? largest : null;
}

const isShownAt = (from, to) => to >= view.from && from <= view.to;

// Returns the visible peaks of memory.
function memoryPeaks() {
	const peak = memoryPeak(),
		largest = separateLargest();
	const list = [];
	if (peak) list.push({ value: peak.value, from: peak.at, to: peak.at });
	if (largest) list.push({ value: largest.rss_peak_bytes, from: largest.start, to: largest.end ?? wall });
	return list.filter((p) => isShownAt(p.from, p.to));
}

// Returns the peaks as text for the legend.
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

// A peak at one moment is drawn as a dot, one of unknown time as a line over the lifetime.
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

// Returns limits of the run and of the machine, in the unit of the chart.
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
