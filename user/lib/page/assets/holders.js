// SPDX-License-Identifier: BSD-2-Clause
// The processes that held memory at the exact peak. They are recorded for no other time.
"use strict";

function holdersTable() {
	const list = summary.rss_peak_holders || [],
		others = summary.rss_peak_others || {};
	const table = new SortedTable(
		byId("holders-table"),
		[
			["Name", (h) => h.comm, visible, "text", { tip: (h) => visible(h.exe || h.comm) }],
			["PID", (h) => h.pid, String],
			["Resident", (h) => h.rss_bytes, bytes, "", { bar: "rss" }],
			["Share", (h) => h.rss_bytes / summary.rss_peak_exact_bytes, percent],
		],
		"Holders of the exact peak",
		2,
	);
	table.show(list);
	if (others.processes)
		byId("holders").append(
			el("p", "quiet", `${count(others.processes)} more processes held ${bytes(others.rss_bytes)} in all.`),
		);
}
