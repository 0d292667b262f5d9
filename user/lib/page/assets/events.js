// SPDX-License-Identifier: BSD-2-Clause
// Events: a lane of flags above the charts, and a table.
"use strict";

// The text of a flag ends before the next flag, and is omitted if there is no room.
function redrawFlags() {
	const lane = byId("flags"),
		width = lane.clientWidth || 800;
	const shown = timedEvents().filter((e) => e.event !== "mark" && e.at >= view.from && e.at <= view.to);
	lane.replaceChildren(
		...shown.map((e, i) => {
			const room = ((i + 1 < shown.length ? share(shown[i + 1].at) : 1) - share(e.at)) * width - 14;
			const flag = el("span", `flag${grave.includes(e.event) ? " bad" : ""}`, el("i", ""));
			if (room > 24) flag.append(el("span", "", eventLabel(e)));
			flag.style.left = `${share(e.at) * 100}%`;
			flag.style.maxWidth = `${Math.max(10, room + 12)}px`;
			flag.title = `${clock(e.at, 0.001)} ${eventLabel(e)}`;
			return flag;
		}),
	);
}

// Times in which the run stood still, as [from, to].
function stalls() {
	const list = [];
	for (const e of timedEvents()) {
		if (e.event === "stalled" && has(e.since_time)) list.push([e.since_time - meta.start_time, wall]);
		else if (e.event === "resumed" && list.length) list.at(-1)[1] = e.at;
	}
	return list;
}

function drawStalls(u) {
	const { ctx, bbox } = u;
	ctx.save();
	ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--warn-ground");
	for (const [from, to] of stalls()) {
		const x = Math.max(bbox.left, u.valToPos(from, "x", true)),
			end = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
		if (end > x) ctx.fillRect(x, bbox.top, end - x, bbox.height);
	}
	ctx.restore();
}

function eventFlags() {
	if (!timedEvents().some((e) => e.event !== "mark")) return;
	byId("flags").hidden = false;
	underlays.push(drawStalls);
	view.listeners.push(redrawFlags);
	new ResizeObserver(redrawFlags).observe(byId("flags"));
}

function limitDetail(e) {
	const most = e.pid ? `, most of it in ${e.comm || "a process"} (${e.pid})` : "";
	return `${e.limit}: ${factText(`value_${e.unit}`, e.value)}${most}${e.ended ? "; it ended the run" : ""}`;
}

function eventDetail(e) {
	if (e.event === "oom_kill") return oomText(e, 1);
	if (e.event === "limit") return limitDetail(e);
	if (e.event === "stalled") return e.reason || "the reason is not known";
	return Object.entries(e)
		.filter(([key]) => !["kind", "time", "elapsed_seconds", "event", "at"].includes(key))
		.map(([key, v]) => (key === "text" ? v : `${key.replace(/_/g, " ")} ${factText(key, v)}`))
		.join(", ");
}

function events() {
	const list = [...timedEvents()];
	if (data.missing)
		list.push({
			at: data.missing.from[0],
			event: "missing samples",
			text: `${data.missing.text}: bpfmon did not get a CPU in time`,
		});
	const table = new SortedTable(
		byId("events-table"),
		[
			["Time", (e) => e.at, (v) => clock(v, 0.001)],
			["Event", (e) => e.event, (v) => visible(v).replace(/_/g, " "), "text"],
			["What", eventDetail, visible, "text whole"],
		],
		"Events",
		0,
	);
	table.growing(FIRST_ROWS);
	table.down = false;
	table.show(list);
	const more = Object.entries(data.event_counts).filter(([name, n]) => n > list.filter((e) => e.event === name).length);
	if (more.length)
		byId("events").append(
			el(
				"p",
				"quiet",
				"Only the first of these are listed: " + visible(more.map(([name, n]) => `${name} (${count(n)})`).join(", ")),
			),
		);
}
