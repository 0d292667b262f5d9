// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_column.h"

#include "text/format.h"

#include <stdio.h>

/* From which load on a value has which style. */
static const struct {
	double load;
	enum style style;
} loads[] = {
	{ 0.9, STYLE_HOT }, { 0.6, STYLE_WARN }, { 0.2, STYLE_CPU }, { 0.0005, STYLE_PLAIN }
};

enum style load_style(double load)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (load >= loads[i].load)
			return loads[i].style;
	return STYLE_DIM;
}

/* clang-format off */
const struct column columns[NR_COLUMNS] = {
	[COLUMN_PID] = { "PID", "Process", 7, true, false, false, true, 4 },
	[COLUMN_USER] = { "USER", "Its user", 9, false, true, true, true, 5 },
	[COLUMN_JOB] = { "JOB", "Its job, with an agent, if it is alive on this machine", 16, false, true, true, true, 4 },
	[COLUMN_STATE] = { "S", "State: R runs, S sleeps, D waits for a device, T stopped, Z ended", 1, true, false, true, true, 7 },
	[COLUMN_CPU] = { "CPU%", "CPU use since the previous sample; 100: one core", 5, true, false, false, false, 2 },
	[COLUMN_SUM_CPU] = { "+CPU%", "The same, including all processes that it started", 5, true, false, false, false, 0 },
	[COLUMN_TIME] = { "TIME", "CPU time", 11, false, false, false, false, 9 },
	[COLUMN_SUM_TIME] = { "+TIME", "CPU time, including all processes that it started", 11, true, false, false, false, 5 },
	[COLUMN_RSS] = { "RSS", "Resident memory", 6, true, false, false, false, 5 },
	[COLUMN_SUM_RSS] = { "+RSS", "Resident memory, including its descendants", 6, true, false, false, false, 1 },
	[COLUMN_SWAP] = { "SWAP", "Swapped-out memory", 6, false, false, false, false, 14 },
	[COLUMN_THREADS] = { "THR", "Threads", 4, false, false, false, false, 13 },
	[COLUMN_GPU] = { "GPU%", "GPU use since the previous sample; 100: one GPU", 5, true, false, false, false, 3 },
	[COLUMN_GPU_MEMORY] = { "GPU-MEM", "GPU memory", 7, true, false, false, false, 4 },
	[COLUMN_READ] = { "+READ/s", "Read from storage per second, including what it started", 7, true, false, false, false, 6 },
	[COLUMN_WRITE] = { "+WRITE/s", "Written to storage per second, including what it started", 8, true, false, false, false, 6 },
	[COLUMN_SUM_READ] = { "+READ", "Read from storage, including what it started", 6, false, false, false, false, 10 },
	[COLUMN_SUM_WRITE] = { "+WRITE", "Written to storage, including what it started", 6, false, false, false, false, 10 },
	[COLUMN_MAJFLT] = { "+MAJFLT", "Major page faults, including what it started", 7, false, false, false, false, 15 },
	[COLUMN_QUEUE] = { "QUEUE%", "Time waiting for a CPU since the previous sample", 6, false, false, false, false, 11 },
	[COLUMN_IDLE] = { "IDLE", "Time since it last ran", 11, false, false, false, false, 11 },
	[COLUMN_WAITS] = { "WAITS FOR", "What it waits for, if it is alive on this machine", 32, true, false, true, true, 8 },
	[COLUMN_COMMAND] = { "COMMAND", "Program and arguments", 12, true, false, true, true, 0 },
};
/* clang-format on */

bool column_has_order(enum column_id id)
{
	return id != COLUMN_WAITS && id != COLUMN_STATE && id != COLUMN_JOB;
}

void bytes_short(char *out, size_t size, double bytes)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	while (bytes >= 999.5 && unit < 6) {
		bytes /= 1024;
		unit++;
	}
	if (!unit)
		snprintf(out, size, "%.0f", bytes);
	else if (bytes < 9.95)
		snprintf(out, size, "%.1f%c", bytes, units[unit]);
	else
		snprintf(out, size, "%.0f%c", bytes, units[unit]);
}

/* In up to 5 columns. */
static void percent_short(char *out, size_t size, double value)
{
	if (value < 99999.5)
		snprintf(out, size, value < 999.95 ? "%.1f" : "%.0f", value);
	else
		snprintf(out, size, "%.0fk", value / 1000);
}

/* Columns that show one measure, as an amount or a rate. */
static const struct {
	enum measure measure;
	enum { VALUE_OWN, VALUE_SUM, RATE_OWN, RATE_SUM } of;
	enum { AS_PERCENT, AS_BYTES, AS_TIME, AS_COUNT } as;
} measured[NR_COLUMNS] = {
	[COLUMN_CPU] = { MEASURE_CPU, RATE_OWN, AS_PERCENT },
	[COLUMN_SUM_CPU] = { MEASURE_CPU, RATE_SUM, AS_PERCENT },
	[COLUMN_TIME] = { MEASURE_CPU, VALUE_OWN, AS_TIME },
	[COLUMN_SUM_TIME] = { MEASURE_CPU, VALUE_SUM, AS_TIME },
	[COLUMN_RSS] = { MEASURE_RSS, VALUE_OWN, AS_BYTES },
	[COLUMN_SUM_RSS] = { MEASURE_RSS, VALUE_SUM, AS_BYTES },
	[COLUMN_SWAP] = { MEASURE_SWAP, VALUE_OWN, AS_BYTES },
	[COLUMN_THREADS] = { MEASURE_THREADS, VALUE_OWN, AS_COUNT },
	[COLUMN_GPU] = { MEASURE_GPU, RATE_OWN, AS_PERCENT },
	[COLUMN_GPU_MEMORY] = { MEASURE_GPU_MEMORY, VALUE_OWN, AS_BYTES },
	[COLUMN_READ] = { MEASURE_READ, RATE_SUM, AS_BYTES },
	[COLUMN_WRITE] = { MEASURE_WRITE, RATE_SUM, AS_BYTES },
	[COLUMN_SUM_READ] = { MEASURE_READ, VALUE_SUM, AS_BYTES },
	[COLUMN_SUM_WRITE] = { MEASURE_WRITE, VALUE_SUM, AS_BYTES },
	[COLUMN_MAJFLT] = { MEASURE_MAJFLT, VALUE_SUM, AS_COUNT },
	[COLUMN_QUEUE] = { MEASURE_RUNQUEUE, RATE_OWN, AS_PERCENT },
};

static bool column_is_measured(enum column_id id)
{
	return id > COLUMN_STATE && id < COLUMN_IDLE;
}

/* Returns false if the value is unknown. */
static bool column_measure(enum column_id id, const struct row_values *v, double *value)
{
	const struct usage *of[] = { v->own, v->sum, v->grown, v->sum_grown };
	const struct usage *u = of[measured[id].of];
	bool is_rate = measured[id].of >= RATE_OWN;

	if (!u || !usage_has(u, measured[id].measure) || (is_rate && v->span_ns <= 0))
		return false;
	*value = (double)u->value[measured[id].measure];
	if (is_rate)
		*value /= (double)v->span_ns / (measured[id].as == AS_PERCENT ? 100 : 1e9);
	return true;
}

static enum style column_style(enum column_id id, double value)
{
	if (id == COLUMN_CPU || id == COLUMN_SUM_CPU || id == COLUMN_GPU)
		return load_style(value / 100);
	return value <= 0 ? STYLE_DIM : STYLE_PLAIN;
}

static void column_measured_text(enum column_id id, const struct row_values *v, char *out,
				 size_t size, enum style *style)
{
	double value;

	if (!column_measure(id, v, &value)) {
		snprintf(out, size, "-");
		*style = STYLE_DIM;
		return;
	}
	*style = column_style(id, value);
	if (measured[id].as == AS_PERCENT)
		percent_short(out, size, value);
	else if (measured[id].as == AS_BYTES)
		bytes_short(out, size, value);
	else if (measured[id].as == AS_TIME)
		format_seconds(out, (uint64_t)value);
	else
		snprintf(out, size, "%.0f", value);
}

static void column_idle_text(const struct row_values *v, char *out, size_t size)
{
	int64_t since = v->task ? task_idle_since(v->task, v->at_ns) : MODEL_NEVER;

	if (since == MODEL_NEVER)
		snprintf(out, size, "-");
	else if (v->at_ns - since < 1000000000)
		snprintf(out, size, "0");
	else
		format_seconds(out, (uint64_t)(v->at_ns - since));
}

void column_text(enum column_id id, const struct row_values *v, char *out, size_t size,
		 enum style *style)
{
	*style = STYLE_PLAIN;
	out[0] = '\0';
	if (column_is_measured(id))
		column_measured_text(id, v, out, size, style);
	else if (id == COLUMN_PID && v->task)
		snprintf(out, size, "%d", v->task->pid);
	else if (id == COLUMN_USER && v->user)
		snprintf(out, size, "%s", v->user);
	else if (id == COLUMN_JOB && v->job)
		snprintf(out, size, "%s", v->job);
	else if (id == COLUMN_STATE && v->state)
		snprintf(out, size, "%c", v->state);
	else if (id == COLUMN_IDLE)
		column_idle_text(v, out, size);
	else if (id == COLUMN_WAITS && v->waits)
		snprintf(out, size, "%s", v->waits);
	if (id == COLUMN_STATE && v->state)
		*style = v->state == 'R'   ? STYLE_GOOD
			 : v->state == 'D' ? STYLE_WARN
			 : v->state == 'T' ? STYLE_ALARM
					   : STYLE_DIM;
}

double column_number(enum column_id id, const struct row_values *v)
{
	double value = -1;
	int64_t since;

	if (column_is_measured(id) && column_measure(id, v, &value))
		return value;
	if (id == COLUMN_PID && v->task)
		return v->task->pid;
	if (id == COLUMN_IDLE && v->task) {
		since = task_idle_since(v->task, v->at_ns);
		return since == MODEL_NEVER ? -1 : (double)(v->at_ns - since);
	}
	return value;
}

static int columns_width(uint32_t chosen)
{
	int width = 0;

	for (int i = 0; i < COLUMN_COMMAND; i++)
		if (chosen >> i & 1)
			width += columns[i].width + 1;
	return width;
}

uint32_t columns_limit_width(uint32_t chosen, int width, int command)
{
	while (columns_width(chosen) + command > width) {
		int worst = -1;

		for (int i = 0; i < COLUMN_COMMAND; i++)
			if (chosen >> i & 1 &&
			    (worst < 0 || columns[i].rank >= columns[worst].rank))
				worst = i;
		if (worst < 0)
			break;
		chosen &= ~(1U << worst);
	}
	return chosen;
}
