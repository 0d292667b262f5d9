// SPDX-License-Identifier: BSD-2-Clause
// Controls of a page: theme, printing, zoom in the address, and reset of the zoom.
"use strict";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(dark) {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(dark));
	redrawCharts();
	for (const listener of view.listeners) listener();
}

// Draws the rest after the first screen is visible, or before printing. The timeout is for hidden pages, which have
// no frames.
function afterFirstScreen(draw) {
	const once = () => {
		if (document.documentElement.dataset.drawn) return;
		document.documentElement.dataset.drawn = "all";
		draw();
	};
	requestAnimationFrame(() => setTimeout(once));
	setTimeout(once, 1000);
	addEventListener("beforeprint", once);
}

function themeControls() {
	const isDark = () => document.documentElement.dataset.theme === "dark";
	let before = false;
	document.documentElement.dataset.theme = prefersDark.matches ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(prefersDark.matches));
	byId("theme").addEventListener("click", () => setTheme(!isDark()));
	prefersDark.addEventListener("change", (event) => setTheme(event.matches));
	addEventListener("beforeprint", () => {
		before = isDark();
		document.body.classList.add("paper"); // charts are drawn at their printed width
		setTheme(false);
	});
	addEventListener("afterprint", () => {
		document.body.classList.remove("paper");
		setTheme(before);
	});
}

// Parses #t=FROM,TO in seconds. Returns null if the address names a part of the page.
function rangeOfAddress() {
	const [, from, to] = /^#t=(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(location.hash) || [];
	if (to) return [Number(from), Number(to)];
	return location.hash ? null : [0, wall];
}

function addressOfRange() {
	const short = (v) => String(Number(v.toFixed(6)));
	return location.href.split("#")[0] + (isWhole() ? "" : `#t=${short(view.from)},${short(view.to)}`);
}

// The zoom is part of the address, so that it can be sent or bookmarked, and the browser's buttons go back and
// forth.
function rangeInAddress() {
	const take = (range) => range && showRange(...range, true);
	if (location.hash) take(rangeOfAddress());
	view.chosen = () => {
		const address = addressOfRange();
		if (address === location.href) return;
		try {
			history.pushState(null, "", address);
		} catch {
			view.chosen = null; // a page in a frame may have no history
		}
	};
	addEventListener("popstate", () => take(rangeOfAddress()));
}

function zoomControls() {
	rangeInAddress();
	byId("reset-zoom").addEventListener("click", () => showRange(0, wall));
	addEventListener("keydown", (event) => {
		if (event.key === "Escape") showRange(0, wall);
	});
}
