// SPDX-License-Identifier: BSD-2-Clause
// Bars over time in lanes on one canvas, for spans or processes. Overlapping bars are in different lanes.
"use strict";

const LANES = 40; // items beyond these are drawn as their number over time
const LANES_HEIGHT = 320;
const LANE_HEIGHT = 20; // of few lanes
const LABEL_HEIGHT = 14; // lower lanes have no labels
const REST_HEIGHT = 24;
const DENSITY_STEPS = 240;

// Counts the @members alive in each step of the visible range.
function density(members, steps = DENSITY_STEPS) {
	const change = new Array(steps + 1).fill(0);
	for (const m of members) {
		const first = Math.floor(share(m.start) * steps),
			last = Math.floor(share(m.end) * steps);
		if (last < 0 || first >= steps) continue;
		change[Math.max(0, first)]++;
		change[Math.min(steps, last + 1)]--;
	}
	let alive = 0;
	return change.slice(0, steps).map((d) => (alive += d));
}

// Places blocks, sorted by start, into the first rows that are free for their height. Returns the number of rows.
// Blocks that do not fit into @most rows are omitted.
function packBlocks(blocks, most) {
	const free = [];
	for (const b of blocks) {
		let y = 0;
		for (let i = 0; i < b.height && y + i < most; i++)
			if (free[y + i] > b.start) {
				y += i + 1;
				i = -1;
			}
		b.y = y + b.height <= most ? y : null;
		if (b.y === null) continue;
		for (let i = 0; i < b.height; i++) free[y + i] = b.end;
	}
	return free.length;
}

function takeBlocks(blocks, top, drawn) {
	for (const b of blocks.filter((b) => b.y !== null)) {
		drawn.push({ item: b.item, lane: top + b.y });
		takeBlocks(b.inner, top + b.y + 1, drawn);
	}
}

// Creates the times and events of the visible range, for rows of @width pixels.
function timeTrack(width) {
	const axis = el("span", "track axis");
	const most = Math.max(2, Math.floor(width / 110));
	const step = timeSteps.find((s) => (view.to - view.from) / s <= most) || timeSteps.at(-1);
	for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
		const tick = el("span", "tick", clock(t, step));
		tick.style.left = `${share(t) * 100}%`;
		if (share(t) > 0.97) tick.classList.add("last");
		axis.append(tick);
	}
	for (const e of timedEvents().filter((e) => e.at >= view.from && e.at <= view.to)) {
		const moment = el("span", `moment ${grave.includes(e.event) ? "bad" : ""}`);
		moment.style.left = `${share(e.at) * 100}%`;
		moment.title = `${clock(e.at, 0.001)} ${eventLabel(e)}`;
		axis.append(moment);
	}
	return axis;
}

// Creates a canvas with its axis above, and a description of the selected item below.
function lanesPlace(label) {
	const canvas = el("canvas", "");
	canvas.tabIndex = 0;
	canvas.setAttribute("role", "application");
	canvas.setAttribute("aria-roledescription", "lanes");
	canvas.setAttribute("aria-label", `${label}; the arrow keys go from one to another; Enter zooms`);
	const axis = el("div", "");
	axis.setAttribute("aria-hidden", "true");
	const said = el("p", "said quiet"),
		note = el("p", "quiet hint");
	said.setAttribute("role", "status");
	return { canvas, axis, said, note, box: el("div", "lanes", axis, canvas) };
}

/*
 * @items are sorted by start and have start and end. Callbacks per item:
 *   paint      {colour, failed, open} of the bar
 *   label      text in the bar
 *   describe   one line on the item
 *   isLit      whether it is highlighted; others are dimmed
 * what is the plural noun for items. Nested items also have over (the parent), within (a list), and
 * first and last, which include nested items.
 */
class Lanes {
	constructor(place, items, of) {
		Object.assign(this, { drawn: [], rest: [], at: null, lit: null, ...place, items, ...of });
		const { canvas } = this;
		this.redraw = () => this.draw();
		canvas.addEventListener("mousemove", (event) => this.pointAt(this.under(event)));
		canvas.addEventListener("mouseleave", () => this.pointAt(null));
		canvas.addEventListener("click", (event) => this.go(this.under(event)));
		canvas.addEventListener("dblclick", () => showRange(0, wall));
		canvas.addEventListener("keydown", (event) => this.onKey(event));
		view.listeners.push(this.redraw);
		this.watch = new ResizeObserver(() => this.width !== this.widthNow() && this.draw());
		this.watch.observe(canvas.parentElement);
	}

	close() {
		view.listeners.splice(view.listeners.indexOf(this.redraw), 1);
		this.watch.disconnect();
	}

	// Makes a block of up to @most rows: the item in the first one, nested items below.
	block(item, isShown, most) {
		const inner = most > 1 ? (item.within || []).filter(isShown).map((c) => this.block(c, isShown, most - 1)) : [];
		return {
			item,
			inner,
			height: 1 + packBlocks(inner, most - 1),
			start: item.first ?? item.start,
			end: item.last ?? item.end,
		};
	}

	// Lays out all visible items, with blocks of at most @most lanes.
	laid(most) {
		const drawn = [];
		const isShown = (i) => (i.last ?? i.end) >= view.from && (i.first ?? i.start) <= view.to;
		const blocks = this.items.filter((i) => !i.over && isShown(i)).map((i) => this.block(i, isShown, most));
		const used = packBlocks(blocks, LANES);
		takeBlocks(blocks, 0, drawn);
		const placed = new Set(drawn.map((at) => at.item));
		const rest = this.items.filter((i) => !placed.has(i) && i.end >= view.from && i.start <= view.to);
		return { drawn, rest, used };
	}

	// Limits the height of nested blocks if more items fit that way.
	lay() {
		let best = this.laid(LANES);
		const isNested = best.rest.length && this.items.some((i) => i.within?.length);
		for (let most = LANES >> 1; isNested && best.rest.length && most; most >>= 1) {
			const lanes = this.laid(most);
			if (lanes.rest.length < best.rest.length) best = lanes;
		}
		const height = Math.floor(LANES_HEIGHT / Math.max(1, best.used));
		Object.assign(this, best, { height: Math.max(8, Math.min(LANE_HEIGHT, height)) });
	}

	barOf(at, width = this.canvas.clientWidth) {
		const left = Math.max(-2, Math.min(1.01, share(at.item.start)) * width),
			right = Math.min(width + 2, Math.max(-0.01, share(at.item.end)) * width);
		const gap = right - left > 4 ? 1 : 0;
		return { x: left, y: at.lane * this.height + 1, width: Math.max(1.5, right - left - gap), height: this.height - 2 };
	}

	widthNow() {
		const frame = getComputedStyle(this.canvas.parentElement);
		return this.canvas.parentElement.clientWidth - parseFloat(frame.paddingLeft) - parseFloat(frame.paddingRight);
	}

	draw() {
		const { canvas } = this,
			width = this.widthNow();
		if (width <= 0) return;
		this.width = width;
		this.lay();
		const height = this.used * this.height + (this.rest.length ? REST_HEIGHT : 0) + 2;
		canvas.width = width * devicePixelRatio;
		canvas.height = height * devicePixelRatio;
		canvas.style.height = `${height}px`;
		this.paintAll();
		this.axis.replaceChildren(timeTrack(width));
		this.note.textContent = this.rest.length
			? `${count(this.rest.length)} ${this.what} have no place in the lanes: the lowest row shows how many of them there are at a time, up to ${count(this.most)}. Zoom in to see them.`
			: "";
	}

	paintAll() {
		const { canvas } = this,
			ctx = canvas.getContext("2d"),
			width = canvas.width / devicePixelRatio;
		ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
		ctx.clearRect(0, 0, width, canvas.height);
		ctx.font = "11.5px system-ui, sans-serif";
		ctx.textBaseline = "middle";
		ctx.lineWidth = 1;
		for (const at of this.drawn) this.paintBar(ctx, at, width);
		if (this.rest.length) this.paintRest(ctx, width);
	}

	paintBar(ctx, at, width) {
		const box = this.barOf(at, width),
			{ colour, failed, open } = this.paint(at.item),
			strength = has(this.lit) && !this.isLit(at.item) ? 0.25 : 1;
		ctx.fillStyle = ctx.strokeStyle = colour;
		ctx.globalAlpha = strength * (box.width > 3 ? 0.35 : 1);
		ctx.fillRect(box.x, box.y, box.width, box.height);
		ctx.globalAlpha = strength;
		if (box.width > 3) {
			ctx.setLineDash(open ? [4, 3] : []);
			ctx.strokeRect(box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1);
			ctx.setLineDash([]);
		}
		if (failed) {
			const end = Math.min(4, box.width);
			ctx.fillStyle = ink.event;
			ctx.fillRect(box.x + box.width - end, box.y, end, box.height);
		}
		if (this.height >= LABEL_HEIGHT && box.width > 24) this.paintLabel(ctx, at, box);
		if (this.at === at.item) {
			ctx.strokeStyle = ink.mark;
			ctx.strokeRect(box.x - 1, box.y - 0.5, box.width + 2, box.height + 1);
		}
		ctx.globalAlpha = 1;
	}

	paintLabel(ctx, at, box) {
		const x = Math.max(0, box.x) + 4;
		ctx.save();
		ctx.beginPath();
		ctx.rect(x, box.y, box.x + box.width - x - 5, box.height);
		ctx.clip();
		ctx.fillStyle = ink.mark;
		ctx.fillText(this.label(at.item), x, box.y + box.height / 2);
		ctx.restore();
	}

	// Draws the number of items without a lane over time.
	paintRest(ctx, width) {
		const steps = density(this.rest),
			top = this.used * this.height + 4;
		this.most = Math.max(1, ...steps);
		ctx.fillStyle = ink.text;
		steps.forEach((n, i) => {
			const h = n ? Math.max(2, (n / this.most) * (REST_HEIGHT - 4)) : 0;
			const left = Math.floor((i / steps.length) * width),
				right = Math.floor(((i + 1) / steps.length) * width);
			ctx.fillRect(left, top + REST_HEIGHT - 4 - h, right - left, h);
		});
	}

	// Selects the item at the pointer or keyboard focus; null for none.
	pointAt(item) {
		if (this.at === item) return;
		this.at = item;
		this.said.textContent = item ? this.describe(item) : "";
		this.canvas.style.cursor = item ? "pointer" : "";
		this.paintAll();
	}

	light(name) {
		if (this.lit === name) return;
		this.lit = name;
		this.paintAll();
	}

	go(item) {
		if (item) showTime(item.start, item.end);
	}

	// Returns the item at the pointer, with some tolerance for thin bars.
	under(event) {
		const lane = Math.floor(event.offsetY / this.height);
		const near = this.drawn
			.filter((at) => at.lane === lane)
			.map((at) => {
				const box = this.barOf(at);
				return { item: at.item, away: Math.max(box.x - event.offsetX, event.offsetX - box.x - box.width, 0) };
			})
			.filter((at) => at.away < 3)
			.sort((a, b) => a.away - b.away);
		return near.length ? near[0].item : null;
	}

	// Returns the item nearest in time in the lane above or below.
	beside(item, step) {
		const from = this.drawn.find((at) => at.item === item);
		const away = (i) => Math.max(i.start - item.end, item.start - i.end, 0);
		const there = this.drawn.filter((at) => at.lane === (from?.lane ?? 0) + step);
		return there.sort((a, b) => away(a.item) - away(b.item))[0]?.item || item;
	}

	// Left and right go to the previous and next item; up and down to the parent and first child of nested
	// items, else to the adjacent lanes.
	onKey(event) {
		const { at, items } = this,
			step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
		if (step) this.pointAt(items[at ? Math.max(0, Math.min(items.length - 1, items.indexOf(at) + step)) : 0]);
		else if (event.key === "ArrowUp" && at) this.pointAt(at.within ? at.over || at : this.beside(at, -1));
		else if (event.key === "ArrowDown" && at) this.pointAt(at.within ? at.within[0] || at : this.beside(at, 1));
		else if (event.key === "Enter" && at) this.go(at);
		else return;
		event.preventDefault();
	}
}
