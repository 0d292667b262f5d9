// SPDX-License-Identifier: BSD-2-Clause
// Charts of constant curves, and those of two samples, shown as text.
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

// Two samples make no curve.
const isBrief = !!byId("stage") && data.samples <= 2 && !data.running;

// Shows a chart of constant curves as a line of text, with a button that draws it.
function foldChart(kind, curves) {
	if (kind.isAsked || (!isBrief && !isFlat(curves))) return false;
	const said = curves
		.filter((c) => c.how !== "hidden")
		.map((c) => `${c.label} ${withoutZeros(formatOf(kind, c)(c.values.findLast(has)))}`);
	const button = el("button", "", "Draw");
	const isOnce = curves.every((c) => c.values.filter(has).length === 1);
	const all = isBrief ? "" : isOnce ? "at the only sample " : "all the time ";
	const line = el("li", "", el("b", "", kind.lineTitle || kind.title), ` ${said.join(", ")} ${all}`, button);
	button.type = "button";
	button.setAttribute("aria-label", `Draw ${kind.title}`);
	button.addEventListener("click", () => {
		line.remove();
		if (isBrief) byId("stage").hidden = false;
		addCharts([{ ...kind, isAsked: true }]);
	});
	line.dataset.folded = kind.name;
	byId("flat").append(line);
	return true;
}
