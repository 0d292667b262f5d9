// SPDX-License-Identifier: BSD-2-Clause
// The controls of a page: light and dark, print, and the zoom back to the whole run.
"use strict";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

function setTheme(dark) {
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	byId("theme").setAttribute("aria-pressed", String(dark));
	redrawCharts();
	for (const listener of view.listeners) listener();
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
		setTheme(false);
	});
	addEventListener("afterprint", () => setTheme(before));
}

function zoomControls() {
	byId("reset-zoom").addEventListener("click", () => showRange(0, wall));
	addEventListener("keydown", (event) => {
		if (event.key === "Escape") showRange(0, wall);
	});
}
