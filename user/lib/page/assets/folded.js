// SPDX-License-Identifier: BSD-2-Clause
// Charts of constant curves, shown as text.
"use strict";

const FLAT = 0.02; // a curve that varies by less than this share of its maximum is constant

function isFlat(curves) {
	return curves
		.filter((c) => c.how !== "hidden")
		.every((c) => {
			const least = Math.min(...(c.least || c.values).filter(has)),
				most = Math.max(...(c.most || c.values).filter(has));
			return most - least <= FLAT * Math.max(Math.abs(most), Math.abs(least));
		});
}

// Shows a chart of constant curves as a line of text, with a button that draws it.
function foldChart(kind, curves) {
	if (kind.isAsked || !isFlat(curves)) return false;
	const said = curves
		.filter((c) => c.how !== "hidden")
		.map((c) => `${c.label} ${withoutZeros(formatOf(kind, c)(c.values.findLast(has)))}`);
	const button = el("button", "", "Draw");
	const line = el("li", "", el("b", "", kind.lineTitle || kind.title), ` ${said.join(", ")} all the time `, button);
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
