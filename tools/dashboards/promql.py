# SPDX-License-Identifier: BSD-2-Clause
"""Dashboards for engines of PromQL."""

from dashboards.panels import WAITS, curves, dashboard, figure, heading, table, values_of, variable

CHOSEN = 'nested="", instance=~"$instance", user=~"$user", kind=~"$kind"'
JOB = 'job="$job"'
LABELS = "job, user, kind, name"


def by_job(expr):
    return f"sum by ({LABELS}) ({expr})"


def ended(metric, combine="sum"):
    return f"{combine} by ({LABELS}) (max_over_time(bpfmon_job_ended_{metric}{{{CHOSEN}}}[$__range]))"


def jobs():
    cores = f"rate(bpfmon_job_cpu_seconds_total{{{CHOSEN}}}[$__rate_interval])"
    live = f"bpfmon_job_running{{{CHOSEN}}} == 1"
    return dashboard(
        "bpfmon-jobs",
        "bpfmon: jobs",
        "Jobs that run, and those that ended in the time shown",
        [variable("instance", values_of("instance")), variable("user", values_of("user")), variable("kind", values_of("kind"))],
        [
            figure("Running jobs", f"count(sum by (job) ({live})) or vector(0)"),
            figure("Cores in use", f"sum({cores})"),
            figure("Memory", f"sum(bpfmon_job_rss_bytes{{{CHOSEN}}})", "bytes", "Resident memory of the jobs"),
            figure("Stalled jobs", f"sum(bpfmon_job_stalled{{{CHOSEN}}}) or vector(0)", bad_above=1),
            curves("Cores of the ten largest jobs", [(f"topk(10, {by_job(cores)})", "{{job}} {{user}}")]),
            curves("Memory of the ten largest jobs", [(f"topk(10, {by_job(f'bpfmon_job_rss_bytes{{{CHOSEN}}}')})", "{{job}} {{user}}")], "bytes"),
            table(
                "Running jobs",
                [
                    ("cores", by_job(cores), "short"),
                    ("memory", by_job(f"bpfmon_job_rss_bytes{{{CHOSEN}}}"), "bytes"),
                    (
                        "of its limit",
                        f"max by ({LABELS}) (bpfmon_job_rss_anon_bytes{{{CHOSEN}}} / bpfmon_job_memory_limit_bytes)",
                        "percentunit",
                    ),
                    ("nodes", f"count by ({LABELS}) ({live})", "short"),
                    ("processes", by_job(f"bpfmon_job_processes{{{CHOSEN}}}"), "short"),
                    ("stalled on", by_job(f"bpfmon_job_stalled{{{CHOSEN}}}"), "short"),
                    ("age", f"max by ({LABELS}) (time() - bpfmon_job_start_time_seconds{{{CHOSEN}}})", "s"),
                ],
                "Of its limit: anonymous memory, which cannot be dropped, on the node that is nearest to its limit",
            ),
            table(
                "Jobs that ended",
                [
                    ("CPU time", ended("cpu_seconds"), "s"),
                    ("wall time", ended("wall_seconds", "max"), "s"),
                    ("cores", f"{ended('cpu_seconds')} / {ended('wall_seconds', 'max')}", "short"),
                    ("waited for a CPU", ended("runqueue_wait_seconds"), "s"),
                    ("memory needed", ended("memory_needed_bytes", "max"), "bytes"),
                    ("memory limit", ended("memory_limit_bytes", "max"), "bytes"),
                    ("needed of limit", f"{ended('memory_needed_bytes', 'max')} / {ended('memory_limit_bytes', 'max')}", "percentunit"),
                    ("read", ended("read_bytes"), "bytes"),
                    ("written", ended("write_bytes"), "bytes"),
                    ("OOM kills", ended("oom_kills"), "short"),
                ],
                "Cores: CPU time by wall time. Memory: of the node that needed most",
            ),
        ],
    )


def of_job(metric, rate=True):
    expr = f"bpfmon_job_{metric}{{{JOB}}}"
    return f"sum by (instance) (rate({expr}[$__rate_interval]))" if rate else f"sum by (instance) ({expr})"


def threads(metric):
    """Threads of the job that are in a state at a time, on all nodes."""
    return f"sum(rate(bpfmon_job_{metric}_seconds_total{{{JOB}}}[$__rate_interval]))"


def one_job():
    dashed = {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [6, 6]}}
    limits = {"matcher": {"id": "byRegexp", "options": ".* limit"}, "properties": [dashed, {"id": "custom.fillOpacity", "value": 0}]}
    waits = [(threads(f"wait_{kind}"), kind) for kind in WAITS]
    return dashboard(
        "bpfmon-job",
        "bpfmon: one job",
        "A job on each of its nodes",
        [variable("job", values_of("job"), all_values=False)],
        [
            curves("Cores", [(of_job("cpu_seconds_total"), "{{instance}}")]),
            curves(
                "Memory",
                [(of_job("rss_bytes", rate=False), "{{instance}}"), (of_job("memory_limit_bytes", rate=False), "{{instance}} limit")],
                "bytes",
                overrides=[limits],
            ),
            curves(
                "Time of all threads",
                [(threads("user"), "user"), (threads("system"), "system"), (threads("runqueue_wait"), "waits for a CPU")],
                stacked=True,
                about="Threads at a time",
            ),
            curves("Waits for", waits, stacked=True, about="Threads at a time, estimated; of kernels and agents that can tell"),
            curves(
                "Storage",
                [(of_job("read_bytes_total"), "{{instance}} read"), (of_job("write_bytes_total"), "{{instance}} written")],
                "Bps",
            ),
            curves("Page faults that waited for a disk", [(of_job("majflt_total"), "{{instance}}")], "ops"),
            curves(
                "Processes and threads",
                [(of_job("processes", rate=False), "{{instance}} processes"), (of_job("threads", rate=False), "{{instance}} threads")],
            ),
            curves(
                "Context switches",
                [(of_job("nvcsw_total"), "{{instance}} voluntary"), (of_job("nivcsw_total"), "{{instance}} involuntary")],
                "ops",
            ),
            heading("GPU"),
            curves(
                "GPUs",
                [
                    (of_job("gpus_held", rate=False), "{{instance}} held"),
                    (of_job("gpus_used", rate=False), "{{instance}} used"),
                    (of_job("gpus_idle", rate=False), "{{instance}} idle"),
                ],
                about="Idle: held without work for as long as stalled_after",
            ),
            curves(
                "GPU memory",
                [(of_job("gpu_memory_bytes", rate=False), "{{instance}}"), (of_job("gpu_device_memory_bytes", rate=False), "{{instance}} of all")],
                "bytes",
                about="Of all: memory in use by all processes on the GPUs held",
            ),
            curves(
                "Power of the GPUs held",
                [(of_job("gpu_power_watts", rate=False), "{{instance}}"), (of_job("gpu_energy_joules_total"), "{{instance}} by energy")],
                "watt",
                about="Of the whole GPUs, by all processes on them",
            ),
            curves(
                "Share of the machine's power by CPU time",
                [(of_job("energy_apportioned_joules_total"), "{{instance}}")],
                "watt",
                about="Not measured: the job's part of the CPU time of all CPUs",
            ),
        ],
    )


def users():
    chosen = 'nested="", user=~"$user", kind=~"$kind"'
    hours = f"sum by (user) (increase(bpfmon_user_cpu_seconds_total{{{chosen}}}[$__range])) / 3600"

    def most(metric):
        return f"max_over_time(bpfmon_job_ended_{metric}{{{chosen}}}[$__range])"

    def of_jobs(expr):
        return f"sum by (user) ({expr})"

    limits = of_jobs(most("memory_limit_bytes"))
    needed = of_jobs(f"{most('memory_needed_bytes')} and {most('memory_limit_bytes')}")  # of jobs with a limit

    cores = f"rate(bpfmon_user_cpu_seconds_total{{{chosen}}}[$__rate_interval])"
    waits = f"rate(bpfmon_user_runqueue_wait_seconds_total{{{chosen}}}[$__rate_interval])"

    def grown(metric, divisor):
        return f"sum by (user) (increase(bpfmon_user_{metric}_total{{{chosen}}}[$__range])) / {divisor}"

    return dashboard(
        "bpfmon-users",
        "bpfmon: users",
        "What users used, and what they reserved and did not use",
        [variable("user", values_of("user")), variable("kind", values_of("kind"))],
        [
            curves("Cores in use", [(f"sum by (user) ({cores})", "{{user}}")], stacked=True),
            curves("Threads that wait for a CPU", [(f"sum by (user) ({waits})", "{{user}}")], stacked=True),
            table(
                "Users",
                [
                    ("CPU hours", hours, "h"),
                    ("jobs that ended", f"count by (user) ({most('wall_seconds')})", "short"),
                    ("memory not needed", f"{limits} - {needed}", "bytes"),
                    ("needed of limits", f"{needed} / {limits}", "percentunit"),
                    ("OOM kills", of_jobs(most("oom_kills")), "short"),
                ],
                "CPU hours: of all jobs, however short. The rest: of jobs that ended in the time shown",
                links=False,
            ),
            heading("GPU and energy"),
            table(
                "GPUs and energy of users",
                [
                    ("GPU hours", grown("gpu_seconds", 3600), "h"),
                    ("GPU hours idle", grown("gpu_idle_seconds", 3600), "h"),
                    ("energy by CPU time", grown("energy_apportioned_joules", 3600000), "kwatth"),
                ],
                "Idle: held without work. Energy: the user's share of the machines', by CPU time; without that of GPUs",
                links=False,
            ),
        ],
    )


def nodes():
    chosen = 'instance=~"$instance"'

    def rates(metric, by="instance"):
        return f"sum by ({by}) (rate({metric}{{{chosen}}}[$__rate_interval]))"

    def grown(metric):
        return f"increase({metric}{{{chosen}}}[$__range])"

    def of_either(metric):
        """Of what serves Prometheus, or of what sends."""
        return f"{grown(f'bpfmon_exporter_{metric}')} or {grown(f'bpfmon_push_{metric}')}"

    return dashboard(
        "bpfmon-nodes",
        "bpfmon: nodes",
        "Nodes, and whether their agents miss anything",
        [variable("instance", values_of("instance", "bpfmon_agent_up"))],
        [
            figure("Agents that answer", f"sum(bpfmon_agent_up{{{chosen}}})"),
            figure("Agents that do not", f"count(bpfmon_agent_up{{{chosen}}} == 0) or vector(0)", bad_above=1),
            figure("Jobs", f"sum(bpfmon_agent_jobs{{{chosen}}})"),
            figure("Losses", f"sum({grown('bpfmon_agent_losses_total')}) or vector(0)", bad_above=1, about="Of all kinds, in the time shown"),
            curves("Cores in use", [(rates("bpfmon_node_cpu_seconds_total"), "{{instance}}")]),
            curves("Memory", [(f"bpfmon_node_rss_bytes{{{chosen}}}", "{{instance}}")], "bytes"),
            curves("Page faults that waited for a disk", [(rates("bpfmon_node_majflt_total"), "{{instance}}")], "ops"),
            curves("Storage", [(rates("bpfmon_node_read_bytes_total"), "{{instance}} read"), (rates("bpfmon_node_write_bytes_total"), "{{instance}} written")], "Bps"),
            curves("Losses", [(rates("bpfmon_agent_losses_total", "instance, what"), "{{instance}} {{what}}")], "ops"),
            curves("CPU of the agents", [(rates("bpfmon_agent_cpu_seconds_total"), "{{instance}}")], "percentunit", about="1: a core"),
            table(
                "Agents",
                [
                    ("answers", f"bpfmon_agent_up{{{chosen}}}", "short"),
                    ("last line", f"time() - bpfmon_agent_last_line_time_seconds{{{chosen}}}", "s"),
                    ("memory", f"bpfmon_agent_rss_bytes{{{chosen}}}", "bytes"),
                    ("tasks of the most", f"bpfmon_agent_tasks{{{chosen}}} / bpfmon_agent_max_tasks", "percentunit"),
                    ("accounts of the most", f"bpfmon_agent_accounts{{{chosen}}} / bpfmon_agent_max_accounts", "percentunit"),
                    ("late samples", grown("bpfmon_agent_late_ticks_total"), "short"),
                    ("jobs without series", of_either("runs_refused_total"), "short"),
                    ("jobs summed as other", of_either("jobs_summed_total"), "short"),
                ],
                links=False,
            ),
            heading("GPU and energy"),
            curves(
                "GPUs",
                [
                    (f"bpfmon_node_gpus_held{{{chosen}}}", "{{instance}} held"),
                    (f"bpfmon_node_gpus_used{{{chosen}}}", "{{instance}} used"),
                    (f"bpfmon_node_gpus_idle{{{chosen}}}", "{{instance}} idle"),
                ],
                about="Idle: held without work for as long as stalled_after",
            ),
            curves(
                "Power",
                [(rates("bpfmon_node_host_energy_joules_total"), "{{instance}}"), (f"bpfmon_node_gpu_power_watts{{{chosen}}}", "{{instance}} GPUs held")],
                "watt",
                about="Of processors and memory, as their counters have it, and of GPUs",
            ),
            heading("bpfmon-push"),
            curves("Lines that were accepted", [(rates("bpfmon_push_samples_total"), "{{instance}} samples"), (rates("bpfmon_push_rows_total"), "{{instance}} rows of ended jobs")], "ops"),
            curves(
                "Lines that were lost",
                [
                    (rates("bpfmon_push_samples_dropped_total"), "{{instance}} samples dropped"),
                    (rates("bpfmon_push_rows_dropped_total"), "{{instance}} rows dropped"),
                    (rates("bpfmon_push_samples_rejected_total"), "{{instance}} samples rejected"),
                    (rates("bpfmon_push_rows_rejected_total"), "{{instance}} rows rejected"),
                ],
                "ops",
                about="Dropped: no room in the spool. Rejected: by the server, for good",
            ),
            curves("Room of the spool in use", [(f"bpfmon_push_spool_used_bytes{{{chosen}}} / bpfmon_push_spool_max_bytes", "{{instance}}")], "percentunit"),
            curves(
                "Time since the server last accepted something",
                [(f"bpfmon_push_waiting_seconds{{{chosen}}}", "{{instance}}")],
                "s",
                about="While something waits. In an outage it comes afterwards, as everything does",
            ),
        ],
    )
