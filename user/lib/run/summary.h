/* SPDX-License-Identifier: BSD-2-Clause */
/* What a whole run used: folded from its samples and process records. */
#ifndef RUN_SUMMARY_H
#define RUN_SUMMARY_H

#include "run/limit.h"
#include "run/needed.h"
#include "run/process.h"
#include "run/sample.h"

#include <stddef.h>
#include <stdint.h>

/* How long requests to a device took, in one direction, as a histogram of powers of two. */

#define LATENCY_BUCKETS 40 /* number i has those from 2^i ns on, below 2^(i+1) */
#define LATENCY_DIRECTIONS 4
#define MAX_LATENCIES ((size_t)LATENCY_DIRECTIONS * (INSTANCES_SHOWN + 1))

struct block_latency {
	char device[INSTANCE_BYTES];
	unsigned direction; /* see latency_direction_name() */
	uint64_t count[LATENCY_BUCKETS];
};

/* All zero: none. In the order in which they were added; those of a device in a row. */
struct block_latencies {
	struct block_latency *all; /* owned */
	size_t nr;
};

/* "read", "write", "discard", "flush". */
const char *latency_direction_name(unsigned direction);
/* -ENOENT: no direction is called so. */
int latency_direction_find(const char *name, unsigned *direction);
/* The bucket whose upper bound is @ns; -ENOENT: there is none. */
int latency_bucket_find(uint64_t upper_ns, unsigned *bucket);
static inline uint64_t latency_upper_ns(unsigned bucket)
{
	return 2ULL << bucket;
}
/* That of @device and @direction, made if it is new; NULL: out of memory, or there are too many. */
struct block_latency *latencies_get(struct block_latencies *l, const char *device,
				    unsigned direction);
uint64_t latency_operations(const struct block_latency *l);
/* The upper bound of the bucket that has the operation at @percent; 0: there is none. */
uint64_t latency_percentile_ns(const struct block_latency *l, unsigned percent);
void latencies_done(struct block_latencies *l);

/* Which processes held how much memory when the tree held the most. */

#define HOLDERS_KEPT 10

struct holder {
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	char *exe; /* owned; NULL: not known */
	uint64_t rss_bytes;
};

/* The largest, in falling order, and the number and sum of the others. */
struct holders {
	struct holder largest[HOLDERS_KEPT];
	size_t nr;
	uint64_t others, others_bytes;
};

/* Adds a copy of @h; if memory is short, without its path. */
void holders_add(struct holders *all, const struct holder *h);
void holders_done(struct holders *all);

#define MAX_LOSSES 24
#define MAX_PROGRAMS 4096 /* further ones are counted together with unknown ones */

struct loss_count {
	char name[32];
	uint64_t count;
};

/* The processes that ran @exe as their last image. */
struct program {
	char *exe; /* owned; NULL: not known, or beyond MAX_PROGRAMS */
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
	uint64_t limit_bytes; /* of @cgroup; 0: the machine itself had no room */
	char cgroup[64];      /* the last part of its path */
};

/* What reading PSS has cost. */
struct pss_cost {
	uint64_t reads;
	uint64_t postponed; /* reads put off: the value of an earlier sample was used */
	uint64_t skipped;   /* processes that could not be read at all */
	uint64_t ns_total, ns_max;
};

/* What programs pushed, in lines. */
struct pushed_counts {
	uint64_t marks, metrics; /* taken */
	uint64_t dropped;        /* beyond the rate that is taken */
	uint64_t refused;        /* from senders that are not in the job */
	uint64_t malformed;      /* or too long */
};

/* Values that are at least what they name, as the source is /proc. */
struct bounds {
	bool is_from_proc;          /* sampled peaks are; and: */
	bool has_all_processes;     /* else their number is */
	struct metric_set counters; /* those of which a part was in no place that could be read */
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
	bool by_cgroup;         /* a cgroup was attached to; then: */
	uint64_t entered, left; /* processes that were moved in after the start, and out */
	uint64_t
		cpu_unsure_ns; /* by how much these may make the CPU time too large, or too small */
	uint64_t samples, late_ticks;
	bool has_oom_kills;
	uint64_t oom_kills;
	struct limit_hit limit; /* the one for which the run was ended, or the last */
	struct oom_kill oom;    /* the last of them, or that of the command */
	uint64_t processes_total;
	struct bounds bounds;
	struct sample total; /* counters: the last value; gauges: unused */
	bool blkio_wrong;    /* why its blkio_delay is not known */
	struct block_latencies latencies;
	bool has_rss_peak;
	uint64_t rss_peak_bytes, rss_peak_elapsed_ns; /* the largest sum at a sample */
	struct needed_seen seen;
	struct memory_needed needed; /* once the run has ended */
	bool has_rss_peak_upper;
	uint64_t rss_peak_upper_bytes; /* the tree has not held more */
	bool marks_reset; /* why there is no upper bound: a process reset its high-water mark */
	bool has_rss_peak_exact; /* followed event by event */
	uint64_t rss_peak_exact_bytes, rss_peak_exact_elapsed_ns;
	struct holders holders; /* of the exact peak */
	bool has_pss_peak, has_uss_peak;
	uint64_t pss_peak_bytes, pss_peak_elapsed_ns; /* the largest sum at a sample */
	uint64_t uss_peak_bytes;
	bool has_hugetlb_peak;
	uint64_t hugetlb_peak_bytes; /* the largest sum at a sample; not in any of the above */
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
	bool is_of_agent;        /* what it has cost to follow the run is of no one run */
	struct role_cost collector, recorder;
	uint64_t map_bytes;
	uint64_t drains, drain_ns_total, drain_ns_max, drain_ns_median;
	bool has_pss_cost;
	struct pss_cost pss;
	bool has_pushed; /* programs were able to push */
	struct pushed_counts pushed;
	uint64_t repaired;  /* events that were missed and repaired */
	int64_t kept_as;    /* the run's number in the store, once it is there; else 0 */
	char not_kept[200]; /* why it is not there, or not whole; empty: it is, or is not kept */
};

void summary_done(struct summary *s);
void summary_add_sample(struct summary *s, const struct sample *smp);
/* Takes the peak of one process alone, */
void summary_add_process_peak(struct summary *s, const struct process *p);
/* or with it what its program has used. -ENOMEM: it is counted for no program. */
int summary_add_process(struct summary *s, const struct process *p);
/* Adds @count losses of @name, and makes the run incomplete; 0: does nothing. */
/* A process has held @bytes at some time, by the kernel's mark; 0: not known. */
void summary_raise_peak(struct summary *s, uint64_t bytes);
void summary_add_loss(struct summary *s, const char *name, uint64_t count);
void summary_add_oom(struct summary *s, const struct oom_kill *oom);
/* Ends the summary: sorts the programs by CPU time, and makes the peaks agree. */
void summary_finish(struct summary *s);
/*
 * True if its write_bytes is an upper bound: it is more than what calls have written, to regular
 * files where that is known. The kernel counts all of a large folio for a write to a part of it; or
 * memory that maps files was written to, or io_uring used.
 */
bool summary_write_is_bound(const struct summary *s);
/* Thousandths of a core over the whole run; 0 when it took no time. */
uint64_t summary_cores_mean(const struct summary *s);
/* What bpfmon itself has used: both roles; the memory is 0 unless that of both was read. */
uint64_t summary_self_cpu_ns(const struct summary *s);
uint64_t summary_self_rss_bytes(const struct summary *s);
/* The mean time of a drain; as the sum is kept, @drains has to be set before it. */
uint64_t summary_drain_ns_mean(const struct summary *s);
void summary_set_drain_ns_mean(struct summary *s, uint64_t mean_ns);
/*
 * True if the collector made it, which has drained at least once: a summary that is made from the
 * lines of a broken run lacks what bpfmon cost, which processes outlived the command, and which
 * ticks were late.
 */
bool summary_is_collectors(const struct summary *s);
/* A new entry at the end, as a finished summary has it; NULL without memory. */
struct program *summary_append_program(struct summary *s, const char *exe);

/* Whether the total of the metric was read. */
static inline bool summary_has_total(const struct summary *s, enum metric_id id)
{
	return sample_has(&s->total, id);
}

#endif
