// SPDX-License-Identifier: BSD-2-Clause
// The list of runs: filters in the address, pages, and selection of runs to compare.
"use strict";

const PAGE = 50;
const CALM = 400; // ms after the last key
const AGAIN = 2000; // ms between updates while a listed run is running
// Runs of the user, or jobs of the node. Jobs are identified by the run UUID, which the agent and its history share.
const ofNode = new URLSearchParams(location.search).get("of") === "node";
const refOf = (run) => (ofNode ? run.run : run.ref);
const list = { offset: 0, chosen: new Set(), runs: [], timer: 0, asked: 0, sparks: new Map() };

function listQuery() {
	const query = new URLSearchParams(ofNode ? { of: "node" } : {});
	for (const [key, value] of new FormData(byId("filters"))) if (value.trim()) query.set(key, value.trim());
	return query;
}

// Each word is searched for.
function listRequest() {
	const query = listQuery();
	const words = (query.get("search") || "").split(/\s+/).filter(Boolean);
	query.delete("search");
	for (const word of words) query.append("search", word);
	query.set("offset", list.offset);
	query.set("limit", PAGE);
	return `/runs.json?${query}`;
}

// Describes a stall: its duration, and what the run waits for.
function stalledOf(run) {
	const { since_time, reason } = run.stalled;
	const time = since_time ? ` for ${seconds(Math.max(0, Date.now() / 1000 - since_time))}` : "";
	return `stalled${time}${reason ? `: ${visible(reason)}` : ""}`;
}

function stateOf(run) {
	if (run.state === "running")
		return [`running, ${seconds(Math.max(0, Date.now() / 1000 - run.start_time))} so far`, "live"];
	if (run.state === "ended") return [run.state, has(run.exit_code) ? "good" : "plain"];
	if (has(run.signal)) return [run.state === "signal" ? `signal ${run.signal}` : run.state, "bad"];
	return [run.exit_code ? `${run.state}, exit ${run.exit_code}` : run.state, "bad"];
}

function chooser(run) {
	const box = el("input", "");
	box.type = "checkbox";
	box.checked = list.chosen.has(refOf(run));
	box.disabled = list.isNow;
	box.setAttribute("aria-label", `Choose run ${refOf(run)}`);
	box.addEventListener("change", () => {
		list.chosen[box.checked ? "add" : "delete"](refOf(run));
		showChosen();
	});
	return box;
}

function whatOf(run) {
	const link = el("a", "", run.name ? visible(run.name) : `run ${visible(run.ref)}`);
	link.href = `/${ofNode ? "node" : "runs"}/${encodeURIComponent(refOf(run))}`;
	const tags = Object.entries(run.tags || {}).map(([key, value]) =>
		el("span", "chip", el("span", "quiet", `${visible(key)} `), visible(value)),
	);
	const beside = ofNode ? [run.job, run.user].filter(Boolean).join(", ") : run.ref;
	const head = el("div", "", link, el("span", "quiet", ` ${visible(beside)} `), ...tags);
	const note = run.note ? el("div", "note", visible(run.note)) : null;
	return el("td", "what", head, note, run.command ? el("div", "command", visible(run.command).slice(0, 400)) : null);
}

function labelled(label, className, ...texts) {
	const cell = el("td", className, ...texts);
	cell.dataset.label = label;
	return cell;
}

const boundSigns = { at_most: "\u2264 ", at_least: "\u2265 " };

/* Shows the memory needed; for running or old runs, resident memory. */
function memoryText(run) {
	if (has(run.memory_needed_bytes)) return (boundSigns[run.memory_needed_bound] ?? "") + bytes(run.memory_needed_bytes);
	const resident = run.rss_peak_bytes ?? run.rss_bytes;
	return has(resident) ? `RSS ${bytes(resident)}` : missing;
}

const startedText = (at) => `${new Date(at * 1000).toISOString().replace("T", " ").slice(0, 16)} UTC`;

function ageText(at) {
	const age = Math.max(0, Date.now() / 1000 - at);
	if (age < 60) return "now";
	if (age < 5400) return `${Math.round(age / 60)} min ago`;
	return age < 129600 ? `${Math.round(age / 3600)} h ago` : `${count(Math.round(age / 86400))} days ago`;
}

const SPARK = { width: 96, height: 22 };

// Cores in use over the time of the run, from 0 to one core or the most in use: what rests is flat.
function spark(values) {
	const most = Math.max(...values);
	const full = Math.max(1, most);
	const at = (v, i) =>
		`${((i * SPARK.width) / values.length).toFixed(1)} ${(SPARK.height * (1 - v / full)).toFixed(1)}`;
	const line = values.map((v, i) => `${at(v, i)}L${at(v, i + 1)}`).join("L");
	const [drawing, path] = ["svg", "path"].map((name) => document.createElementNS("http://www.w3.org/2000/svg", name));
	drawing.setAttribute("viewBox", `0 0 ${SPARK.width} ${SPARK.height}`);
	drawing.setAttribute("role", "img");
	drawing.setAttribute("aria-label", `up to ${cores(most)} cores`);
	path.setAttribute("d", `M0 ${SPARK.height}L${line}L${SPARK.width} ${SPARK.height}Z`);
	drawing.append(path);
	return drawing;
}

function showSparks() {
	for (const row of byId("runs").tBodies[0].rows) {
		const values = list.sparks.get(row.dataset.run);
		if (values) row.querySelector(".trend").replaceChildren(spark(values));
	}
}

// Fetches the curves of the runs listed that are not known yet, or still grow.
async function fetchSparks() {
	const wanted = ofNode ? [] : list.runs.filter((run) => run.state === "running" || !list.sparks.has(refOf(run)));
	const query = new URLSearchParams(wanted.map((run) => ["run", refOf(run)]));
	if (wanted.length) {
		const answer = await fetch(`/sparks.json?${query}`);
		if (answer.ok) for (const [ref, values] of Object.entries(await answer.json())) list.sparks.set(ref, values);
	}
	showSparks();
}

// The jobs of now come in one piece, which is sorted here.
const sortValues = {
	name: (a, b) => String(a.name).localeCompare(String(b.name)),
	cpu: (a, b) => (b.cpu_seconds ?? -1) - (a.cpu_seconds ?? -1),
	memory: (a, b) => (b.rss_bytes ?? -1) - (a.rss_bytes ?? -1),
	wall: (a, b) => a.start_time - b.start_time,
	"": (a, b) => b.start_time - a.start_time,
};

const sortField = () => byId("filters").elements.namedItem("sort");

function showOrder() {
	const sort = list.isNow && !(sortField().value in sortValues) ? "" : sortField().value;
	for (const head of byId("runs").tHead.rows[0].cells)
		if (has(head.dataset.sort)) {
			if (head.dataset.sort === sort)
				head.setAttribute("aria-sort", head.dataset.sort === "name" ? "ascending" : "descending");
			else head.removeAttribute("aria-sort");
		}
}

// Makes the titles of columns that lists can be sorted by buttons.
function heads() {
	for (const head of byId("runs").tHead.rows[0].cells) {
		if (!has(head.dataset.sort)) continue;
		const button = el("button", "", head.textContent);
		button.type = "button";
		button.addEventListener("click", () => {
			sortField().value = head.dataset.sort;
			onFilter();
		});
		head.replaceChildren(button);
	}
}

function rowOf(run) {
	const [text, kind] = stateOf(run);
	const row = el(
		"tr",
		"",
		el("td", "", chooser(run)),
		whatOf(run),
		el("td", "state", el("span", `end ${kind}`, text), run.stalled ? el("div", "stalled", stalledOf(run)) : null),
		labelled("cores", "trend"),
		labelled("wall", "number left", has(run.wall_seconds) ? seconds(run.wall_seconds) : missing),
		labelled("CPU", "number", seconds(run.cpu_seconds)),
		labelled("memory", "number left", memoryText(run)),
		labelled("processes", "number", count(run.processes_total)),
		labelled("age", "started", ageText(run.start_time), el("div", "quiet", startedText(run.start_time))),
	);
	row.dataset.run = refOf(run);
	return row;
}

function showChosen() {
	const n = list.chosen.size;
	byId("compare").disabled = n < 2;
	byId("compare").textContent = n ? `Compare ${n} ${n === 1 ? "run" : "runs"}` : "Compare";
}

function countText(said, last) {
	if (list.isNow)
		return `${count(said.total)} ${said.total === 1 ? "job" : "jobs"} now; the agent keeps none that have ended.`;
	const what = (ofNode ? "job" : "run") + (said.total === 1 ? "" : "s");
	if (!said.total) return `No ${ofNode ? "job" : "run"} has these.`;
	return `${count(list.offset + 1)} to ${count(last)} of ${count(said.total)} ${what}`;
}

function showRuns(said) {
	const last = Math.min(list.offset + PAGE, said.total);
	list.runs = said.runs;
	list.isNow = !!said.now;
	for (const run of list.runs) if (said.stalls?.[run.run]) run.stalled = said.stalls[run.run].stalled;
	byId("memory").firstChild.textContent = list.isNow ? "Memory" : "Memory needed";
	if (list.isNow) said.runs.sort(sortValues[sortField().value] ?? sortValues[""]);
	showOrder();
	byId("places").hidden = !said.has_agent && !ofNode;
	byId("filters").hidden = byId("pages").hidden = list.isNow;
	byId("runs").tBodies[0].replaceChildren(...said.runs.map(rowOf));
	byId("notices").replaceChildren(...(said.said ? [el("p", "notice bad", visible(said.said))] : []));
	byId("count").textContent = countText(said, last);
	byId("before").disabled = !list.offset;
	byId("after").disabled = last >= said.total;
	showSparks();
}

// Repeats after a time proportional to the duration of the request, as long lists are expensive.
async function fetchRuns() {
	const asked = ++list.asked;
	const began = performance.now();
	clearTimeout(list.timer);
	try {
		const answer = await fetch(listRequest());
		if (asked !== list.asked) return;
		if (answer.headers.get("Content-Type")?.includes("json")) {
			showRuns(await answer.json());
			await fetchSparks();
		} else byId("notices").replaceChildren(el("p", "notice bad", visible(await answer.text())));
	} catch {
		byId("notices").replaceChildren(el("p", "notice bad", "bpfmon serve does not answer; is it running?"));
	}
	const isMoving = list.runs.some((run) => run.state === "running");
	const took = performance.now() - began;
	list.timer = setTimeout(fetchRuns, Math.max(isMoving ? AGAIN : 5 * AGAIN, 20 * took));
}

function onFilter() {
	list.offset = 0;
	const query = listQuery();
	history.replaceState(null, "", query.size ? `/?${query}` : "/");
	fetchRuns();
}

function turnPage(by) {
	list.offset = Math.max(0, list.offset + by * PAGE);
	fetchRuns();
	scrollTo(0, 0);
}

function filtersOfAddress() {
	for (const [key, value] of new URLSearchParams(location.search)) {
		const field = byId("filters").elements.namedItem(key);
		if (field) field.value = value;
		if (field && byId("more").contains(field)) byId("more").open = true;
	}
}

function theme() {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	const set = (isDark) => {
		document.documentElement.dataset.theme = isDark ? "dark" : "light";
		byId("theme").setAttribute("aria-pressed", String(isDark));
	};
	set(dark.matches);
	dark.addEventListener("change", (event) => set(event.matches));
	byId("theme").addEventListener("click", () => set(document.documentElement.dataset.theme !== "dark"));
}

addEventListener("DOMContentLoaded", () => {
	let calm = 0;
	theme();
	heads();
	filtersOfAddress();
	byId("filters").addEventListener("submit", (event) => event.preventDefault());
	byId("filters").addEventListener("input", () => {
		clearTimeout(calm);
		calm = setTimeout(onFilter, CALM);
	});
	byId("before").addEventListener("click", () => turnPage(-1));
	byId("after").addEventListener("click", () => turnPage(1));
	byId("compare").addEventListener("click", () => {
		const runs = [...list.chosen].map((ref) => ["run", ref]);
		location.href = `/compare?${new URLSearchParams(ofNode ? [["of", "node"], ...runs] : runs)}`;
	});
	byId("places").children[ofNode ? 1 : 0].setAttribute("aria-current", "page");
	if (ofNode) byId("heading").textContent = document.title = "Jobs of this node";
	showChosen();
	fetchRuns();
	// update the times of running runs between requests
	setInterval(() => {
		for (const run of list.runs.filter((r) => r.state === "running")) {
			const row = [...byId("runs").tBodies[0].rows].find((r) => r.dataset.run === refOf(run));
			if (row) [row.querySelector(".end").textContent] = stateOf(run);
			if (row && run.stalled) row.querySelector(".stalled").textContent = stalledOf(run);
		}
	}, 1000);
});
