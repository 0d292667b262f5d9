// SPDX-License-Identifier: BSD-2-Clause
// Memory by process or program, if it was sampled.
"use strict";

const memoryChoice = { byHolder: true };

// The largest live processes were sampled; the rest of the memory belongs to the others.
function unsampledLabel(most) {
	return most ? `up to ${several(most, "process", "processes")} not sampled` : "not sampled";
}

// Stacks the largest processes or programs, and the rest; their sum is the total.
function heldCurves() {
	const { names, columns, unsampled } = data.held;
	const total = columns[0].map((_, i) => columns.reduce((sum, column) => sum + column[i], 0));
	const curves = names.map((name, i) => ({ key: `held-${i}`, label: visible(name), colour: i + 1, style: "stacked" }));
	const used = columns.slice(0, names.length);
	const rest = [
		["held-others", "other programs"],
		["held-rest", unsampledLabel(unsampled)],
	];
	rest.forEach(([key, label], i) => {
		const column = columns[names.length + i];
		if (!column.some((v) => v > 0)) return;
		curves.push({ key, label, colour: 0, style: "stacked" });
		used.push(column);
	});
	curves.push({ key: "rss_bytes", label: "total", colour: 0, style: "line" });
	used.push(total);
	return { curves, columns: Object.fromEntries(curves.map((c, i) => [c.key, used[i]])) };
}

// Returns the extremes of columns that are means of several samples; the last of @most is that of the total.
function heldExtremes({ names, most, least }) {
	if (!most) return {};
	const keys = [...names.map((_, i) => `held-${i}`), "held-others", "held-rest", "rss_bytes"];
	return { least: { rss_bytes: least }, most: Object.fromEntries(keys.map((key, i) => [key, most[i]])) };
}

function heldKind(kind) {
	const { curves, columns } = heldCurves();
	return { ...kind, curves, data: { ...heldExtremes(data.held), time: data.held.time, each: data.held.each, columns } };
}

// Creates the choice of what memory is stacked by, in the head of the chart.
function memoryChooser(kind) {
	const choices = [
		[true, `by ${data.held.by}`],
		[false, "by kind"],
	];
	const select = el(
		"select",
		"choice",
		...choices.map(([is, text]) => {
			const option = el("option", "", text);
			option.selected = is === memoryChoice.byHolder;
			return option;
		}),
	);
	select.setAttribute("aria-label", "Memory stacked");
	select.addEventListener("change", () => {
		memoryChoice.byHolder = select.selectedIndex === 0;
		addCharts([kind.now()]);
		byId("stage-charts").querySelector(".choice").focus();
	});
	return select;
}

function offerHolders(kind) {
	Object.assign(kind, {
		choice: () => memoryChooser(kind),
		now: () => (memoryChoice.byHolder ? heldKind(kind) : kind),
	});
}
