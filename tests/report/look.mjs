// SPDX-License-Identifier: BSD-2-Clause
// Opens pages in headless Chromium, does what lines of stdin say, and writes what came of each as a line of JSON.
//
// Usage: node look.mjs <<<'{"page": "/tmp/page.html", "steps": [{"do": "text", "of": "h1"}, ...]}'
//   Each step is one of the actions below; each line has a browser of its own, as far as a page can see.
//   CHROMIUM  the browser's path (default /usr/bin/chromium)
//
// Result: {"open_ms": ..., "problems": [console errors], "requests": [those that left the page],
//          "results": [one for each step]}, or {"error": ...}
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
	args: ["--disable-dev-shm-usage", ...(process.getuid() ? [] : ["--no-sandbox"])],
});
let page;

// Notes the texts that are drawn on a canvas, for "covering".
function noteTexts() {
	const { fillText } = CanvasRenderingContext2D.prototype;
	window.written = [];
	CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
		if (text) window.written.push({ canvas: this.canvas, text, x, y });
		return fillText.call(this, text, x, y, ...rest);
	};
}

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
	until: (s) =>
		page
			.locator(s.of)
			.filter({ hasText: new RegExp(s.like) })
			.first()
			.innerText(),
	title: () => page.title(),
	legend: (s) => legend(s.chart),
	durations: (s) => page.evaluate((all) => all.map((ns) => bpfmon.seconds(ns / 1e9)), s.ns),
	global: (s) => page.evaluate((name) => String(window[name]), s.name),
	click: (s) => page.locator(s.of).first().click(),
	select: (s) => page.locator(s.of).selectOption(s.value),
	fill: (s) => page.locator(s.of).fill(s.value),
	press: async (s) => {
		await page.locator(s.of).first().focus();
		await page.keyboard.press(s.key);
	},
	press_here: (s) => page.keyboard.press(s.key),
	// what runs in the page although its policy does not know it
	inject: (s) =>
		page.evaluate((code) => {
			const script = document.createElement("script");
			script.textContent = code;
			document.head.append(script);
		}, s.code),
	// those of them that are on the curves of a chart, and elements that lie there
	covering: () =>
		page.evaluate(() => {
			const found = [];
			for (const { plot } of bpfmon.charts) {
				const { left, top, width, height } = plot.bbox;
				for (const t of window.written)
					if (t.canvas === plot.ctx.canvas && t.x > left && t.x < left + width && t.y > top && t.y < top + height)
						found.push(t.text);
				const box = plot.over.getBoundingClientRect();
				for (const e of document.querySelectorAll(".head *, .lane *, .axis *")) {
					const at = e.getBoundingClientRect();
					const isOver =
						at.right > box.left && at.left < box.right && at.bottom > box.top + 1 && at.top < box.bottom - 1;
					if (isOver && e.textContent) found.push(e.textContent);
				}
			}
			return found;
		}),
	// pairs of elements that overlap by more than a pixel
	overlaps: (s) =>
		page.locator(s.of).evaluateAll((all) =>
			all
				.map((e) => [e.textContent, e.getBoundingClientRect()])
				.flatMap(([text, a], i, list) =>
					list
						.slice(i + 1)
						.filter(
							([, b]) => a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1,
						)
						.map(([other]) => [text, other]),
				),
		),
	// texts whose contrast with what is behind them is less than WCAG's AA wants: those of elements, on a cell's bar if it
	// has one, and those that are drawn on the bars of lanes
	faint: () =>
		page.evaluate(() => {
			const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
			const pixel = (colour, behind) => {
				probe.fillStyle = behind;
				probe.fillRect(0, 0, 1, 1);
				probe.fillStyle = colour;
				probe.fillRect(0, 0, 1, 1);
				return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
			};
			const css = (rgb) => `rgb(${rgb.join(",")})`;
			// a bar is a gradient: what colour it is says an element that has it as its own
			const barOf = (e) => {
				const probe = e.appendChild(document.createElement("i"));
				probe.style.background = "var(--bar)";
				const colour = getComputedStyle(probe).backgroundColor;
				probe.remove();
				return colour;
			};
			const own = (e) => (e.classList.contains("part") ? barOf(e) : getComputedStyle(e).backgroundColor);
			const behind = (e) => (e ? css(pixel(own(e), behind(e.parentElement))) : "#fff");
			const light = (rgb) =>
				rgb
					.map((v) => v / 255)
					.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
					.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
			const faint = [];
			const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
			for (let node = walker.nextNode(); node; node = walker.nextNode()) {
				const e = node.parentElement;
				if (
					!node.textContent.trim() ||
					!e.checkVisibility() ||
					e.closest("script, style, noscript, :disabled, .unseen, svg")
				)
					continue;
				const ground = behind(e),
					style = getComputedStyle(e);
				const [a, b] = [light(pixel(style.color, ground)), light(pixel(ground, ground))].sort((x, y) => y - x);
				const isLarge = parseFloat(style.fontSize) >= 24;
				if ((a + 0.05) / (b + 0.05) < (isLarge ? 3 : 4.5))
					faint.push(`${node.textContent.slice(0, 40)} ${style.color} ${ground}`);
			}
			for (const canvas of document.querySelectorAll(".lanes canvas")) {
				const ground = behind(canvas);
				for (const colour of [...bpfmon.ink.series, bpfmon.ink.text]) {
					const strong = (hex) => `rgb(from ${hex} r g b / 0.35)`;
					const [a, b] = [light(pixel(bpfmon.ink.mark, ground)), light(pixel(strong(colour), ground))].sort(
						(x, y) => y - x,
					);
					if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(`a label on ${colour} in lanes on ${ground}`);
				}
			}
			return [...new Set(faint)];
		}),
	address: () => page.evaluate(() => location.hash),
	back: () => page.goBack().then(() => null),
	forward: () => page.goForward().then(() => null),
	tops: () => page.evaluate(() => Object.fromEntries(bpfmon.charts.map((c) => [c.kind.name, c.plot.scales.y.max]))),
	plots: () =>
		page.evaluate(() => bpfmon.charts.map((c) => [c.kind.name, c.plot.over.clientWidth, c.plot.over.clientHeight])),
	lefts: (s) => page.locator(s.of).evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left)),
	// a drag along the strip, from one share of its width to another, by mouse or by finger
	brush: async (s) => {
		const strip = page.locator("#brush");
		await strip.scrollIntoViewIfNeeded();
		const box = await strip.boundingBox();
		const at = (share) => ({ x: box.x + box.width * share, y: box.y + box.height / 2 });
		if (s.finger) {
			const wire = await page.context().newCDPSession(page);
			const touch = (type, ...points) => wire.send("Input.dispatchTouchEvent", { type, touchPoints: points });
			await touch("touchStart", at(s.from));
			for (let i = 1; i <= 5; i++) await touch("touchMove", at(s.from + ((s.to - s.from) * i) / 5));
			await touch("touchEnd");
		} else {
			await page.mouse.move(at(s.from).x, at(s.from).y);
			await page.mouse.down();
			await page.mouse.move(at(s.to).x, at(s.to).y, { steps: 5 });
			await page.mouse.up();
		}
	},
	range: () => page.evaluate(() => bpfmon.charts.map((c) => [c.plot.scales.x.min, c.plot.scales.x.max])),
	// the time of the cursor, and the value of each curve where its dot is
	dots: (s) =>
		page.evaluate((name) => {
			const { plot } = bpfmon.charts.find((c) => c.kind.name === name);
			return plot.cursor.idxs.map((at, i) => (at === null ? null : plot.data[i][at]));
		}, s.chart),
	// the share of a chart's plot that is drawn opaque
	strong: (s) =>
		page.evaluate((name) => {
			const { plot } = bpfmon.charts.find((c) => c.kind.name === name);
			const { left, top, width, height } = plot.bbox;
			const pixels = plot.ctx.getImageData(left, top, width, height).data;
			let opaque = 0;
			for (let i = 3; i < pixels.length; i += 4) opaque += pixels[i] > 128;
			return opaque / (width * height);
		}, s.chart),
	// the bars of the lanes of spans, and how many have none
	bars: () =>
		page.evaluate(() => ({
			bars: bpfmon.spans.drawn.map((at) => ({ id: at.item.id, lane: at.lane, ...bpfmon.spans.barOf(at) })),
			rest: bpfmon.spans.rest.length,
		})),
	// the same of processes; of the lanes of a program that is open, with its row
	lives: (s) =>
		page.evaluate((of) => {
			const { drawn, rest, paint, label } = of ? document.querySelector(of).closest(".row").lanes : bpfmon.processes;
			const bars = drawn.map(({ item, lane }) => ({
				pid: item.p.pid,
				lane,
				start: item.start,
				end: item.end,
				label: label(item),
				...paint(item),
			}));
			return { bars, rest: rest.length };
		}, s.of),
	// the pointer on the bar of the span of that number; a click, if that is asked for
	bar: async (s) => {
		const canvas = page.locator("#span-lanes");
		await canvas.scrollIntoViewIfNeeded();
		const at = await page.evaluate((id) => {
			const box = bpfmon.spans.barOf(bpfmon.spans.drawn.find((d) => d.item.id === id));
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
	// elements that scroll by themselves, by their selector and in which direction
	scrolling: () =>
		page.evaluate(() =>
			[...document.querySelectorAll("main *")]
				.filter((e) =>
					["auto", "scroll"].some((v) => [getComputedStyle(e).overflowX, getComputedStyle(e).overflowY].includes(v)),
				)
				.map((e) => ({
					of: e.className,
					sideways: e.scrollWidth > e.clientWidth,
					down: e.scrollHeight > e.clientHeight + 1,
					focusable: e.tabIndex === 0,
				})),
		),
	// where an element is on the screen
	box: (s) => page.locator(s.of).first().boundingBox(),
	scroll: (s) =>
		page
			.locator(s.of)
			.first()
			.evaluate((e, left) => e.scrollTo(left, 0), s.left),
	hover: (s) => page.locator(s.of).first().hover(),
	focused_text: () => page.evaluate(() => document.activeElement.innerText),
	// how much of each cell its bar takes
	parts: (s) => page.locator(s.of).evaluateAll((all) => all.map((e) => Number(e.style.getPropertyValue("--part")))),
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
	// the page is told of it before it draws its next picture
	scheme: async (s) => {
		await page.emulateMedia({ colorScheme: s.value });
		await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
	},
	// the cursor at a share of the width of a chart
	cursor: async (s) => {
		await over(s.chart).scrollIntoViewIfNeeded();
		const box = await over(s.chart).boundingBox();
		await page.mouse.move(box.x + box.width * s.at, box.y + box.height / 2);
	},
	away: () => page.mouse.move(1, 1),
	zoom: async (s) => {
		await over(s.chart).scrollIntoViewIfNeeded();
		const box = await over(s.chart).boundingBox();
		await page.mouse.move(box.x + box.width * s.from, box.y + 20);
		await page.mouse.down();
		await page.mouse.move(box.x + box.width * s.to, box.y + 20, { steps: 5 });
		await page.mouse.up();
	},
	screenshot: (s) => page.screenshot({ path: s.path, fullPage: s.full ?? true }).then(() => s.path),
	// charts take their new size a frame after the page
	viewport: async (s) => {
		await page.setViewportSize({ width: s.width, height: s.height });
		await frames();
	},
	pdf: (s) => page.pdf({ path: s.path, format: "A4" }).then(() => s.path),
};

// Two frames: what is drawn is on the screen.
function frames() {
	return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function look({ page: path, steps }) {
	const url = path.startsWith("http:") ? path : `file://${path}`, // it may end in #FRAGMENT
		problems = [],
		requests = [],
		results = [];
	page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: "light" });
	page.on("pageerror", (error) => problems.push(String(error)));
	page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
	page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
	page.on("request", (request) => request.url() !== url && requests.push(request.url()));
	if (steps.some((s) => s.do === "covering")) await page.addInitScript(noteTexts);
	const started = performance.now();
	await page.goto(url);
	await frames();
	const open_ms = performance.now() - started;
	// a report draws the rest when its first screen has been shown
	if (await page.evaluate(() => !!window.bpfmon && !!document.getElementById("stage")))
		await page.waitForSelector("html[data-drawn]");
	for (const step of steps) results.push((await actions[step.do](step)) ?? null);
	return { open_ms, problems, requests, results };
}

for await (const line of createInterface({ input: process.stdin })) {
	const said = await look(JSON.parse(line)).catch((error) => ({ error: String(error.stack) }));
	console.log(JSON.stringify(said));
	await page.close();
}
await browser.close();
