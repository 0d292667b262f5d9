// SPDX-License-Identifier: BSD-2-Clause
// Charts of curves that do not move, as lines of text.
"use strict";

const FLAT = 0.02; // a curve that varies by less of its largest value has nothing to show

function isFlat(curves) {
	return curves
		.filter((c) => c.how !== "hidden")
		.every((c) => {
			const values = c.values.filter(has);
			const most = Math.max(...values.map(Math.abs));
			return Math.max(...values) - Math.min(...values) <= FLAT * most;
		});
}

// A chart of curves that do not move is a line of text, and drawn if that is asked for.
function foldChart(kind, curves) {
	if (kind.isAsked || !isFlat(curves)) return false;
	const said = curves
		.filter((c) => c.how !== "hidden")
		.map((c) => `${c.label} ${withoutZeros(formatOf(kind, c)(c.values.findLast(has)))}`);
	const button = el("button", "", "Draw");
	const line = el("li", "", el("b", "", kind.title), ` ${said.join(", ")} all the time `, button);
	button.type = "button";
	button.setAttribute("aria-label", `Draw ${kind.title}`);
	button.addEventListener("click", () => {
		line.remove();
		addCharts([{ ...kind, isAsked: true }]);
	});
	line.dataset.folded = kind.name;
	byId("flat").append(line);
	return true;
}
