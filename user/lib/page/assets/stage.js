// SPDX-License-Identifier: BSD-2-Clause
// CPU and memory in full width, on one time axis; the strip of missing samples below them.
"use strict";

const stageNames = ["cpu", "memory"];

// Returns events with their time since the start.
function timedEvents() {
	timedEvents.list ||= data.events
		.filter((e) => typeof e.time === "number")
		.map((e) => ({ ...e, at: Math.max(0, e.time - meta.start_time) }))
		.sort((a, b) => a.at - b.at);
	return timedEvents.list;
}

// Prepares the charts: which ones are on the stage, and their options.
function setStage() {
	for (const kind of chartKinds) {
		if (!stageNames.includes(kind.name)) Object.assign(kind, { fold: foldChart, isLater: true });
		else Object.assign(kind, { place: "stage-charts", fold: isBrief ? foldChart : null });
		if (kind.name === "memory") {
			Object.assign(kind, { peaks: memoryPeaks, notes: memoryNotes() });
			if (data.held) offerHolders(kind);
		}
	}
	const shown = chartKinds.filter((k) => stageNames.includes(k.name) && curvesOf(k).length);
	for (const kind of shown.slice(0, -1)) kind.isAbove = !isBrief;
	if (isBrief) {
		byId("overview").hidden = byId("charts-help").hidden = true;
		byId("stage").hidden = !data.phases && !data.spans && !data.events.length;
	}
	placeNumbers();
}

// On a phone the charts come before the tiles.
function placeNumbers() {
	const narrow = matchMedia("(max-width: 640px)");
	const put = () => (narrow.matches ? byId("stage") : byId("notices")).after(byId("numbers"));
	put();
	narrow.addEventListener("change", put);
}

// Returns the share of samples that are missing in each of @width pixels.
function missingShares(width) {
	const { from, to, counts } = data.missing,
		shares = new Float64Array(width),
		pixel = (view.to - view.from) / width;
	from.forEach((start, i) => {
		const left = share(start) * width,
			right = Math.max(share(to[i]) * width, left + 1e-9);
		const all = (counts[i] * meta.interval_seconds) / pixel; // in pixels
		for (let x = Math.max(0, Math.floor(left)); x < Math.min(width, right); x++)
			shares[x] += (all * (Math.min(right, x + 1) - Math.max(left, x))) / (right - left);
	});
	return shares;
}

function drawMissing() {
	const canvas = byId("missing").firstElementChild,
		width = canvas.clientWidth;
	canvas.width = width;
	const ctx = canvas.getContext("2d");
	ctx.fillStyle = ink.text;
	missingShares(width).forEach((v, x) => {
		ctx.globalAlpha = v > 0 ? Math.min(1, 0.25 + 0.75 * v) : 0;
		ctx.fillRect(x, 0, 1, canvas.height);
	});
}

// Shows when samples are missing, in one strip and a sentence.
function missingStrip() {
	const place = byId("missing");
	place.hidden = false;
	place.lastElementChild.append(`${data.missing.text}.`);
	view.listeners.push(drawMissing);
	view.painters.push(drawMissing);
	new ResizeObserver(drawMissing).observe(place);
}
