// SPDX-License-Identifier: BSD-2-Clause
// A zoom is a selection: tiles and a sentence have what the run did in that time, and the tables have the processes
// that lived. Figures are those of whole rows of the charts, as nothing is known of a part of one.
"use strict";

const LEAST_CORES = 0.1; // fewer over a time give no CPU time of two digits
const SETTLE_MS = 150; // tables follow when the range has not changed for so long

const livesInView = (p) => !isSelected() || (p.start <= view.to && endOf(p) >= view.from);

// Calls @update when another range is shown.
function onSelection(update) {
	let timer;
	view.listeners.push(() => {
		clearTimeout(timer);
		timer = setTimeout(update, SETTLE_MS);
	});
}

// Returns the total of a rate, and the times from and to which it is known; null if a row of that time was not read.
function totalInView(name, key) {
	const { time, columns } = data.charts[name] || {};
	let known = null,
		isBroken = false;
	columns?.[key]?.forEach((v, i) => {
		const from = i ? time[i - 1] : 0,
			to = time[i];
		if (from < view.from || to > view.to || to <= from) return;
		if (has(v)) known = { total: (known?.total ?? 0) + v * (to - from), from: known?.from ?? from, to };
		else isBroken ||= !!known;
	});
	return isBroken ? null : known;
}

// Returns the largest sample. If the mean of a row is its largest value, all of its samples are equal, and the last one
// counts even if the row begins before the range.
function mostInView(name, key) {
	const { time, columns, most } = data.charts[name] || {};
	let largest = null;
	columns?.[key]?.forEach((mean, i) => {
		const v = most?.[key]?.[i] ?? mean,
			isOne = !(v > mean),
			isIn = time[i] >= view.from && time[i] <= view.to;
		if (has(v) && isIn && (isOne || (i ? time[i - 1] : 0) >= view.from) && !(v <= largest?.value))
			largest = { value: v, at: isOne ? time[i] : null };
	});
	return largest;
}

// Returns what the samples of the range say, by the keys of a summary where it has them, without what is not known.
function figuresInView() {
	const cpu = totalInView("cpu", "cores"),
		used = cpu && cpu.total / (cpu.to - cpu.from);
	const f = {
		cores: used,
		cpu_seconds: used >= LEAST_CORES ? cpu.total : null, // cores are known to a thousandth
		cores_peak: mostInView("cpu", "cores")?.value,
		runqueue_wait_seconds: totalInView("cpu", "runqueue_wait_seconds")?.total,
		memory: mostInView("memory", "rss_bytes"),
		alive: mostInView("processes", "processes")?.value,
		measured: cpu,
	};
	for (const key of ["read_bytes", "write_bytes", "rchar_bytes", "wchar_bytes"]) {
		const known = totalInView("io", key);
		f[key] = known?.total;
		f.measured ||= known;
	}
	return f;
}

// The times between which the figures were measured.
function measuredText({ measured }) {
	const moment = (at) => clock(at, (view.to - view.from) / 1000);
	return measured
		? `measured from ${moment(measured.from)} to ${moment(measured.to)}`
		: "no interval of samples is within";
}

function describeSelection() {
	const f = figuresInView();
	const parts = [
		has(f.cores) && `${cores(f.cores)} cores${has(f.cpu_seconds) ? ` (${seconds(f.cpu_seconds)} of CPU time)` : ""}`,
		f.memory && `up to ${bytes(f.memory.value)} resident`,
		has(f.read_bytes) && `${bytes(f.read_bytes)} read and ${bytes(f.write_bytes)} written`,
		f.alive > 0 && `up to ${several(f.alive, "process", "processes")} at a sample`,
	].filter(Boolean);
	byId("selection").hidden = !isSelected();
	byId("selection").textContent =
		`Selected: ${seconds(view.to - view.from)} of ${seconds(wall)}, from ${clock(view.from)} to ${clock(view.to)}; ` +
		`${[measuredText(f), ...parts].join(", ")}.`;
	for (const e of document.querySelectorAll(".of-run")) e.hidden = !isSelected();
	tiles();
}
