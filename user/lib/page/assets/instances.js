// SPDX-License-Identifier: BSD-2-Clause
// Values of each instance of a dimension, such as a device: one table per dimension.
"use strict";

function instanceColumn(key) {
	const [, name, unit] = key.match(/^(.*?)(_bytes|_seconds)?$/);
	const format = { _bytes: bytes, _seconds: seconds }[unit] || count;
	return [visible(name.replace(/_/g, " ")), (i) => i.values[key], format, "", { bar: name }];
}

function dimensionTable(dimension, instances) {
	const items = Object.entries(instances).map(([name, values]) => ({ name, values }));
	const keys = new Set(items.flatMap((i) => Object.keys(i.values).filter((key) => Number.isFinite(i.values[key]))));
	const table = el("table", ""),
		place = el("div", "scroll", table);
	place.setAttribute("role", "region");
	place.setAttribute("aria-label", `By ${visible(dimension)}`);
	byId("instances").append(place);
	const columns = [[visible(dimension), (i) => i.name, visible, "text"], ...[...keys].map(instanceColumn)];
	const sorted = new SortedTable(table, columns, `Values by ${visible(dimension)}`, keys.size ? 1 : 0);
	sorted.growing(FIRST_ROWS);
	sorted.show(items);
}

function instancesTables() {
	for (const [dimension, instances] of Object.entries(summary.by)) dimensionTable(dimension, instances);
}
