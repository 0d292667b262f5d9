// SPDX-License-Identifier: BSD-2-Clause
// A zoom is a selection: a sentence has what the run did in that time, and the tables have the processes that lived.
"use strict";

const SETTLE_MS = 150; // tables follow when the range has not changed for so long

const livesInView = (p) => isWhole() || (p.start <= view.to && endOf(p) >= view.from);

// Calls @update when another range is shown.
function onSelection(update) {
	let timer;
	view.listeners.push(() => {
		clearTimeout(timer);
		timer = setTimeout(update, SETTLE_MS);
	});
}

// Returns the integral of a rate over the range that is shown, as far as it was read; null if it was not.
function totalInView(name, key) {
	const { time, columns } = data.charts[name] || {};
	let sum = null;
	columns?.[key]?.forEach((v, i) => {
		const part = Math.min(time[i], view.to) - Math.max(i ? time[i - 1] : 0, view.from);
		if (has(v) && part > 0) sum += v * part;
	});
	return sum;
}

function mostInView(name, key) {
	const { time, columns, most } = data.charts[name] || {};
	return largestOf(most?.[key] || columns?.[key] || [], time)?.value;
}

function describeSelection() {
	const took = view.to - view.from,
		cpu = totalInView("cpu", "cores"),
		read = totalInView("io", "read_bytes"),
		written = totalInView("io", "write_bytes"),
		memory = mostInView("memory", "rss_bytes"),
		alive = mostInView("processes", "processes");
	const parts = [
		has(cpu) && `about ${seconds(cpu)} of CPU time (${cores(cpu / took)} cores)`,
		has(memory) && `up to ${bytes(memory)} resident`,
		has(read) && `about ${bytes(read)} read and ${bytes(written)} written`,
		alive > 0 && `up to ${several(alive, "process", "processes")} at a sample`,
	].filter(Boolean);
	byId("selection").hidden = isWhole();
	byId("selection").textContent =
		`Selected: ${seconds(took)} of ${seconds(wall)}, from ${clock(view.from)} to ${clock(view.to)}` +
		(parts.length ? `: ${parts.join(", ")}.` : ".");
}
