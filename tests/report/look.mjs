// SPDX-License-Identifier: BSD-2-Clause
// Opens a page in headless Chromium, does what stdin says, and writes what came of it as JSON.
//
// Usage: node look.mjs PAGE.html <<<'[{"do": "text", "of": "h1"}, ...]'
//   Each step is one of the actions below.
//   CHROMIUM  the browser's path (default /usr/bin/chromium)
//
// Result: {"open_ms": ..., "problems": [console errors], "requests": [those that left the page],
//          "results": [one for each step]}
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";

const steps = JSON.parse(readFileSync(0, "utf8"));
const url = `file://${process.argv[2]}`;
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--disable-dev-shm-usage", ...(process.getuid() ? [] : ["--no-sandbox"])],
});
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
const problems = [],
	requests = [];

page.on("pageerror", (error) => problems.push(String(error)));
page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
page.on("request", (request) => request.url() !== url && requests.push(request.url()));

const over = (chart) => page.locator(`[data-chart=${chart}] .u-over`);

// What the legend of a chart says: its moment, and each curve's value.
async function legend(chart) {
	const place = page.locator(`[data-chart=${chart}]`);
	const curves = await place
		.locator(".curve")
		.evaluateAll((all) => all.map((b) => [b.dataset.key, b.querySelector("b").textContent]));
	return { when: await place.locator(".when").textContent(), ...Object.fromEntries(curves) };
}

const actions = {
	text: (s) => page.locator(s.of).first().innerText(),
	texts: (s) => page.locator(s.of).allInnerTexts(),
	count: (s) => page.locator(s.of).count(),
	attribute: (s) => page.locator(s.of).first().getAttribute(s.name),
	title: () => page.title(),
	legend: (s) => legend(s.chart),
	global: (s) => page.evaluate((name) => String(window[name]), s.name),
	click: (s) => page.locator(s.of).first().click(),
	select: (s) => page.locator(s.of).selectOption(s.value),
	fill: (s) => page.locator(s.of).fill(s.value),
	press: async (s) => {
		await page.locator(s.of).first().focus();
		await page.keyboard.press(s.key);
	},
	// what runs in the page although its policy does not know it
	inject: (s) =>
		page.evaluate((code) => {
			const script = document.createElement("script");
			script.textContent = code;
			document.head.append(script);
		}, s.code),
	range: () => page.evaluate(() => drawn.map((c) => [c.plot.scales.x.min, c.plot.scales.x.max])),
	// the time of the cursor, and the value of each curve where its dot is
	dots: (s) =>
		page.evaluate((name) => {
			const { plot } = drawn.find((c) => c.kind.name === name);
			return plot.cursor.idxs.map((at, i) => (at === null ? null : plot.data[i][at]));
		}, s.chart),
	// the bars of the lanes of spans, and the rows that have no bar
	bars: () =>
		page.evaluate(() => ({
			bars: spanLanes.drawn.map((at) => ({
				id: at.span.id,
				lane: at.lane,
				...spanBox(at, byId("span-lanes").clientWidth),
			})),
			rest: spanLanes.rest.length,
		})),
	// the pointer on the bar of the span of that number; a click, if that is asked for
	bar: async (s) => {
		const canvas = page.locator("#span-lanes");
		await canvas.scrollIntoViewIfNeeded();
		const at = await page.evaluate((id) => {
			const box = spanBox(
				spanLanes.drawn.find((d) => d.span.id === id),
				byId("span-lanes").clientWidth,
			);
			return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
		}, s.id);
		const place = await canvas.boundingBox();
		await page.mouse.move(place.x + at.x, place.y + at.y);
		if (s.click) await page.mouse.click(place.x + at.x, place.y + at.y);
	},
	style: (s) =>
		page
			.locator(s.of)
			.first()
			.evaluate((e, name) => getComputedStyle(e)[name], s.name),
	width: () => page.evaluate(() => document.documentElement.scrollWidth),
	natural: (s) => page.locator(s.of).evaluate((e) => e.naturalWidth),
	// what the keyboard reaches and a screen reader has no name for
	unnamed: () =>
		page.evaluate(() =>
			[...document.querySelectorAll("button, select, input, [tabindex]")]
				.filter(
					(e) =>
						!e.textContent.trim() &&
						!e.labels?.length &&
						!e.getAttribute("aria-label") &&
						!e.getAttribute("aria-labelledby"),
				)
				.map((e) => e.outerHTML),
		),
	focused: () => page.evaluate(() => document.activeElement.id || document.activeElement.className),
	scheme: (s) => page.emulateMedia({ colorScheme: s.value }),
	// the cursor at a share of the width of a chart
	cursor: async (s) => {
		await over(s.chart).scrollIntoViewIfNeeded();
		const box = await over(s.chart).boundingBox();
		await page.mouse.move(box.x + box.width * s.at, box.y + box.height / 2);
	},
	zoom: async (s) => {
		await over(s.chart).scrollIntoViewIfNeeded();
		const box = await over(s.chart).boundingBox();
		await page.mouse.move(box.x + box.width * s.from, box.y + 20);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * s.to, box.y + 20, { steps: 5 });
		await page.mouse.up();
	},
	screenshot: (s) => page.screenshot({ path: s.path, fullPage: s.full ?? true }).then(() => s.path),
	viewport: (s) => page.setViewportSize({ width: s.width, height: s.height }),
	pdf: (s) => page.pdf({ path: s.path, format: "A4" }).then(() => s.path),
};

const started = performance.now();
const results = [];
await page.goto(url);
// two frames: what is drawn is on the screen
await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const open_ms = performance.now() - started;
for (const step of steps) results.push((await actions[step.do](step)) ?? null);
await browser.close();
console.log(JSON.stringify({ open_ms, problems, requests, results }));
