// SPDX-License-Identifier: BSD-2-Clause
// The head: name, command, tags, one sentence on the run, and what is incomplete.
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

// Returns how the run ended, and the class of that.
function endText() {
	if (data.running) return [`running, ${seconds(lastSample)} so far`, "live"];
	if (summary.limit?.ended) return [`ended by a limit, ${visible(summary.limit.limit)}`, "bad"];
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
	if (data.cut && !data.running)
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
	if (data.answer.limit)
		notice("bad", summary.limit.ended ? "Ended by a limit." : "Beyond a limit.", `${data.answer.limit}.`);
	if (summary.oom_kills) notice("bad", "Out of memory.", oomText(summary.oom || {}, summary.oom_kills));
}

function oomText(oom, kills) {
	const victim = oom.is_command ? "the command itself" : (oom.comm || "a process") + (oom.pid ? ` (${oom.pid})` : "");
	const limit = oom.limit_bytes ? `, the limit of ${oom.cgroup} is ${bytes(oom.limit_bytes)}` : "";
	const held = oom.rss_bytes ? ` holding ${bytes(oom.rss_bytes)}` : "";
	return `The kernel killed ${victim}${held}${limit}` + (kills > 1 ? `; ${count(kills)} kills in all` : "") + ".";
}

function endClause() {
	const { attached, limit } = summary;
	if (attached) return null;
	if (limit?.ended) return `was ended by the limit ${visible(limit.limit)}`;
	return data.answer.end || "its end was not recorded";
}

// One sentence: duration unless @isTimed, load, memory, and how the run ended.
function sentence(isTimed) {
	const s = summary,
		{ used } = data.answer;
	const peak = data.answer.peak_bytes;
	const held = has(peak) ? `held up to ${bytes(peak)} of memory` : null;
	const parts = [used && `used ${used} on average`, held].filter(Boolean);
	if (data.running) return `It is running, and in ${seconds(lastSample)} it ${parts.join(" and ")}.`;
	const took = isTimed ? null : `${s.attached ? "followed" : "ran"} for ${seconds(s.wall_seconds ?? wall)}`;
	const [first, ...more] = [took, ...parts, endClause()].filter(Boolean);
	if (!first) return "";
	const text = more.length ? `${[first, ...more.slice(0, -1)].join(", ")}, and ${more.at(-1)}.` : `${first}.`;
	return text.charAt(0).toUpperCase() + text.slice(1);
}

// What slowed the run down: the sentence of the summary in a terminal.
function slowdown() {
	const { slowdown: text } = data.answer;
	byId("slowdown").hidden = !text;
	if (text) byId("slowdown").append(`${visible(text)}.`);
	return !!text;
}

function longCommand(text) {
	const button = el("button", "", "Show the whole command");
	button.type = "button";
	button.addEventListener("click", () => byId("command").replaceChildren(text));
	byId("command").append(text.slice(0, COMMAND_SHOWN) + "… ", button);
}

// The name of the run, else of its command.
function titleText() {
	if (has(meta.name) && meta.name !== "") return visible(meta.name);
	const [program] = Array.isArray(meta.command) ? meta.command : [];
	if (program) return visible(lastPart(program));
	return meta.attached ? "Running processes" : "A command";
}

// Describes a stall: its duration, and what the run waits for.
function stalledText({ since_time, reason }) {
	const now = meta.start_time + lastSample;
	const time = since_time ? ` for ${seconds(Math.max(0, now - since_time))}` : "";
	return `stalled${time}${reason ? `: ${visible(reason)}` : ""}`;
}

function chips() {
	const [end, kind] = endText();
	byId("chips").append(el("span", `end ${kind}`, end));
	if (data.stalled) byId("chips").append(el("span", "end bad stalled", stalledText(data.stalled)));
	if (!summary.complete && !data.running) byId("chips").append(el("span", "end bad", "incomplete"));
	for (const [key, value] of Object.entries(meta.tags || {})) {
		const text = factText("", value);
		byId("chips").append(el("span", "chip", el("span", "quiet", `${visible(key)} `), visible(text)));
	}
}

function header() {
	const command = commandText();
	const title = titleText();
	document.title = `${title.slice(0, 80)} – bpfmon report`;
	byId("title").append(title);
	if (meta.note) byId("title").after(el("p", "note-of-run", visible(meta.note)));
	if (command.length > COMMAND_SHOWN) longCommand(command);
	else byId("command").append(command);
	const when = new Date((meta.start_time || 0) * 1000);
	const parts = [
		meta.user && `${meta.user}@${meta.host}`,
		when.toISOString().replace("T", " ").slice(0, 19) + " UTC",
		meta.cwd && `in ${meta.cwd}`,
	];
	chips();
	byId("sentence").append(sentence(slowdown()));
	byId("where").append(parts.filter(Boolean).map(visible).join(" · "));
	notices();
	tiles();
}
