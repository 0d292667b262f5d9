/* SPDX-License-Identifier: BSD-2-Clause */
/* Totals of a whole run, computed from its samples and process records. */
#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "run/limit.h"
#include "run/needed.h"
#include "run/process.h"
#include "run/sample.h"

#include <stddef.h>
#include <stdint.h>

/* Latency of requests to a device in one direction, as a histogram of powers of two. */

#define LATENCY_BUCKETS 40 /* bucket i counts latencies from 2^i ns to below 2^(i+1) ns */
#define LATENCY_DIRECTIONS 4
#define MAX_LATENCIES ((size_t)LATENCY_DIRECTIONS * (INSTANCES_SHOWN + 1))

struct block_latency {
	char device[INSTANCE_BYTES];
	unsigned direction; /* see latency_direction_name() */
	uint64_t count[LATENCY_BUCKETS];
};

/* Starts zeroed. In order of addition; entries of a device are adjacent. */
struct block_latencies {
	struct block_latency *all; /* owned */
	size_t nr;
};

/* Returns "read", "write", "discard" or "flush". */
const char *latency_direction_name(unsigned direction);
/* Returns 0, or -ENOENT if there is no such direction. */
int latency_direction_find(const char *name, unsigned *direction);
/* Finds the bucket whose upper bound is @ns. Returns -ENOENT if there is none. */
int latency_bucket_find(uint64_t upper_ns, unsigned *bucket);
static inline uint64_t latency_upper_ns(unsigned bucket)
{
	return 2ULL << bucket;
}
/* Returns the histogram, added if new; NULL if memory runs out or there are too many. */
struct block_latency *latencies_get(struct block_latencies *l, const char *device,
				    unsigned direction);
uint64_t latency_operations(const struct block_latency *l);
/* Returns the upper bound of the percentile's bucket; 0 if there are no operations. */
uint64_t latency_percentile_ns(const struct block_latency *l, unsigned percent);
void latencies_done(struct block_latencies *l);

/* Memory of the largest processes at the peak of the tree. */

#define HOLDERS_KEPT 10

struct holder {
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	char *exe; /* owned; NULL: unknown */
	uint64_t rss_bytes;
};

/* The largest in descending order, and number and sum of the others. */
struct holders {
	struct holder largest[HOLDERS_KEPT];
	size_t nr;
	uint64_t others, others_bytes;
};

/* Adds a copy of @h, without its path if memory runs out. */
void holders_add(struct holders *all, const struct holder *h);
void holders_done(struct holders *all);

#define MAX_LOSSES 24
#define MAX_PROGRAMS 4096 /* further ones are counted with the unknown ones */

struct loss_count {
	char name[32];
	uint64_t count;
};

/* Processes whose last image was @exe. */
struct program {
	char *exe; /* owned; NULL: unknown, or beyond MAX_PROGRAMS */
	uint64_t processes;
	bool has_rss_peak, rss_peak_exact;
	uint64_t rss_peak_bytes;
	uint64_t value[NR_METRICS];
	struct metric_set have;
};

struct role_cost {
	uint64_t cpu_ns;
	uint64_t rss_bytes; /* high-water mark; 0: not read */
};

/* A process that the kernel killed for lack of memory. */
struct oom_kill {
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	bool is_command;
	bool has_rss;
	uint64_t rss_bytes;
	uint64_t limit_bytes; /* of @cgroup; 0: the whole machine was out of memory */
	char cgroup[64];      /* last component of its path */
};

/* Cost of reading PSS. */
struct pss_cost {
	uint64_t reads;
	uint64_t postponed; /* reads put off: the value of an earlier sample was used */
	uint64_t skipped;   /* processes that could not be read at all */
	uint64_t ns_total, ns_max;
};

/* Lines that programs pushed. */
struct pushed_counts {
	uint64_t marks, metrics; /* accepted */
	uint64_t dropped;        /* above the accepted rate */
	uint64_t refused;        /* from senders outside the job */
	uint64_t malformed;      /* or too long */
};

/* Values that are lower bounds because the source is /proc. */
struct bounds {
	bool is_from_proc;          /* sampled peaks are lower bounds */
	bool has_all_processes;     /* false: the number of processes is a lower bound */
	struct metric_set counters; /* counters of which a part could not be read anywhere */
};

struct summary {
	bool complete;
	char reason[200]; /* why not complete, beyond the losses; may be empty */
	struct loss_count losses[MAX_LOSSES];
	size_t nr_losses;
	bool is_attached; /* to running processes: there is no status */
	bool has_status;
	int exit_code, signal;
	uint64_t wall_ns;
	uint64_t outlived;
	bool by_cgroup; /* a cgroup was attached to; entered, left and cpu_unsure_ns are valid */
	uint64_t entered, left; /* processes moved into the cgroup after the start, and out of it */
	uint64_t cpu_unsure_ns; /* possible error of the CPU time by these moves */
	uint64_t samples, late_ticks;
	bool has_oom_kills;
	uint64_t oom_kills;
	struct limit_hit limit; /* that ended the run, or the last one */
	struct oom_kill oom;    /* the last one, or that of the command */
	uint64_t processes_total;
	struct bounds bounds;
	struct sample total; /* counters: last value; gauges: unused */
	bool blkio_wrong;    /* reason for a missing blkio_delay */
	struct block_latencies latencies;
	bool has_rss_peak;
	uint64_t rss_peak_bytes, rss_peak_elapsed_ns; /* largest sum at a sample */
	struct needed_seen seen;
	struct memory_needed needed; /* set once the run has ended */
	bool has_rss_peak_upper;
	uint64_t rss_peak_upper_bytes; /* upper bound of the tree's peak */
	bool marks_reset;        /* a process held more than its high-water mark: no upper bound */
	bool has_rss_peak_exact; /* tracked event by event */
	uint64_t rss_peak_exact_bytes, rss_peak_exact_elapsed_ns;
	struct holders holders; /* at the exact peak */
	bool has_pss_peak, has_uss_peak;
	uint64_t pss_peak_bytes, pss_peak_elapsed_ns; /* largest sum at a sample */
	uint64_t uss_peak_bytes;
	uint64_t gpu_memory_peak_bytes, gpus_held_peak, gpus_used_peak; /* 0: none */
	bool has_hugetlb_peak;
	uint64_t hugetlb_peak_bytes; /* largest sum at a sample; not part of any value above */
	bool has_process_rss_peak, process_rss_peak_exact;
	uint64_t process_rss_peak_bytes;
	bool has_cgroup_peak, has_cgroup_split;
	uint64_t cgroup_peak_bytes;
	uint64_t cgroup_largest_bytes; /* at a sample; the next two are parts of it */
	uint64_t cgroup_peak_anon_bytes, cgroup_peak_file_bytes;
	bool has_cores;
	struct cores cores;       /* over the samples so far */
	uint64_t cores_peak;      /* thousandths; never less than the mean */
	struct program *programs; /* owned */
	size_t nr_programs, room_programs;
	uint32_t *program_index; /* owned; hash of exe -> index + 1 */
	bool is_of_agent; /* an agent tracked the run: its cost cannot be attributed to one run */
	struct role_cost collector, recorder;
	uint64_t map_bytes;
	uint64_t drains, drain_ns_total, drain_ns_max, drain_ns_median;
	bool has_pss_cost;
	struct pss_cost pss;
	bool has_pushed; /* programs were able to push */
	struct pushed_counts pushed;
	uint64_t repaired;  /* missed events that were repaired */
	int64_t kept_as;    /* number of the run in the store; 0 until it is stored */
	char not_kept[200]; /* why it is not stored, or only in part; empty: no problem */
};

void summary_done(struct summary *s);
void summary_add_sample(struct summary *s, const struct sample *smp);
/* Adds only the peak of a process. */
void summary_add_process_peak(struct summary *s, const struct process *p);
/* Adds peak and usage of a process. Returns 0, or -ENOMEM if its program lacks the usage. */
int summary_add_process(struct summary *s, const struct process *p);
/* Raises the peaks of process and tree to at least @bytes, a high-water mark; 0: unknown. */
void summary_raise_peak(struct summary *s, uint64_t bytes);
/* Adds @count losses of @name and marks the run as incomplete, unless @count is 0. */
void summary_add_loss(struct summary *s, const char *name, uint64_t count);
/*
 * Writes what was lost and the effect, with the number as formatted in @count: "2 tasks (no room
 * for them: totals lack their usage)". The name of a loss may come from a file: the text is
 * untrusted.
 */
#define LOSS_TEXT_BYTES 160
void loss_format(char text[LOSS_TEXT_BYTES], const struct loss_count *l, const char *count);
void summary_add_oom(struct summary *s, const struct oom_kill *oom);
/* Completes the summary: sorts the programs by CPU time and makes the peaks consistent. */
void summary_finish(struct summary *s);
/*
 * Returns true if write_bytes is only an upper bound: it exceeds the bytes that calls have written,
 * to regular files if known. Reasons: the kernel counts a whole large folio for a write to a part
 * of it; or the run wrote to mapped files, or used io_uring.
 */
bool summary_write_is_bound(const struct summary *s);
/* Returns thousandths of a core over the whole run; 0 if it took no time. */
uint64_t summary_cores_mean(const struct summary *s);
/* Returns thousandths of a GPU in use over the whole run; 0 if it took no time or used none. */
uint64_t summary_gpus_mean(const struct summary *s);
/* Return the cost of bpfmon, collector and recorder; memory is 0 unless both were read. */
uint64_t summary_self_cpu_ns(const struct summary *s);
uint64_t summary_self_rss_bytes(const struct summary *s);
/* Mean time of a drain. Only the sum is kept: set @drains before setting the mean. */
uint64_t summary_drain_ns_mean(const struct summary *s);
void summary_set_drain_ns_mean(struct summary *s, uint64_t mean_ns);
/*
 * Returns true if the collector made the summary, which implies at least one drain. A summary that
 * was computed from the lines of a broken run lacks the cost of bpfmon, the processes that outlived
 * the command, and late ticks.
 */
bool summary_is_from_collector(const struct summary *s);
/* Appends a program in the order of a finished summary. Returns NULL if memory runs out. */
struct program *summary_append_program(struct summary *s, const char *exe);

static inline bool summary_has_total(const struct summary *s, enum metric_id id)
{
	return sample_has(&s->total, id);
}

#endif
