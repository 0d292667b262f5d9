// SPDX-License-Identifier: BSD-2-Clause
// The facts of a run: folded groups whose heading shows the most important ones.
"use strict";

// Returns rows of all members except those in @placed.
const factsOf = (object, placed = []) =>
	Object.entries(object || {})
		.filter(([key]) => !placed.includes(key))
		.map(([key, v]) => [keyText(key), factText(key, v)]);

function addFacts(title, gist, list) {
	const known = list.filter(([, v]) => has(v) && v !== "");
	if (!known.length) return;
	const facts = known.map(([name, v]) => el("div", "", el("dt", "", visible(name)), el("dd", "", visible(v))));
	byId("facts").append(
		el(
			"details",
			"fold",
			el("summary", "", el("b", "", title), " ", el("span", "quiet", visible(gist.filter(Boolean).join(" · ")))),
			el("dl", "facts", ...facts),
		),
	);
}

// Keys that are shown elsewhere on the page; all others are listed under their names.
const placedMeta = [
	"kind",
	"schema",
	"version",
	"command",
	"start_time",
	"interval_seconds",
	"units",
	"capabilities",
	"tags",
	"note",
];
const partsOfMeta = ["system", "limits", "container", "scheduler", "git", "user", "uid", "host", "name", "job", "run"];

function runFacts() {
	const start = has(meta.start_time) && isDate(meta.start_time) ? dateText(meta.start_time) : null,
		end = has(summary.wall_seconds) && start ? dateText(meta.start_time + summary.wall_seconds) : null;
	const tags = factText("tags", meta.tags || {}),
		user = has(meta.user) ? `${meta.user}${has(meta.uid) ? ` (${meta.uid})` : ""}` : null;
	addFacts(
		"Run",
		[start, has(meta.user) ? `by ${meta.user}` : null, meta.cwd && `in ${meta.cwd}`],
		[
			["Name", meta.name],
			["Job", meta.job],
			["Tags", tags],
			["User", user],
			["Host", meta.host],
			["Started", start],
			["Ended", end],
			["Took", has(summary.wall_seconds) ? withoutZeros(seconds(summary.wall_seconds)) : null],
			...factsOf(meta, [...placedMeta, ...partsOfMeta]),
			["Processes that outlived it", has(summary.outlived) ? count(summary.outlived) : null],
			["UUID", meta.run],
		],
	);
}

function machineFacts() {
	const system = meta.system || {},
		since = meta.start_time - system.boot_time;
	const booted =
		has(system.boot_time) && isDate(system.boot_time)
			? dateText(system.boot_time) + (since > 0 ? `, ${seconds(since)} before the run` : "")
			: null;
	addFacts(
		"Machine",
		[
			meta.host,
			system.cpu_model,
			has(system.cpus) ? `${count(system.cpus)} ${system.cpus === 1 ? "CPU" : "CPUs"}` : null,
			has(system.memory_bytes) ? withoutZeros(bytes(system.memory_bytes)) : null,
			system.kernel,
		],
		[...factsOf(system, ["boot_time"]), ["Booted", booted]],
	);
}

function recordingFacts() {
	const self = summary.self,
		every = has(meta.interval_seconds) ? withoutZeros(seconds(meta.interval_seconds)) : null;
	addFacts(
		"Recording",
		[
			meta.version && `bpfmon ${meta.version}`,
			every && `a sample every ${every}`,
			self && `cost ${seconds(self.cpu_seconds)} of CPU`,
		],
		[
			["Recorded by", meta.version && `bpfmon ${meta.version}`],
			["Format", meta.schema?.replace("/", ", version ")],
			["Interval", every],
			["Samples", count(data.samples)],
			["Events", data.events.length ? count(data.events.length) : "none: no OOM kill either"],
			["CPU time of bpfmon itself", self ? seconds(self.cpu_seconds) : null],
			["Memory of bpfmon itself", self ? bytes(self.rss_bytes) : null],
			["Read from", data.source],
		],
	);
}

function missingMetrics() {
	const list = Object.entries(meta.capabilities || {}).filter(([, c]) => c && !c.available);
	if (!list.length) {
		byId("facts").append(el("p", "quiet", "Every requested metric could be read."));
		return;
	}
	addFacts(
		"Not measured",
		[
			list.length === 1 ? "1 metric" : `${count(list.length)} metrics`,
			list
				.map(([key]) => key)
				.join(", ")
				.slice(0, 120),
		],
		list.map(([key, c]) => [key, c.reason || "no reason recorded"]),
	);
	byId("facts").lastChild.classList.add("reasons");
}

function facts() {
	const { limits, container, scheduler, git } = meta;
	const gist = (part, keys) => keys.map((key) => part?.[key]).filter((v) => typeof v === "string");
	const most = limits?.memory_max_bytes;
	runFacts();
	machineFacts();
	addFacts(
		"Limits",
		[
			has(most) ? `memory ${withoutZeros(bytes(most))}` : "none on memory",
			has(limits?.cpu_max_cores) ? `${limits.cpu_max_cores} cores` : "none on CPU time",
		],
		factsOf(limits),
	);
	addFacts("Container", gist(container, ["engine", "name", "image"]), factsOf(container));
	addFacts("Scheduler", gist(scheduler, Object.keys(scheduler || {})).slice(0, 3), factsOf(scheduler));
	addFacts(
		"Revision",
		[...gist(git, ["branch"]), ...gist(git, ["revision"]).map((text) => text.slice(0, 12))],
		factsOf(git),
	);
	recordingFacts();
	missingMetrics();
}
