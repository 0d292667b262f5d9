// SPDX-License-Identifier: BSD-2-Clause
/* Processors, sockets, cores and NUMA nodes, read from /sys. */
#include "run/meta_file.h"
#include "run/system.h"

#include <stdio.h>
#include <string.h>

#define MAX_CPUS 8192
#define FOLDER "/sys/devices/system"

struct cpu_bits {
	unsigned char bits[MAX_CPUS / 8];
};

static bool cpu_bits_has(const struct cpu_bits *set, unsigned cpu)
{
	return set->bits[cpu / 8] >> cpu % 8 & 1;
}

static void cpu_bits_add_list(struct cpu_bits *set, const char *list)
{
	unsigned first, last;

	while (list_next(&list, &first, &last))
		for (unsigned cpu = first; cpu <= last && cpu < MAX_CPUS; cpu++)
			set->bits[cpu / 8] |= (unsigned char)(1U << cpu % 8);
}

/*
 * The number of groups that the CPUs online form, where @file of each CPU lists its group. It is
 * read once per group, not per CPU: a machine may have hundreds. 0: one cannot be read.
 */
static unsigned topology_count_groups(const char *root, const struct cpu_bits *online,
				      const char *file)
{
	struct cpu_bits seen = { 0 };
	unsigned count = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS; cpu++) {
		char path[128], list[CPU_LIST_BYTES];

		if (!cpu_bits_has(online, cpu) || cpu_bits_has(&seen, cpu))
			continue;
		snprintf(path, sizeof(path), FOLDER "/cpu/cpu%u/topology/%s", cpu, file);
		if (file_read_line(root, path, list, sizeof(list)))
			return 0;
		cpu_bits_add_list(&seen, list);
		if (!cpu_bits_has(&seen, cpu))
			return 0;
		count++;
	}
	return count;
}

static void topology_read_processors(const char *root, struct system_info *s)
{
	struct cpu_bits online = { 0 };
	char list[CPU_LIST_BYTES];

	if (file_read_line(root, FOLDER "/cpu/online", list, sizeof(list)))
		return;
	cpu_bits_add_list(&online, list);
	s->threads = list_count(list);
	s->cores = topology_count_groups(root, &online, "core_cpus_list");
	s->sockets = topology_count_groups(root, &online, "package_cpus_list");
}

/* "Node 1 MemTotal:  12345 kB", on the first line. */
static void topology_read_node(const char *root, unsigned number, struct numa_node *n)
{
	char path[64], text[256], key[32];
	uint64_t kib;

	n->number = number;
	snprintf(path, sizeof(path), FOLDER "/node/node%u/meminfo", number);
	snprintf(key, sizeof(key), "Node %u MemTotal", number);
	file_read_text(root, path, text, sizeof(text));
	if (!text_number(text, key, ':', &kib))
		n->memory_bytes = kib << 10;
}

static void topology_read_nodes(const char *root, struct system_info *s)
{
	char line[CPU_LIST_BYTES];
	struct numa_node *n = s->nodes;
	const char *list = line;
	unsigned first, last;

	if (file_read_line(root, FOLDER "/node/online", line, sizeof(line)))
		return;
	s->nr_nodes = list_count(line);
	while (s->nr_nodes <= MAX_NODES && list_next(&list, &first, &last))
		for (unsigned i = first; i <= last; i++)
			topology_read_node(root, i, n++);
}

void topology_read(const char *root, struct system_info *s)
{
	topology_read_processors(root, s);
	topology_read_nodes(root, s);
}
