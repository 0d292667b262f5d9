// SPDX-License-Identifier: BSD-2-Clause
// Puts the report together.
"use strict";

theme();
header();
phasesTable();
charts();
toldByTheProgram();
holdersTable();
timeline();
programsTable();
processesTable();
events();
facts();
missingMetrics();
zoom();
byId("made-by").textContent = `Made by bpfmon ${data.version} of ${visible(data.source)}. This page is whole in itself and fetches nothing.`;
