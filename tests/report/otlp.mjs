// SPDX-License-Identifier: BSD-2-Clause
// Decodes requests of OTLP by the classes that OpenTelemetry generates from its protos, and writes each as a line of
// JSON. One that has bytes which these classes would not write again ends it.
//
// Usage: node otlp.mjs <<<'{"path": "/v1/metrics", "base64": "..."}'
import { createInterface } from "node:readline";
import root from "@opentelemetry/otlp-transformer/build/src/generated/root.js";

const { collector } = root.opentelemetry.proto;
const requests = {
	metrics: collector.metrics.v1.ExportMetricsServiceRequest,
	logs: collector.logs.v1.ExportLogsServiceRequest,
};

for await (const line of createInterface({ input: process.stdin })) {
	const { path, base64 } = JSON.parse(line);
	const bytes = Buffer.from(base64, "base64");
	const request = requests[path.split("/").at(-1)];
	const message = request.decode(bytes);
	if (!bytes.equals(request.encode(message).finish())) throw new Error(`${path}: not what it decodes to`);
	console.log(JSON.stringify(request.toObject(message, { longs: String })));
}
