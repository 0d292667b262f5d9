// SPDX-License-Identifier: BSD-2-Clause
// Builds the report: the first screen, then the rest.
"use strict";

themeControls();
header();
setStage();
// scripts of absent parts are not in the page
if (data.answer.time_parts?.length) timesBar();
if (data.phases) phaseBands();
if (data.events.length) eventFlags();
charts();
if (data.missing) missingStrip();
overviewStrip();
if (data.spans) spansSection();
view.listeners.push(describeSelection);
zoomControls();
byId("made-by").textContent =
	`Made by bpfmon ${data.version} from ${visible(data.source)}. This page is self-contained and fetches nothing.`;
afterFirstScreen(() => {
	laterCharts();
	if (data.pushed) pushedCharts();
	if (data.phases) phasesTable();
	if (summary.rss_peak_holders?.length) holdersTable();
	if (summary.by && byId("instances")) instancesTables();
	if (data.processes.timeline) timeline();
	programsTable();
	processesTable();
	if (data.events.length || data.missing) events();
	facts();
	tips();
	foldsInPrint();
});
