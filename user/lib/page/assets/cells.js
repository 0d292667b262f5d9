// SPDX-License-Identifier: BSD-2-Clause
// Tables that can be sorted by any column, with bars in cells, and names whose full text is shown on demand.
"use strict";

const ROWS_SHOWN = 50;

// Absent values come last in both directions.
function compare(get, down) {
	return (a, b) => {
		const x = get(a),
			y = get(b);
		if (!has(x) || !has(y)) return has(x) ? -1 : has(y) ? 1 : 0;
		const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y));
		return down ? -order : order;
	};
}

// Tooltips with the full text of shortened names, for pointer and keyboard.
function withTip(element, text) {
	if (text) element.dataset.tip = text;
	return element;
}

function showTip(of) {
	const tip = byId("tip");
	tip.hidden = !of;
	if (!of) return;
	tip.textContent = of.dataset.tip;
	const place = of.getBoundingClientRect(),
		{ clientWidth } = document.documentElement;
	const above = place.top > tip.offsetHeight + 8;
	tip.style.left = `${Math.max(4, Math.min(place.left, clientWidth - tip.offsetWidth - 4)) + scrollX}px`;
	tip.style.top = `${(above ? place.top - tip.offsetHeight - 4 : place.bottom + 4) + scrollY}px`;
}

function tips() {
	const tip = el("div", "tip");
	tip.id = "tip";
	tip.hidden = true;
	tip.setAttribute("role", "tooltip");
	document.body.append(tip);
	for (const [name, isShown] of [
		["mouseover", true],
		["focusin", true],
		["mouseout", false],
		["focusout", false],
	])
		document.addEventListener(name, (event) => showTip(isShown ? event.target.closest?.("[data-tip]") : null));
	addEventListener("keydown", (event) => event.key === "Escape" && showTip(null));
}

// Opens all folds before printing.
function foldsInPrint() {
	addEventListener("beforeprint", () => {
		for (const fold of document.querySelectorAll("details.fold")) fold.open = true;
	});
}

// Creates a shortened name; a button if a click on the row has an effect.
function nameCell(text, full, isButton) {
	const name = el(isButton ? "button" : "span", isButton ? "link" : "", text);
	if (isButton) name.type = "button";
	return withTip(name, full === text ? null : full);
}

// A table that is too wide scrolls horizontally, and is then reachable by keyboard.
function watchWidth(table) {
	const place = table.closest(".scroll");
	if (!place || place.watched) return;
	place.watched = true;
	place.removeAttribute("tabindex");
	const watch = new ResizeObserver(() => {
		const isWide = [...place.children].some((t) => t.offsetWidth > place.clientWidth + 1);
		place.classList.toggle("wide", isWide);
		if (isWide) place.tabIndex = 0;
		else place.removeAttribute("tabindex");
	});
	for (const observed of [place, ...place.children]) watch.observe(observed);
}

/*
 * A column is [title, get, format, kind, more]. The kind is "", "text", "text wide", or "roomy" for a column that
 * phones hide. Members of more:
 *   bar    draw a bar in the cell, relative to the largest value of all columns with the same bar
 *   tip    full text of a name
 *   extra  shown only on demand
 *   kind   class of a cell
 */
class SortedTable {
	constructor(table, columns, caption, by) {
		Object.assign(this, { table, columns, by, down: true, items: [], limit: ROWS_SHOWN, most: {} });
		this.body = el("tbody", "");
		this.heads = columns.map(([title, , , kind, more], i) => {
			const button = el("button", "", title);
			button.type = "button";
			button.addEventListener("click", () => this.sortBy(i));
			const head = el("th", (kind || "") + (more?.extra ? " extra" : ""), button);
			head.scope = "col";
			return head;
		});
		table.append(el("caption", "unseen", caption), el("thead", "", el("tr", "", ...this.heads)), this.body);
		this.body.addEventListener("keydown", (event) => this.moveFocus(event));
		watchWidth(table);
	}

	sortBy(i) {
		this.down = i === this.by ? !this.down : !(this.columns[i][3] || "").startsWith("text");
		this.by = i;
		this.show();
	}

	show(items = this.items) {
		this.items = items;
		this.heads.forEach((head, i) => {
			if (i === this.by) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
			else head.removeAttribute("aria-sort");
		});
		this.most = {};
		for (const [, get, , , more] of this.columns)
			if (more?.bar)
				this.most[more.bar] = items
					.filter((i) => Number.isFinite(get(i)))
					.reduce((most, item) => Math.max(most, get(item) || 0), this.most[more.bar] || 0);
		const sorted = [...items].sort(compare(this.columns[this.by][1], this.down));
		this.body.replaceChildren(...sorted.slice(0, this.limit).map((item) => this.row(item)));
		this.names().forEach((name, i) => {
			name.tabIndex = i ? -1 : 0;
		});
		if (this.more) this.more.hidden = items.length <= this.limit;
	}

	// Adds a button below a table that shows only its first rows.
	growing(limit) {
		this.limit = limit;
		this.more = el("button", "more", "Show more");
		this.more.type = "button";
		this.more.addEventListener("click", () => {
			this.limit = this.limit < 200 ? this.limit * 4 : Infinity;
			this.show();
		});
		this.table.closest(".scroll").after(this.more);
	}

	names() {
		return [...this.body.querySelectorAll("td:first-child > :is(button, [data-tip])")];
	}

	// Tab reaches one name of the table, arrow keys the others.
	moveFocus(event) {
		const names = this.names(),
			at = names.indexOf(event.target);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: names.length - 1 }[event.key];
		if (at < 0 || !names[to]) return;
		names[at].tabIndex = -1;
		names[to].tabIndex = 0;
		names[to].focus();
		event.preventDefault();
	}

	cell(item, [, get, format, kind, more]) {
		const v = get(item),
			text = has(v) ? format(v, item) : missing;
		const cell = el(
			"td",
			[kind, more?.bar && "part", more?.extra && "extra", more?.kind?.(item)].filter(Boolean).join(" "),
			text,
		);
		if (more?.bar && v > 0) cell.style.setProperty("--part", Math.min(1, v / this.most[more.bar]));
		if (more?.tip && has(v)) cell.replaceChildren(nameCell(text, more.tip(item), this.go));
		else if (kind === "text wide") withTip(cell, cell.textContent);
		return cell;
	}

	row(item) {
		const row = el("tr", "", ...this.columns.map((column) => this.cell(item, column)));
		if (this.go) row.addEventListener("click", () => this.go(item));
		if (this.over) {
			for (const name of ["mouseenter", "focusin"]) row.addEventListener(name, () => this.over(item));
			for (const name of ["mouseleave", "focusout"]) row.addEventListener(name, () => this.over(null));
		}
		return row;
	}
}

// Shows columns of kind "extra" on demand.
function extraColumns(box, table) {
	const update = () => table.classList.toggle("all", byId(box).checked);
	byId(box).addEventListener("change", update);
	update();
}
