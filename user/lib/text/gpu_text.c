// SPDX-License-Identifier: BSD-2-Clause
/* The lines of a summary on GPUs and energy. A run without their values has none of them. */
#include "text/summary_lines.h"

#include "text/format.h"

#include <inttypes.h>

static char *format_gpus(char *out, uint64_t milli)
{
	snprintf(out, FORMAT_BYTES, "%" PRIu64 ".%02u", milli / 1000,
		 (unsigned)(milli % 1000 / 10));
	return out;
}

static uint64_t hardware_total(const struct summary *s, enum metric_id id)
{
	return summary_has_total(s, id) ? s->total.value[id] : 0;
}

/* A shorter time may be that of a program that only looks at the GPUs. */
static bool gpus_were_idle(const struct summary *s)
{
	return s->gpus_held_peak && summary_has_total(s, M_gpu) && !s->total.value[M_gpu] &&
	       hardware_total(s, M_gpu_idle) / s->gpus_held_peak >= GPUS_LEAST_NS;
}

void gpus_idle_text(FILE *f, const struct summary *s)
{
	char count[FORMAT_BYTES], time[FORMAT_BYTES];

	if (!gpus_were_idle(s))
		return;
	fprintf(f,
		"  " STYLED_ALARM "IDLE GPU" STYLED_END "    %s GPU%s held for %s and never used\n",
		format_count(count, s->gpus_held_peak), s->gpus_held_peak == 1 ? " was" : "s were",
		format_seconds(time, hardware_total(s, M_gpu_idle) / s->gpus_held_peak));
}

static void gpus_put_use(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES];

	if (!summary_has_total(s, M_gpu))
		return;
	fprintf(f, ", %s used on average", format_gpus(a, summary_gpus_mean(s)));
	if (s->gpus_used_peak)
		fprintf(f, ", %s at the peak", format_gpus(a, s->gpus_used_peak));
	if (hardware_total(s, M_gpu_idle))
		fprintf(f, "; idle for %s%s", format_seconds(a, hardware_total(s, M_gpu_idle)),
			s->gpus_held_peak > 1 ? " in all" : "");
}

static void gpus_text(FILE *f, const struct summary *s)
{
	char a[FORMAT_BYTES];

	if (!s->gpus_held_peak)
		return;
	fprintf(f, "  GPU         %s held", format_count(a, s->gpus_held_peak));
	gpus_put_use(f, s);
	if (s->gpu_memory_peak_bytes)
		fprintf(f, "; memory %s at the peak", format_bytes(a, s->gpu_memory_peak_bytes));
	if (hardware_total(s, M_gpu_energy))
		fprintf(f, "; %s",
			format_value(a, UNIT_MICROJOULE, hardware_total(s, M_gpu_energy)));
	fputc('\n', f);
}

static bool gpus_never_worked(const struct sample *now)
{
	return sample_has(now, M_gpu) && sample_has(now, M_gpu_idle) && !now->value[M_gpu] &&
	       now->value[M_gpu_idle];
}

void gpus_now_text(FILE *f, const struct sample *now)
{
	const uint64_t held = sample_has(now, M_gpus_held) ? now->value[M_gpus_held] : 0;
	const uint64_t idle = sample_has(now, M_gpus_idle) ? now->value[M_gpus_idle] : 0;
	const bool none_works = sample_has(now, M_gpus_used) && !now->value[M_gpus_used];
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!held || (!idle && !none_works))
		return;
	if (gpus_never_worked(now)) {
		fprintf(f, "%s held for %s without any work so far", format_count(a, held),
			format_seconds(b, now->value[M_gpu_idle] / held));
		return;
	}
	fprintf(f, "%s held, %s without work", format_count(a, held),
		format_count(b, idle ? idle : held));
	if (!idle)
		fputs(" at the last reading", f);
	if (sample_has(now, M_gpu_idle))
		fprintf(f, "; idle for %s%s so far", format_seconds(a, now->value[M_gpu_idle]),
			held > 1 ? " in all" : "");
}

static void energy_text(FILE *f, const struct summary *s)
{
	const uint64_t whole = hardware_total(s, M_host_energy);
	char a[FORMAT_BYTES], b[FORMAT_BYTES];

	if (!whole)
		return;
	format_value(b, UNIT_MICROJOULE, whole);
	if (summary_has_total(s, M_energy_apportioned))
		fprintf(f, "  energy      %s by CPU time, of the machine's %s\n",
			format_value(a, UNIT_MICROJOULE, s->total.value[M_energy_apportioned]), b);
	else
		fprintf(f, "  energy      %s of the machine\n", b);
}

void hardware_text(FILE *f, const struct summary *s)
{
	gpus_text(f, s);
	energy_text(f, s);
}
