/* SPDX-License-Identifier: GPL-2.0-only */
/* Made by tools/gen-vmlinux.sh; do not edit. Offsets are those of no kernel. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef unsigned char __u8;

typedef short unsigned int __u16;

typedef unsigned int __u32;

typedef long long int __s64;

typedef long long unsigned int __u64;

typedef __u8 u8;

typedef __u16 u16;

typedef __u32 u32;

typedef __s64 s64;

typedef __u64 u64;

typedef int __kernel_pid_t;

typedef unsigned int __kernel_uid32_t;

typedef unsigned int __kernel_gid32_t;

typedef __u16 __be16;

typedef __u32 __be32;

typedef short unsigned int umode_t;

typedef __kernel_pid_t pid_t;

typedef __kernel_uid32_t uid_t;

typedef __kernel_gid32_t gid_t;

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct list_head {
	struct list_head *next;
};

struct thread_info {
	u32 status;
};

struct cfs_rq;

struct sched_entity {
	u64 sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	long long unsigned int run_delay;
	long long unsigned int last_queued;
};

struct task_io_accounting {
	u64 rchar;
	u64 wchar;
	u64 syscr;
	u64 syscw;
	u64 read_bytes;
	u64 write_bytes;
	u64 cancelled_write_bytes;
};

struct mm_struct;

struct pid;

struct files_struct;

struct nsproxy;

struct signal_struct;

struct css_set;

struct task_delay_info;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int on_rq;
	struct sched_entity se;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_state;
	int exit_code;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct list_head thread_node;
	u64 utime;
	u64 stime;
	long unsigned int nvcsw;
	long unsigned int nivcsw;
	u64 start_time;
	u64 start_boottime;
	long unsigned int min_flt;
	long unsigned int maj_flt;
	void *cred;
	char comm[16];
	struct files_struct *files;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	void *sighand;
	u64 parent_exec_id;
	u64 self_exec_id;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct task_delay_info *delays;
};

typedef __s64 time64_t;

struct timespec64 {
	time64_t tv_sec;
	long int tv_nsec;
};

struct pt_regs {
	long unsigned int dx;
	long unsigned int si;
	long unsigned int di;
	long unsigned int orig_ax;
};

typedef atomic64_t atomic_long_t;

struct percpu_counter {
	s64 count;
	void *counters;
};

struct mm_struct {
	struct {
		atomic_long_t pgtables_bytes;
		long unsigned int hiwater_rss;
		long unsigned int total_vm;
		long unsigned int start_code;
		long unsigned int arg_start;
		long unsigned int arg_end;
		struct percpu_counter rss_stat[4];
		atomic_long_t hugetlb_usage;
	};
};

struct refcount_struct {
	atomic_t refs;
};

typedef struct refcount_struct refcount_t;

typedef struct {
	uid_t val;
} kuid_t;

typedef struct {
	gid_t val;
} kgid_t;

struct upid {
	int nr;
	void *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[0];
};

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
};

struct time_namespace;

struct nsproxy {
	struct time_namespace *time_ns;
};

struct signal_struct {
	refcount_t sigcnt;
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	int group_exit_code;
	unsigned int flags;
	u64 utime;
	u64 stime;
	long unsigned int nvcsw;
	long unsigned int nivcsw;
	long unsigned int cnvcsw;
	long unsigned int min_flt;
	long unsigned int maj_flt;
	long unsigned int cmin_flt;
	long unsigned int maxrss;
	struct task_io_accounting ioac;
	long long unsigned int sum_sched_runtime;
};

struct cgroup_subsys_state;

struct cgroup;

struct css_set {
	struct cgroup_subsys_state *subsys[12];
	struct cgroup *dfl_cgrp;
};

struct task_delay_info {
	u64 blkio_delay;
	u64 swapin_delay;
	u64 freepages_delay;
	u64 thrashing_delay;
	u64 compact_delay;
	u64 wpcopy_delay;
	u64 irq_delay;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct page_counter {
	atomic_long_t usage;
	long unsigned int max;
	struct page_counter *parent;
};

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
};

struct gendisk {
	int major;
	int first_minor;
	char disk_name[32];
};

struct vfsmount;

struct dentry;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct inode;

struct file {
	struct inode *f_inode;
	union {
		const struct path f_path;
	};
};

struct qstr {
	void *name;
};

struct dentry {
	struct dentry *d_parent;
	union {
		const struct qstr d_name;
	};
};

struct inode {
	umode_t i_mode;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct kernfs_node;

struct cgroup_root;

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup_root *root;
	struct cgroup *ancestors[0];
};

struct request_queue {
	void *mq_ops;
	struct gendisk *disk;
};

struct block_device {
	struct gendisk *bd_disk;
};

typedef __u32 blk_opf_t;

typedef u8 blk_status_t;

struct bvec_iter {
	unsigned int bi_size;
};

struct blkcg_gq;

struct bio {
	struct block_device *bi_bdev;
	blk_opf_t bi_opf;
	blk_status_t bi_status;
	struct bvec_iter bi_iter;
	struct blkcg_gq *bi_blkg;
	void *bi_io_vec;
};

struct kernfs_node {
	void *name;
	u64 id;
};

struct linux_binprm {
	struct file *file;
};

struct timens_offsets {
	struct timespec64 monotonic;
	struct timespec64 boottime;
};

struct time_namespace {
	struct timens_offsets offsets;
};

struct cgroup_root {
	int hierarchy_id;
};

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct proto;

struct sock_common {
	union {
		struct {
			__be32 skc_daddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
		};
	};
	short unsigned int skc_family;
	volatile unsigned char skc_state;
	struct proto *skc_prot;
	struct in6_addr skc_v6_daddr;
	atomic64_t skc_cookie;
};

struct sk_buff_head {
	__u32 qlen;
};

struct dst_entry;

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	u16 sk_protocol;
	u16 sk_type;
	u32 sk_ack_backlog;
	u32 sk_max_ack_backlog;
	struct dst_entry *sk_dst_cache;
	u8 sk_shutdown;
};

struct mptcp_sock {
	struct sock *first;
};

struct mptcp_subflow_context {
	u32 mp_join: 1;
};

struct request_sock {
	struct request_sock *dl_next;
	struct sock *sk;
};

struct request_sock_queue {
	struct request_sock *rskq_accept_head;
};

struct inet_connection_sock {
	struct request_sock_queue icsk_accept_queue;
	void *icsk_ulp_data;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 total_retrans;
	bool is_mptcp;
};

struct net_device {
	unsigned int flags;
};

struct dst_entry {
	union {
		struct net_device *dev;
	};
};

struct socket {
	struct sock *sk;
};

enum cgroup_subsys_id {
	cpuset_cgrp_id = 0,
	cpu_cgrp_id = 1,
	cpuacct_cgrp_id = 2,
	io_cgrp_id = 3,
	memory_cgrp_id = 4,
	devices_cgrp_id = 5,
	freezer_cgrp_id = 6,
	net_cls_cgrp_id = 7,
	perf_event_cgrp_id = 8,
	net_prio_cgrp_id = 9,
	hugetlb_cgrp_id = 10,
	pids_cgrp_id = 11,
	CGROUP_SUBSYS_COUNT = 12,
};

struct bpf_array {
	union {
		struct {
			void *pptrs[0];
		};
	};
};

struct fdtable;

struct files_struct {
	struct fdtable *fdt;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct rq;

struct cfs_rq {
	struct rq *rq;
};

struct rq {
	u64 clock;
};

typedef __u32 req_flags_t;

struct request {
	struct request_queue *q;
	blk_opf_t cmd_flags;
	req_flags_t rq_flags;
	unsigned int __data_len;
	struct bio *bio;
	u64 start_time_ns;
};


struct bpf_iter__task {
	union {
		struct task_struct *task;
	};
};

struct bpf_iter__task_file {
	union {
		struct task_struct *task;
	};
	union {
		struct file *file;
	};
};

struct trace_event_raw_mark_victim {
	uid_t uid;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct blkcg;

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
