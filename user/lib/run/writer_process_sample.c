// SPDX-License-Identifier: BSD-2-Clause
/* Writes the line of a live process at a sample. */
#include "run/writer_parts.h"
#include "run/writer.h"

#include <string.h>

void write_process_sample(struct jsonw *j, uint64_t start_epoch_ns, const struct process_sample *p)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "kind", "process_sample");
	epoch_write(j, "time", start_epoch_ns + p->elapsed_ns);
	jsonw_decimal(j, "elapsed_seconds", p->elapsed_ns, 9);
	jsonw_int(j, "pid", p->pid);
	if (p->comm[0])
		jsonw_bytes(j, "comm", p->comm, strlen(p->comm));
	epoch_write(j, "start_time", p->start_epoch_ns);
	if (p->has_parent) {
		jsonw_int(j, "ppid", p->ppid);
		jsonw_uint(j, "uid", p->uid);
	}
	if (p->exe)
		jsonw_string(j, "exe", p->exe);
	metrics_write(j, p->value, &p->have);
	j->lossy |= p->lossy;
	line_end(j);
}
