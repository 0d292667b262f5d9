// SPDX-License-Identifier: BSD-2-Clause
// The command, how it ended, what is incomplete, and the main figures.
"use strict";

const signalNames = {
	1: "HUP",
	2: "INT",
	3: "QUIT",
	4: "ILL",
	6: "ABRT",
	7: "BUS",
	8: "FPE",
	9: "KILL",
	11: "SEGV",
	13: "PIPE",
	14: "ALRM",
	15: "TERM",
	24: "XCPU",
	25: "XFSZ",
	31: "SYS",
};
const COMMAND_SHOWN = 400;

const signalText = (n) => (signalNames[n] ? `SIG${signalNames[n]}` : `signal ${n}`);

function shellWord(word) {
	const text = visible(word);
	return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

function commandText() {
	if (Array.isArray(meta.command) && meta.command.length) return meta.command.map(shellWord).join(" ");
	if (meta.attached) return "attached to running processes";
	return "a command whose arguments were not recorded (--no-args)";
}

function endText() {
	if (summary.attached) return ["attached", "plain"];
	if (has(summary.signal)) return [`killed by ${signalText(summary.signal)}`, "bad"];
	if (has(summary.exit_code)) return [`exit ${summary.exit_code}`, summary.exit_code ? "bad" : "good"];
	return ["exit status unknown", "bad"];
}

function notice(kind, title, text) {
	byId("notices").append(el("p", `notice ${kind}`, el("strong", "", title), " " + visible(text)));
}

function notices() {
	const losses = Object.entries(summary.losses || {});
	if (data.cut)
		notice(
			"bad",
			"Cut short.",
			`${summary.reason || "the file ends within a line"}; this report ends at ${clock(lastSample)}.`,
		);
	if (!summary.complete && !(data.cut && !losses.length)) {
		const lost = losses.map(([name, n]) => `${name} ${count(n)}`).join(", ");
		notice("bad", "Incomplete.", [summary.reason, lost && `lost: ${lost}`].filter(Boolean).join("; "));
	}
	if (data.unreadable)
		notice("bad", "Partly unreadable.", `${count(data.unreadable)} lines of the file are not JSON and were skipped.`);
	if (summary.oom_kills) notice("bad", "Out of memory.", oomText(summary.oom || {}, summary.oom_kills));
}

function oomText(oom, kills) {
	const victim = oom.is_command ? "the command itself" : `${oom.comm || "a process"} (${oom.pid})`;
	const limit = oom.limit_bytes ? `, the limit of ${oom.cgroup} is ${bytes(oom.limit_bytes)}` : "";
	const held = oom.rss_bytes ? ` holding ${bytes(oom.rss_bytes)}` : "";
	return `The kernel killed ${victim}${held}${limit}` + (kills > 1 ? `; ${count(kills)} kills in all` : "") + ".";
}

function memoryFigure() {
	const s = summary;
	const at = (v) => (has(v) ? ` at ${clock(v)}` : "");
	if (has(s.rss_peak_exact_bytes))
		return [bytes(s.rss_peak_exact_bytes), "exact peak, resident" + at(s.rss_peak_exact_elapsed_seconds)];
	if (has(s.rss_peak_upper_bytes) && s.rss_peak_upper_bytes > s.rss_peak_bytes * 1.01)
		return [bytes(s.rss_peak_bytes), `to ${bytes(s.rss_peak_upper_bytes)} resident (bounds)`];
	if (s.marks_reset) return [bytes(s.rss_peak_bytes), "or more, resident; a high-water mark was reset"];
	return [bytes(s.rss_peak_bytes), "resident" + at(s.rss_peak_elapsed_seconds)];
}

function figures() {
	const s = summary;
	const cpus = meta.system?.cpus;
	const largest = largestProcess();
	const rows = [
		[
			"Wall time",
			[
				seconds(s.wall_seconds),
				`${count(data.samples)} samples, every ${withoutZeros(seconds(meta.interval_seconds))}`,
			],
		],
		["CPU time", [seconds(s.cpu_seconds), `user ${seconds(s.user_seconds)}, system ${seconds(s.system_seconds)}`]],
		["Cores", [cores(s.cores_mean), `on average; peak ${cores(s.cores_peak)}, of ${has(cpus) ? cpus : missing}`]],
		["Peak memory", memoryFigure()],
		["Largest process", [bytes(s.process_rss_peak_bytes), largest ? `${largest.name} (${largest.pid})` : ""]],
		["Storage", [bytes(s.write_bytes), `written; ${bytes(s.read_bytes)} read`]],
		["Page faults", [count(s.minflt), `minor; ${count(s.majflt)} major`]],
		["Processes", [count(s.processes_total), `${count(s.execs)} execs`]],
	];
	if (has(s.cgroup_peak_bytes)) rows.splice(4, 0, ["Cgroup peak", [bytes(s.cgroup_peak_bytes), "page cache included"]]);
	for (const [name, [value, more]] of rows)
		byId("figures").append(
			el("div", "figure", el("dt", "", name), el("dd", "", el("b", "", value), el("span", "", more))),
		);
}

function longCommand(text) {
	const button = el("button", "", "Show the whole command");
	button.type = "button";
	button.addEventListener("click", () => byId("command").replaceChildren(text));
	byId("command").append(text.slice(0, COMMAND_SHOWN) + "… ", button);
}

function header() {
	const command = commandText();
	const [end, kind] = endText();
	document.title = command.slice(0, 80) + " – bpfmon report";
	if (command.length > COMMAND_SHOWN) longCommand(command);
	else byId("command").append(command);
	const when = new Date((meta.start_time || 0) * 1000);
	const parts = [
		meta.name,
		meta.user && `${meta.user}@${meta.host}`,
		when.toISOString().replace("T", " ").slice(0, 19) + " UTC",
		meta.cwd && `in ${meta.cwd}`,
	];
	byId("where").append(
		el("span", `end ${kind}`, end),
		el(
			"span",
			`end ${summary.complete ? "good" : "bad"}`,
			summary.complete ? "complete: nothing was lost" : "incomplete",
		),
		parts.filter(Boolean).map(visible).join(" · "),
	);
	notices();
	figures();
}
