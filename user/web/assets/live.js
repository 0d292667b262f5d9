// SPDX-License-Identifier: BSD-2-Clause
// The served page of a run: updates it while it is running, edits name, tags and note, and offers exports.
"use strict";

const LIVE_WINDOW = 300; // seconds shown of a long run, unless the user selects others
const LIVE_AGAIN = 2000; // ms after a refusal, which a browser does not retry
const WINDOW_AFTER = 100; // ms without a change of the zoom
const LIVE_ROWS = 20000; // per chart; the page is then reloaded, which thins them
const runAddress = location.pathname;
const isOfNode = runAddress.startsWith("/node/");
const live = { source: null, frame: 0, span: Infinity, range: null, stale: false, timer: 0, windows: [], coarse: null };

// Returns the sum of the curves of a chart whose curves are all stacked.
const sumAt = (chart, i) => Object.values(chart.columns).reduce((sum, column) => sum + (column[i] || 0), 0);

// Adds a row to a chart. Values of curves that the chart lacks appear after a reload.
function growChart(name, row) {
	const chart = data.charts[name];
	if (!chart || row.time <= (chart.time.at(-1) ?? -1)) return;
	chart.time.push(row.time);
	for (const columns of [chart.columns, chart.least, chart.most])
		for (const [key, column] of Object.entries(columns || {}))
			column.push(row[key] ?? (key === "sum" ? sumAt(chart, chart.time.length - 1) : null));
	runReaches(row.time);
	live.stale ||= chart.time.length > LIVE_ROWS;
}

// Updates totals, which only grow, and peaks of other values.
function growSummary(sample) {
	for (const [key, value] of Object.entries(sample))
		if (has(summary[key]) && value > summary[key]) summary[key] = value;
	summary.wall_seconds = sample.elapsed_seconds;
	if (sample.elapsed_seconds > 0) summary.cores_mean = summary.cpu_seconds / sample.elapsed_seconds;
	summary.cores_peak = Math.max(summary.cores_peak ?? 0, sample.cores ?? 0);
	if (sample.rss_bytes > (summary.rss_peak_bytes ?? 0)) {
		summary.rss_peak_bytes = sample.rss_bytes;
		summary.rss_peak_elapsed_seconds = sample.elapsed_seconds;
	}
	data.answer.peak_bytes = Math.max(data.answer.peak_bytes ?? 0, sample.rss_bytes ?? 0);
	data.samples++;
}

// A range that ends at the latest sample moves along, unless the user moved it away.
function slide(before) {
	const isMoved = live.range && (view.from !== live.range[0] || view.to !== live.range[1]);
	if (isMoved) live.span = view.to < before ? null : view.from <= 0 ? Infinity : view.to - view.from;
	view.latest = live.span === LIVE_WINDOW ? Math.max(0, wall - live.span) : null;
	if (has(live.span)) showRange(Math.max(0, wall - live.span), wall, true);
	else showRange(view.from, view.to, true);
	live.range = [view.from, view.to];
}

function drawGrown(before) {
	for (const chart of drawn) if (data.charts[chart.kind.name]) chart.plot.setData(plotData(chart), false);
	slide(before);
	drawOverview();
	tiles();
	byId("chips").replaceChildren();
	chips();
	byId("sentence").replaceChildren(sentence());
}

function onSample(event) {
	const said = JSON.parse(event.data);
	live.before ??= wall;
	for (const [name, row] of Object.entries(said.charts)) growChart(name, row);
	growSummary(said.sample);
	data.stalled = said.stalled;
	if (live.stale) return location.reload();
	live.frame ||= requestAnimationFrame(() => {
		live.frame = 0;
		drawGrown(live.before);
		live.before = null;
	});
}

// The browser repeats the id of the last sample after a lost connection, so the stream continues there.
function follow() {
	const after = Math.floor(lastSample * 1e6) * 1000;
	live.source = new EventSource(`${runAddress}/live?after=${after}`);
	live.source.addEventListener("message", onSample);
	for (const name of ["end", "reload"])
		live.source.addEventListener(name, () => {
			live.source.close();
			if (isOfNode && name === "end") setTimeout(endJob, LIVE_AGAIN);
			else location.reload();
		});
	live.source.addEventListener("open", () => liveState("Charts and totals follow the run. Tables are as of"));
	live.source.addEventListener("error", () => {
		liveState("The connection is lost, and is tried again. As of");
		if (live.source.readyState === EventSource.CLOSED) setTimeout(follow, LIVE_AGAIN);
	});
}

// Only the history keeps jobs that have ended; without a history this page is all there is.
async function endJob() {
	const answer = await fetch(runAddress, { method: "HEAD" }).catch(() => null);
	if (answer?.ok) location.reload();
	else liveState("The job has ended, and the node has kept nothing of it. As of");
}

function liveState(text) {
	byId("live-state").textContent = `${text} ${clock(lastSample)} of the run.`;
}

// Replaces the rows of a chart that end later than @from and not later than @to by those of a window.
function refineChart(chart, fine, from, to) {
	const start = chart.time.findIndex((t) => t > from),
		after = chart.time.findIndex((t) => t > to);
	if (start < 0) return;
	const replaced = (after < 0 ? chart.time.length : after) - start;
	const sums = fine.time.map((_, i) => sumAt(fine, i));
	chart.time.splice(start, replaced, ...fine.time);
	for (const part of ["columns", "least", "most"])
		for (const [key, column] of Object.entries(chart[part] || {})) {
			const values = fine[part]?.[key] ?? fine.columns[key] ?? (key === "sum" ? sums : fine.time.map(() => null));
			column.splice(start, replaced, ...values);
		}
}

// Puts the rows of a window into the charts, in place of the steps that the page came with.
function refine(window_, from, to) {
	shareTimes(window_.charts);
	live.coarse ||= structuredClone(data.charts);
	const isFull = !data.running && Object.values(data.charts).some((c) => c.time.length > LIVE_ROWS);
	if (isFull) live.windows = [];
	for (const [name, chart] of Object.entries(data.charts)) {
		if (isFull) refineChart(chart, live.coarse[name], -1, Infinity);
		refineChart(chart, window_.charts[name], from, to);
	}
	for (const chart of drawn)
		if (chart.kind.data === data.charts[chart.kind.name]) chart.plot.setData(plotData(chart), false);
	live.windows.push({ from, to, each: Math.max(...Object.values(window_.charts).map((c) => c.each)) });
	showRange(view.from, view.to, true);
}

// Returns the window that has all samples of the visible range, or as many as it can have.
const windowInView = () =>
	live.windows.findLast(
		(w) => w.from <= view.from && w.to >= view.to && (w.each === 1 || w.to - w.from <= 2 * (view.to - view.from)),
	);

// Fetches the samples of the visible range, from step to step.
async function fetchWindow() {
	const times = Object.values(data.charts)[0].time,
		first = times.findIndex((t) => t > view.from),
		last = times.findIndex((t) => t >= view.to);
	const from = times[first - 1] ?? 0,
		to = times[last] ?? wall;
	const answer = await fetch(`${runAddress}/window?${new URLSearchParams({ from, to })}`).catch(() => null);
	if (answer?.ok) refine(await answer.json(), from, to);
}

// A zoomed page shows samples instead of steps of several.
function followZoom() {
	const each = Math.max(...Object.values(data.charts).map((c) => c.each));
	if (each <= 1) return;
	view.listeners.push(() => {
		const shown = windowInView();
		clearTimeout(live.timer);
		sayThinned(shown && !isWhole() ? shown.each : each);
		if (!shown && !isWhole()) live.timer = setTimeout(fetchWindow, WINDOW_AFTER);
	});
	showRange(view.from, view.to, true);
}

async function sendEdit(event) {
	const form = new FormData(byId("edit"));
	const words = new URLSearchParams();
	event.preventDefault();
	for (const key of ["name", "note"]) if (form.get(key) !== (meta[key] ?? "")) words.set(key, form.get(key));
	for (const tag of form.get("tags").split(/\s+/).filter(Boolean)) words.append("tag", tag);
	for (const key of Object.keys(meta.tags || {}))
		if (!words.getAll("tag").some((tag) => tag.startsWith(`${key}=`))) words.append("tag", `${key}=`);
	const answer = await fetch(`${runAddress}/edit`, { method: "POST", body: words });
	if (answer.ok) location.reload();
	else byId("edit-said").textContent = visible(await answer.text());
}

function labelledInput(label, name, value) {
	const input = el("input", "");
	input.name = name;
	input.value = value;
	input.autocomplete = "off";
	return el("label", "", label, input);
}

function editForm() {
	const tags = Object.entries(meta.tags || {}).map(([key, value]) => `${key}=${value}`);
	const button = el("button", "", "Save");
	const said = el("p", "bad", "");
	said.id = "edit-said";
	const form = el(
		"form",
		"controls",
		labelledInput("Name", "name", meta.name ?? ""),
		labelledInput("Tags", "tags", tags.join(" ")),
		labelledInput("Note", "note", meta.note ?? ""),
		button,
		said,
	);
	form.id = "edit";
	form.addEventListener("submit", sendEdit);
	return form;
}

async function offerDownloads(place) {
	const formats = await (await fetch("/formats.json")).json();
	for (const format of formats) {
		const link = el("a", "", format.name + (format.part && ` ${format.part}`));
		link.href = `${runAddress}/export?${new URLSearchParams({ format: format.name, part: format.part })}`;
		link.title = format.help;
		link.download = "";
		place.append(link);
	}
}

function serveControls() {
	const back = el("a", "", isOfNode ? "All jobs" : "All runs");
	const downloads = el("p", "", "Download: ");
	const state = el("p", "", "");
	back.href = isOfNode ? "/?of=node" : "/";
	state.id = "live-state";
	downloads.id = "downloads";
	const more = el(
		"details",
		"",
		el("summary", "", isOfNode ? "Download" : "Edit, download"),
		data.running || isOfNode ? null : editForm(),
		downloads,
	);
	more.id = "serve";
	more.addEventListener("toggle", () => offerDownloads(downloads), { once: true });
	document.querySelector(".tools").prepend(back);
	document.querySelector("header.top").append(state, more);
	byId("made-by").textContent = `bpfmon ${data.version} serve, run ${visible(data.source)}.`;
}

addEventListener("DOMContentLoaded", () => {
	serveControls();
	followZoom();
	if (!data.running) return;
	if (data.held) {
		memoryChoice.byHolder = false;
		addCharts(chartKinds.filter((kind) => kind.name === "memory"));
	}
	if (wall > LIVE_WINDOW && isWhole()) live.span = LIVE_WINDOW;
	slide(wall);
	follow();
});
