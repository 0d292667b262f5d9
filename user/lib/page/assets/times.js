// SPDX-License-Identifier: BSD-2-Clause
// Where the time of the threads went: one bar below the tiles, and a list of its parts.
"use strict";

// other parts are grey
const TIME_COLOURS = { user: 1, system: 2, "run queue": 5, disk: 3, memory: 4, interrupts: 6 };

function timesBar() {
	const parts = data.answer.time_parts,
		all = parts.reduce((sum, p) => sum + p.seconds, 0);
	const bar = el("div", "times-bar"),
		ofRun = el("span", "of-run", " in the whole run"),
		list = el("ul", "", el("li", "", "Time of all threads", ofRun, `, ${seconds(all)}:`));
	ofRun.hidden = true;
	for (const { name, seconds: spent, percent: share } of parts) {
		const colour = `time-${TIME_COLOURS[name] || 0}`,
			text = `${name} ${seconds(spent)} (${share} %)`;
		const part = el("i", colour);
		part.style.flexGrow = spent / all;
		part.title = text;
		bar.append(part);
		list.append(el("li", "", el("i", colour), text));
	}
	const waits = (data.answer.time_waits || []).map((w) => `${w.name} ${seconds(w.seconds)} (${w.percent} %)`);
	if (waits.length) list.append(el("li", "", `not running: ${waits.join(", ")}`));
	bar.setAttribute("aria-hidden", "true"); // the list has the same content
	byId("figures").after(el("div", "times", bar, list));
}
