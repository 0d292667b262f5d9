// SPDX-License-Identifier: BSD-2-Clause
// The legend above a chart: values at the cursor or the largest ones, limits and peaks; and the keys of a chart.
"use strict";

// Returns the largest value of the visible range.
function largestOf(values, time) {
	let at = -1;
	values.forEach((v, i) => {
		if (has(v) && (at < 0 || v > values[at]) && time[i] >= view.from && time[i] <= view.to) at = i;
	});
	return at < 0 ? null : { value: values[at], time: time[at] };
}

// Finds the largest values of a chart. Those of stacked curves do not include the curves below.
function findLargest(chart) {
	for (const c of chart.curves) c.largest = largestOf(c.most || c.values, chart.time);
	chart.sum = largestOf(chart.kind.data.most?.sum || [], chart.time);
}

// Some curves have a unit of their own. A pushed curve without a value at a time shows its previous one.
const formatOf = (kind, curve) => curve.format || kind.format;
const valueAt = (curve, i) => (curve.filled || curve.values)[i];

// Shows the values at the cursor, or the largest of each curve without a cursor.
function showValues(chart) {
	const { plot, curves, time } = chart;
	const i = plot.cursor.idx;
	const inside = has(i) && has(plot.cursor.left) && plot.cursor.left >= 0;
	const mark = inside && timedEvents().findLast((e) => e.event === "mark" && e.at <= time[i]);
	const moment = (at) => clock(at, (view.to - view.from) / 1000);
	chart.when.textContent = inside
		? `${i && isMean(chart, i) ? `${moment(time[i - 1])} to` : "at"} ${moment(time[i])}${mark ? `, ${eventLabel(mark)}` : ""}`
		: isWhole()
			? "largest"
			: "largest here";
	for (const c of curves) {
		const format = formatOf(chart.kind, c),
			value = inside ? valueAt(c, i) : c.largest?.value;
		const most = inside && c.how !== "stacked" && c.most?.[i];
		const upTo = most > value && format(most) !== format(value) ? `, up to ${format(most)}` : "";
		c.output.textContent = format(value) + upTo;
	}
	showBeside(chart, inside);
}

const BESIDE = 14; // pixels from the cursor

// Shows the values of the chart below the pointer next to it, too.
function showBeside(chart, inside) {
	const { over, cursor } = chart.plot;
	showBeside.tip ||= el("div", "tip beside");
	const { tip } = showBeside;
	if (!inside || !over.matches(":hover")) {
		if (tip.chart === chart) tip.hidden = true;
		return;
	}
	const shown = chart.curves.filter((c) => c.shown ?? c.how !== "hidden");
	tip.textContent = [chart.when.textContent, ...shown.map((c) => `${c.label} ${c.output.textContent}`)].join("\n");
	tip.setAttribute("aria-hidden", "true"); // the legend has the same
	tip.hidden = false;
	tip.chart = chart;
	if (!tip.parentNode) document.body.append(tip);
	const { left, top } = over.getBoundingClientRect(),
		at = left + cursor.left,
		isLeft = at + BESIDE + tip.offsetWidth > document.documentElement.clientWidth;
	tip.style.left = `${Math.max(4, isLeft ? at - BESIDE - tip.offsetWidth : at + BESIDE) + scrollX}px`;
	tip.style.top = `${top + scrollY + 4}px`;
}

function legend(chart) {
	const list = el("div", "legend");
	const isThinned = chart.curves.some((c) => c.most);
	chart.when = el("span", `when quiet${isThinned ? " wide" : ""}`);
	list.append(chart.when);
	for (const c of chart.curves) {
		const swatch = el("i", `swatch s${c.colour}${c.how === "dashed" ? " dashed" : ""}`);
		c.output = el("b", c.most && c.how !== "stacked" ? "wide" : ""); // room for two values
		const button = el("button", "curve", swatch, c.label + " ", c.output);
		button.type = "button";
		button.dataset.key = c.key;
		button.title = "Show or hide";
		button.setAttribute("aria-pressed", String(c.how !== "hidden"));
		button.addEventListener("click", () => {
			const shown = button.getAttribute("aria-pressed") !== "true";
			button.setAttribute("aria-pressed", String(shown));
			c.shown = shown;
			chart.plot.setSeries(c.index, { show: shown });
		});
		list.append(button);
	}
	for (const l of chart.limits) list.append(limitButton(chart, l));
	for (const p of chart.notes) list.append(el("span", "note", el("i", `sign ${p.sign}`), p.text));
	return list;
}

function limitButton(chart, limit) {
	limit.button = el("button", "curve", el("i", "sign dotted"), `${limit.label} `, el("b", "", limit.text));
	limit.button.type = "button";
	limit.button.dataset.key = limit.key;
	limit.button.title = "Show or hide";
	limit.button.addEventListener("click", () => {
		limit.isAsked = !limit.isShown;
		buildPlot(chart);
	});
	return limit.button;
}

function describe(chart) {
	const parts = chart.curves.map((c) =>
		c.largest ? `${c.label} up to ${formatOf(chart.kind, c)(c.largest.value)} at ${clock(c.largest.time)}` : c.label,
	);
	return `${chart.kind.title}, ${chart.kind.what}: ${parts.join("; ")}`;
}

// Arrow keys move the cursor of all charts from sample to sample.
function onKey(chart, event) {
	const { plot, time } = chart;
	const middle = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : (view.from + view.to) / 2;
	const width = view.to - view.from;
	if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
		let i = has(plot.cursor.idx) && plot.cursor.left >= 0 ? plot.cursor.idx : nearest(time, view.from);
		i = Math.max(0, Math.min(time.length - 1, i + (event.key === "ArrowRight" ? 1 : -1) * (event.shiftKey ? 10 : 1)));
		drawn.forEach((c) => {
			c.plot.setCursor({ left: c.plot.valToPos(time[i], "x"), top: PLOT_HEIGHT / 3 });
			showValues(c);
		});
		byId("announced").textContent =
			`${clock(time[i], (view.to - view.from) / 1000)}: ` +
			chart.curves.map((c) => `${c.label} ${formatOf(chart.kind, c)(valueAt(c, i))}`).join(", ");
	} else if (event.key === "+" || event.key === "=") {
		showRange(middle - width / 4, middle + width / 4);
	} else if (event.key === "-") {
		showRange(middle - width, middle + width);
	} else {
		return;
	}
	event.preventDefault();
}
