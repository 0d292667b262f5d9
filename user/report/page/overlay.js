// SPDX-License-Identifier: BSD-2-Clause
// Several runs in the same charts: a curve is a run, and a chart one of their metrics.
"use strict";

const timedEvents = () => [];

function runs() {
	for (const run of data.runs) byId("runs").append(el("li", "", el("b", "", run.label + " "), visible(run.name)));
	byId("left-out").textContent = data.left_out
		? `${count(data.left_out)} more runs were compared and are not drawn.`
		: "";
	byId("comparison").textContent = data.comparison;
}

themeControls();
runs();
charts();
zoomControls();
byId("made-by").textContent = `Made by bpfmon ${data.version}. This page is self-contained and fetches nothing.`;
