// SPDX-License-Identifier: BSD-2-Clause
/* Describes the machine: processors, memory, operating system. */

#include "base/clock.h"
#include "base/text.h"
#include "run/meta.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* Processors, sockets, cores and NUMA nodes, read from /sys. */

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
 * Counts the groups of online CPUs, listed in @file of each CPU. Reads one file per group, as a
 * machine may have hundreds of CPUs. Returns 0 if a file cannot be read.
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

/* Parses "Node 1 MemTotal:  12345 kB" on the first line. */
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

static void topology_read(const char *root, struct system_info *s)
{
	topology_read_processors(root, s);
	topology_read_nodes(root, s);
}

#define CPUINFO_BYTES 8192 /* fits the first processor; the file may be a megabyte */

/* ARM has no model name, only numbers of vendor and part. */
static void system_read_arm_model(struct system_info *s, const char *text)
{
	size_t by_n, part_n;
	const char *by = text_value(text, "CPU implementer", ':', &by_n);
	const char *part = text_value(text, "CPU part", ':', &part_n);

	if (by && part && by_n < 16 && part_n < 16)
		snprintf(s->cpu_model, sizeof(s->cpu_model), "implementer %.*s, part %.*s",
			 (int)by_n, by, (int)part_n, part);
}

static bool cpu_has_flag(const char *flags, size_t n, const char *flag)
{
	const char *end = flags + n;

	while (flags < end) {
		size_t word = strcspn(flags, " \n");

		if (text_is(flags, word, flag))
			return true;
		flags += word + 1;
	}
	return false;
}

static void system_read_processor(const char *root, struct system_info *s)
{
	static const char *const names[] = { "model name", "cpu model", "cpu", "uarch" };
	char text[CPUINFO_BYTES];
	const char *at = NULL;
	size_t n = 0;

	file_read_text(root, "/proc/cpuinfo", text, sizeof(text));
	for (size_t i = 0; !at && i < sizeof(names) / sizeof(*names); i++)
		at = text_value(text, names[i], ':', &n);
	if (at)
		text_copy(s->cpu_model, sizeof(s->cpu_model), at, n);
	else
		system_read_arm_model(s, text);
	at = text_value(text, "flags", ':', &n);
	s->knows_virtual = at;
	s->is_virtual = at && cpu_has_flag(at, n, "hypervisor");
}

static void system_read_memory(const char *root, struct system_info *s)
{
	char text[8192];
	uint64_t kib;

	file_read_text(root, "/proc/meminfo", text, sizeof(text));
	s->has_swap = !text_number(text, "SwapTotal", ':', &kib);
	if (s->has_swap)
		s->swap_bytes = kib << 10;
	s->has_huge_pages = !text_number(text, "Hugetlb", ':', &kib);
	if (s->has_huge_pages)
		s->huge_pages_bytes = kib << 10;
}

/* Extracts the word in brackets from "always [madvise] never". */
static void system_read_hugepage_mode(const char *root, struct system_info *s)
{
	char line[128];
	const char *open, *close;

	if (file_read_line(root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof(line)))
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		text_copy(s->transparent_hugepage, sizeof(s->transparent_hugepage), open + 1,
			  (size_t)(close - open - 1));
}

static void system_read_os(const char *root, struct system_info *s)
{
	char text[4096];
	const char *at;
	size_t n;

	if (file_read_text(root, "/etc/os-release", text, sizeof(text)) < 0)
		file_read_text(root, "/usr/lib/os-release", text, sizeof(text));
	at = text_value(text, "PRETTY_NAME", '=', &n);
	if (at && n >= 2 && (*at == '"' || *at == '\'') && at[n - 1] == *at) {
		at++;
		n -= 2;
	}
	if (at)
		text_copy(s->os, sizeof(s->os), at, n);
}

static void system_read_machine(const char *root, struct system_info *s)
{
	char vendor[80] = "", product[72] = "";

	if (file_read_line(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor)))
		file_read_line(root, "/sys/hypervisor/type", vendor, sizeof(vendor));
	if (file_read_line(root, "/sys/class/dmi/id/product_name", product, sizeof(product)))
		file_read_line(root, "/proc/device-tree/model", product, sizeof(product));
	snprintf(s->machine, sizeof(s->machine), "%s%s%s", vendor, *vendor && *product ? " " : "",
		 product);
}

void system_read(const char *root, struct system_info *s)
{
	system_read_processor(root, s);
	topology_read(root, s);
	system_read_memory(root, s);
	system_read_hugepage_mode(root, s);
	file_read_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		       s->cpu_governor, sizeof(s->cpu_governor));
	system_read_os(root, s);
	system_read_machine(root, s);
}

void system_read_kernel(struct system_info *s)
{
	struct utsname uts;
	uint64_t boot;

	if (!uname(&uts))
		snprintf(s->architecture, sizeof(s->architecture), "%s", uts.machine);
	/* rounded to seconds, so that all runs since boot have the same value */
	boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	s->boot_epoch_ns = (boot + NSEC_PER_SEC / 2) / NSEC_PER_SEC * NSEC_PER_SEC;
}
