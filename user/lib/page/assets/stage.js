// SPDX-License-Identifier: BSD-2-Clause
// CPU and memory in full width, on one time axis.
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
		else kind.place = "stage-charts";
		if (kind.name === "memory") {
			Object.assign(kind, { peaks: memoryPeaks, notes: memoryNotes() });
			if (data.held) offerHolders(kind);
		}
	}
	const shown = chartKinds.filter((k) => stageNames.includes(k.name) && curvesOf(k).length);
	for (const kind of shown.slice(0, -1)) kind.isAbove = true;
}
