// SPDX-License-Identifier: BSD-2-Clause
// Puts the report together.
"use strict";

themeControls();
header();
phasesTable();
charts();
spansSection();
pushedCharts();
holdersTable();
timeline();
programsTable();
processesTable();
events();
facts();
missingMetrics();
zoomControls();
byId("made-by").textContent =
	`Made by bpfmon ${data.version} from ${visible(data.source)}. This page is self-contained and fetches nothing.`;
