// SPDX-License-Identifier: BSD-2-Clause
// Values of each instance of a dimension, such as a device: one table per dimension.
"use strict";

// Titles in words of what is known; a program may push dimensions and metrics of its own.
const dimensionNames = {
	peer: "Peer",
	device: "Device",
	socket_state: "State of TCP sockets",
	gpu: "GPU",
	energy: "Source of energy",
};
const instanceNames = {
	cpu_seconds: "CPU time",
	net_rx_bytes: "Received",
	net_tx_bytes: "Sent",
	net_rx_messages: "Receiving calls",
	net_tx_messages: "Sending calls",
	net_connects: "Connections opened",
	net_failed_connects: "Failed connections",
	net_accepts: "Connections accepted",
	net_retransmits: "Retransmits",
	net_sockets: "Sockets",
	block_read_bytes: "Read",
	block_write_bytes: "Written",
	block_discard_bytes: "Discarded",
	block_read_ops: "Reads",
	block_write_ops: "Writes",
	block_discard_ops: "Discards",
	block_flush_ops: "Flushes",
	block_read_latency_seconds: "Time of reads",
	block_write_latency_seconds: "Time of writes",
	gpu_seconds: "Worked",
	gpu_idle_seconds: "Idle",
	gpu_memory_busy_seconds: "Memory busy",
	gpus_used: "Used",
	gpus_held: "Held",
	gpus_idle: "Without work",
	gpu_memory_bytes: "Memory",
	gpu_device_busy: "Used by all",
	gpu_device_memory_bytes: "Memory of all",
	gpu_power_watts: "Power",
	gpu_energy_joules: "Energy",
	gpu_clock_hertz: "Clock",
	gpu_throttled_seconds: "Slowed down",
	gpu_ecc_errors: "Memory errors",
	gpu_xid_errors: "Critical errors",
	host_energy_joules: "Energy",
};

function instanceColumn(key) {
	const title = Object.hasOwn(instanceNames, key) ? instanceNames[key] : keyText(key);
	return [title, (i) => i.values[key], formatOfKey(key), "", { bar: key }];
}

function dimensionTable(dimension, instances) {
	const title = Object.hasOwn(dimensionNames, dimension) ? dimensionNames[dimension] : keyText(dimension);
	const items = Object.entries(instances).map(([name, values]) => ({ name, values }));
	const keys = new Set(items.flatMap((i) => Object.keys(i.values).filter((key) => Number.isFinite(i.values[key]))));
	const table = el("table", ""),
		place = el("div", "scroll", table);
	place.setAttribute("role", "region");
	const by = `By ${title === "GPU" ? title : title.charAt(0).toLowerCase() + title.slice(1)}`;
	place.setAttribute("aria-label", by);
	byId("instances").append(el("h3", "side", by), place);
	const nameText = (name) => visible(dimension === "socket_state" ? name.replace(/_/g, " ") : name);
	const columns = [[title, (i) => i.name, nameText, "text"], ...[...keys].map(instanceColumn)];
	const sorted = new SortedTable(table, columns, `Values by ${title}`, keys.size ? 1 : 0);
	sorted.growing(FIRST_ROWS);
	sorted.show(items);
}

// The heading is of what there is, which on most machines is bytes and sockets.
function instancesTitle(dimensions) {
	const words = { gpu: "GPU time", energy: "energy" },
		parts = ["gpu", "energy"].filter((d) => dimensions.includes(d)).map((d) => words[d]);
	if (!parts.length) return;
	if (parts.length < dimensions.length) parts.unshift("bytes, sockets");
	byId("instances-title").textContent = `Where ${parts.join(", ").replace(/, (?=[^,]*$)/, " and ")} went`;
}

function instancesTables() {
	instancesTitle(Object.keys(summary.by));
	for (const [dimension, instances] of Object.entries(summary.by)) dimensionTable(dimension, instances);
}
