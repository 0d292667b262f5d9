// SPDX-License-Identifier: BSD-2-Clause
// The result of a comparison: verdict, names of the sides, and values with and without changes.
"use strict";

const LEAST_CHANGE = 0.01; // between single runs; smaller differences are no change
const STEPS_SHOWN = 20;
const { comparison } = data;
const valueNames = {
	wall_seconds: "Wall time",
	cpu_seconds: "CPU time",
	user_seconds: "CPU time, user",
	system_seconds: "CPU time, system",
	runqueue_wait_seconds: "Waited for a CPU",
	lifetime_seconds: "Lifetime of all threads",
	wait_child_seconds: "Waited for a child",
	wait_futex_seconds: "Waited for a futex",
	wait_pipe_seconds: "Waited for a pipe",
	wait_socket_seconds: "Waited for a socket",
	wait_disk_seconds: "Waited for a disk",
	wait_poll_seconds: "Waited in poll",
	wait_lock_seconds: "Waited for a file lock",
	wait_timer_seconds: "Waited for a timer",
	wait_other_seconds: "Waited for other things",
	wait_unseen_seconds: "Waits that were not seen",
	cores_mean: "Cores, on average",
	cores_peak: "Cores, at the peak",
	exit_code: "Exit status",
	memory_needed_bytes: "Memory needed",
	rss_peak_bytes: "Peak memory",
	rss_peak_upper_bytes: "Peak memory, upper bound",
	rss_peak_exact_bytes: "Peak memory, exact",
	process_rss_peak_bytes: "Peak of the largest process",
	pss_peak_bytes: "Peak of PSS",
	uss_peak_bytes: "Peak of USS",
	minflt: "Minor page faults",
	majflt: "Major page faults",
	nvcsw: "Voluntary switches",
	nivcsw: "Involuntary switches",
	read_bytes: "Read from storage",
	write_bytes: "Written to storage",
	rchar_bytes: "Read by calls",
	wchar_bytes: "Written by calls",
	syscr: "Read calls",
	syscw: "Write calls",
	gpu_seconds: "GPU time",
	gpu_memory_busy_seconds: "GPU memory busy",
	gpu_idle_seconds: "GPUs held without work",
	gpu_memory_peak_bytes: "Peak of GPU memory",
	gpus_held_peak: "GPUs held, at the peak",
	gpus_used_peak: "GPUs used, at the peak",
	gpu_energy_joules: "Energy of the GPUs held",
	host_energy_joules: "Energy of the machine",
	energy_apportioned_joules: "Share of the energy by CPU time",
	energy_unapportioned_joules: "Rest of the energy",
	oom_kills: "OOM kills",
	processes_total: "Processes",
	outlived: "Processes that outlived it",
};
const valueName = (key) => (Object.hasOwn(valueNames, key) ? valueNames[key] : keyText(key));

const tagText = (tags) => Object.entries(tags || {}).map(([key, v]) => `${key}=${v}`);
const minute = (v) => dateText(v).replace(/:\d\d UTC/, " UTC");

const sides = comparison.groups.map((g, i) => ({
	...g,
	title: visible(g.title),
	of: g.runs,
	runs: data.runs.filter((run) => run.group === i),
}));
// Describes a side: time, host, number of runs, unless the title does so.
function sideText(side) {
	const starts = side.runs.map((run) => run.start_time).filter(has),
		hosts = [...new Set(side.runs.map((run) => run.host).filter(has))],
		names = [...new Set(side.runs.map((run) => run.name).filter(has))],
		as = /^\d+$/.test(side.name) ? `run ${side.name}` : side.name;
	const from = starts.length ? minute(Math.min(...starts)) : null,
		to = starts.length ? minute(Math.max(...starts)) : null;
	const bad = side.of.filter((run) => run.complete === false).length,
		folded = side.of.filter((run) => run.has_summary === false).length;
	const tags = tagText(side.runs[0]?.tags).filter((tag) => side.runs.every((run) => tagText(run.tags).includes(tag)));
	return [
		comparison.by || side.of.length > 1 ? several(side.of.length, "run", "runs") : null,
		names.length === 1 && !side.title.startsWith(names[0]) ? names[0] : null,
		tags.filter((tag) => !side.title.includes(tag)).join(", "),
		from === to ? from : `${from} to ${to}`,
		hosts.length === 1 ? `on ${hosts[0]}` : null,
		side.of.length === 1 && side.of[0].format !== "bpfmon" ? side.of[0].format : null,
		comparison.by || side.of.length > 1 || side.title === as ? null : as,
		bad ? `${bad} incomplete` : null,
		folded ? `${folded} without a summary` : null,
	]
		.filter(Boolean)
		.map(visible)
		.join(" · ");
}

function showSides() {
	sides.forEach((side, i) => {
		const swatch = el("i", `swatch s${(i % 6) + 1}${i < 6 ? "" : " dashed"}`);
		byId("sides").append(el("li", "", swatch, el("b", "", side.title), el("span", "quiet", ` ${sideText(side)}`)));
	});
	byId("left-out").textContent = data.left_out
		? `${count(data.left_out)} more runs were compared and are not drawn.`
		: "";
}

// Returns how a value of group @g changed, in the words of the verdict if there is one.
function stateOf(key, g) {
	const [a, b] = [comparison.values[key][0], comparison.values[key][g]];
	if (!a.n || !b.n) return a.n || b.n ? "on one side only" : null;
	if (b.difference === 0 && (b.verdict || "equal") === "equal") return "equal";
	if (b.verdict === "may be noise") return b.verdict;
	return b.verdict === "more than noise" || Math.abs(b.relative ?? 1) >= LEAST_CHANGE ? "changed" : "less than 1 %";
}

const relativeOf = (v) => (v.difference === 0 ? 0 : (v.relative ?? Infinity));

function relativeText(v) {
	const part = relativeOf(v),
		sign = v.difference > 0 ? "+" : "−";
	if (part === Infinity) return v.difference > 0 ? "from 0" : "below 0";
	return part >= 9.995 ? `× ${digits(part + 1)}` : part ? `${sign}${Math.abs(part * 100).toFixed(1)} %` : "0 %";
}

// The bar of a difference begins at a line in the middle of its cell: less to the left, more to the right.
const sideOfCentre = (v) => `apart ${v.difference > 0 ? "more-than" : "less-than"}`;

// Bounds of the same memory with the same value share a row.
function isSameMemory(key) {
	const twin = { rss_peak_upper_bytes: "rss_peak_bytes", process_rss_peak_bytes: "rss_peak_bytes" }[key],
		other = comparison.values[twin];
	return (
		has(other) &&
		comparison.values[key].every((v, i) => Math.abs((v.median || 0) - (other[i].median || 0)) <= 0.01 * (v.median || 0))
	);
}

// Returns the values of group @g whose state is wanted.
function rowsIn(g, isWanted) {
	return Object.keys(comparison.values)
		.filter((key) => !isSameMemory(key))
		.map((key) => ({ key, values: comparison.values[key], state: stateOf(key, g) }))
		.filter((row) => row.state && isWanted(row.state));
}

const isChange = (state) => state === "changed" || state === "on one side only";

function ownVerdict(g) {
	const changed = rowsIn(g, (state) => state === "changed").sort(
		(x, y) => Math.abs(relativeOf(y.values[g])) - Math.abs(relativeOf(x.values[g])),
	);
	const first = ["wall_seconds", "cpu_seconds", "rss_peak_bytes"].filter((key) =>
		changed.some((row) => row.key === key),
	);
	const named = [...first, ...changed.map((row) => row.key).filter((key) => !first.includes(key))].slice(0, 3);
	const more = changed.length - named.length;
	if (!changed.length) return `${sides[g].title} and ${sides[0].title}: no value changed.`;
	const texts = named.map(
		(key) => `${valueName(key).toLowerCase().replace("cpu", "CPU")} ${relativeText(comparison.values[key][g])}`,
	);
	return `${sides[g].title} against ${sides[0].title}: ${texts.join(", ")}${more ? `, and ${several(more, "other value", "other values")}` : ""}.`;
}

const verdictOf = (g) => (comparison.verdicts || []).find((v) => v.group === g)?.text || ownVerdict(g);

function chanceText(v) {
	if (!v.verdict) return missing;
	return v.verdict === "equal" || !has(v.p_corrected)
		? v.verdict
		: `${v.verdict} (p ${v.p_corrected < 0.001 ? "< 0.001" : v.p_corrected.toFixed(3)})`;
}

function valueColumns(g) {
	const hasTest = Object.values(comparison.values).some((of) => of[g].verdict);
	const side = (i) => [
		sides[i].title,
		(row) => (row.values[i].n ? row.values[i].median : null),
		(v, row) => formatOfKey(row.key)(v) + (row.values[i].n < sides[i].of.length ? ` (n ${row.values[i].n})` : ""),
	];
	const both = (row) => has(row.values[g].difference);
	const columns = [
		["Value", (row) => valueName(row.key), String, "text", { tip: (row) => row.key }],
		side(0),
		side(g),
		[
			"Difference",
			(row) => (both(row) ? row.values[g].difference : null),
			(v, row) => (v > 0 ? "+" : v < 0 ? "−" : "") + formatOfKey(row.key)(Math.abs(v)),
			"roomy",
		],
		[
			"Relative",
			(row) => (both(row) ? Math.abs(relativeOf(row.values[g])) : null),
			(v, row) => relativeText(row.values[g]),
			"",
			{ bar: "relative", kind: (row) => sideOfCentre(row.values[g]) },
		],
	];
	if (hasTest)
		columns.push(["Chance", (row) => row.values[g].p_corrected, (v, row) => chanceText(row.values[g]), "text"]);
	return columns;
}

function addTable(place, caption, columns, by, list) {
	const table = el("table", "");
	const scroll = el("div", "scroll", table);
	scroll.setAttribute("role", "region");
	scroll.setAttribute("aria-label", caption);
	place.append(scroll);
	const sorted = new SortedTable(table, columns, caption, by);
	sorted.items = list;
	return sorted;
}

function valuesTable(place, caption, g, list) {
	const sorted = addTable(place, caption, valueColumns(g), 4, list);
	sorted.limit = Infinity;
	sorted.show();
}

function showGroup(g) {
	const changed = rowsIn(g, isChange),
		same = rowsIn(g, (state) => !isChange(state));
	const verdict = changed.length ? verdictOf(g) : `${sides[g].title} against ${sides[0].title}: no value changed.`;
	if (sides.length > 2) byId("changed").append(el("h3", "side", verdict));
	if (changed.length) valuesTable(byId("changed"), `Values of ${sides[g].title} that changed`, g, changed);
	else if (sides.length === 2) byId("changed").append(el("p", "quiet", "No value."));
	if (!same.length) return;
	const states = new Map();
	for (const row of same) states.set(row.state, (states.get(row.state) || 0) + 1);
	const fold = el(
		"details",
		"fold",
		el(
			"summary",
			"",
			el("b", "", sides.length > 2 ? `What did not change: ${sides[g].title}` : "What did not change"),
			el(
				"span",
				"quiet",
				` ${several(same.length, "value", "values")}: ${[...states].map(([state, n]) => `${count(n)} ${state}`).join(", ")}`,
			),
		),
	);
	byId("same").append(fold);
	valuesTable(fold, `Values of ${sides[g].title} that did not change`, g, same);
}

// Formats a fact of a group: one text, or the number of different ones.
function differingText(key, texts) {
	const name = key.slice(key.lastIndexOf(".") + 1);
	if (!texts.length) return missing;
	if (texts.length > 1) return `${count(texts.length)} different ones`;
	const v = texts[0] !== "" && Number.isFinite(Number(texts[0])) ? Number(texts[0]) : texts[0];
	if (/^[0-9a-f]{40,64}$/.test(v)) return v.slice(0, 12);
	return visible(/_(bytes|seconds|time)$/.test(name) ? factText(name, v) : texts[0]);
}

// A fact that only repeats the names of the sides is no news.
const isNews = ({ values }) => values.some((texts, i) => texts.length !== 1 || texts[0] !== sides[i].title);

function showFacts() {
	const list = Object.entries(comparison.changed)
		.map(([key, values]) => ({ key, values }))
		.filter(isNews);
	byId("facts-none").hidden = list.length > 0;
	if (!list.length) return;
	const name = ({ key }) =>
		key.startsWith("tags.") ? `Tag ${visible(key.slice(5))}` : keyText(key.slice(key.lastIndexOf(".") + 1));
	const table = new SortedTable(
		byId("facts-table"),
		[
			["Fact", name, String, "text", { tip: (fact) => visible(fact.key) }],
			...sides.map((side, i) => [side.title, (fact) => differingText(fact.key, fact.values[i]), String, "text wide"]),
		],
		"Facts that differ",
		0,
	);
	table.down = false;
	table.limit = Infinity;
	table.show(list);
}

// The resources of two sides for each phase, program or span.
function stepColumns(g) {
	const { kind, keys } = data.steps;
	const name = kind.charAt(0).toUpperCase() + kind.slice(1);
	const of = (row, key, i) => row.values[key]?.[i] || {};
	const values = keys.flatMap((key) => {
		const format = formatOfKey(key),
			title = { cpu_seconds: "CPU", wall_seconds: "Wall", rss_peak_bytes: "Peak" }[key] || valueName(key);
		return [
			...[0, g].map((i) => [`${title}, ${sides[i].title}`, (row) => of(row, key, i).median, format]),
			[
				`${title}, relative`,
				(row) => (has(of(row, key, g).difference) ? Math.abs(relativeOf(of(row, key, g))) : null),
				(v, row) => relativeText(of(row, key, g)),
				"",
				{ bar: `relative ${key}`, kind: (row) => sideOfCentre(of(row, key, g)) },
			],
		];
	});
	const text = (row) => visible(row.name || "(no name)");
	return [[name, text, String, "text wide", { tip: text }], ...values];
}

function showSteps() {
	const { kinds, list, left_out } = data.steps;
	const place = byId("steps");
	place.hidden = false;
	byId("steps-title").textContent = kinds.charAt(0).toUpperCase() + kinds.slice(1);
	if (!list.length) place.append(el("p", "quiet", `The runs have no ${kinds}.`));
	for (let g = 1; list.length && g < sides.length; g++) {
		const caption = `${sides[g].title} against ${sides[0].title}`;
		place.append(el("h3", "side", caption));
		const table = addTable(place, `${kinds}: ${caption}`, stepColumns(g), 1, list);
		table.growing(STEPS_SHOWN);
		table.show();
	}
	if (left_out) place.append(el("p", "quiet", `${count(left_out)} more ${kinds} are not listed.`));
}

// For two sides, the verdict; for more, their names, since verdicts then stand with the values.
function titleOfAll() {
	const [first, ...others] = sides.map((side) => side.title);
	const shown = others.slice(0, 3).join(", ");
	const more = others.length > 3 ? ` and ${several(others.length - 3, "other", "others")}` : "";
	return sides.length === 2 ? verdictOf(1) : `${shown}${more} against ${first}`;
}

function showComparison() {
	byId("verdict").textContent = visible(titleOfAll());
	document.title = `${byId("verdict").textContent.slice(0, 80)} – bpfmon comparison`;
	for (let g = 1; g < sides.length; g++) showGroup(g);
	if (data.steps) showSteps();
	showFacts();
}
