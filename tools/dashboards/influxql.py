# SPDX-License-Identifier: BSD-2-Clause
"""The dashboard for InfluxDB, by InfluxQL."""

from dashboards.panels import WAITS, WIDTH, curves, dashboard, figure, panel, variable

INFLUX = {"type": "influxdb", "uid": "$datasource"}
OF_INSTANCE = '"instance" =~ /^${instance:regex}$/'
OF_USER = '"user" =~ /^${user:regex}$/ AND "kind" =~ /^${kind:regex}$/ AND "nested" = \'\''
OF_JOBS = f"{OF_USER} AND {OF_INSTANCE}"
OF_ONE_JOB = '"job" =~ /^${job:regex}$/'
SHOWN = "$timeFilter"
LAST = "time > ${__to}ms - 5m AND time <= ${__to}ms"  # of what is there at the end of the time shown
ENDED = f"bpfmon_job_ended WHERE {SHOWN} AND {OF_JOBS}"


def select(what, source, where="", by=""):
    """The innermost query has the time. In those around it InfluxDB cannot filter by what is no tag or column of theirs."""
    return f"SELECT {what} FROM {source}{where and f' WHERE {where}'}{by and f' GROUP BY {by}'}"


def in_steps(by=""):
    return f"time($__interval){by and f', {by}'} fill(none)"


def every(calculation, metric, name, measurement, where):
    """A transformation of each series, for whose points no two series may be mixed: also those of other tags."""
    return "(" + select(f'{calculation} AS "{name}"'.replace("@", f'"{metric}"'), measurement, f"{SHOWN} AND {where}", "*") + ")"


def summed(source, name, by):
    """The sum of all series at a time, of which each has the mean of its own points."""
    means = select(f'mean("{name}") AS "{name}"', source, SHOWN, in_steps("*"))
    return select(f'sum("{name}") AS "{name}"', f"({means})", SHOWN, in_steps(by))


def grows(metric, where, by="", name="rate", measurement="bpfmon_job"):
    """The growth of a counter in a second."""
    return summed(every("non_negative_derivative(@, 1s)", metric, name, measurement, where), name, by)


def level(metric, where, by="", name="value", measurement="bpfmon_job"):
    return summed(every("@", metric, name, measurement, where), name, by)


def increases(columns, measurement, where, by):
    """`columns`: (title, counter, divided by). What each grew by in the time shown."""
    each = ", ".join(f'non_negative_difference("{metric}") AS "{name}"' for name, metric, _ in columns)
    inner = select(each, measurement, f"{SHOWN} AND {where}", "*")
    sums = ", ".join(f'sum("{name}")' + (f" / {part}" if part != 1 else "") + f' AS "{name}"' for name, _, part in columns)
    return select(sums, f"({inner})", by=by)


def live(columns):
    """
    A row for each job that runs and each of its nodes; the last point of a job that ended says so. A sum over nodes is
    left to Grafana: where the groups of two nested queries differ, InfluxDB 1.6 loses fields that some series lack.
    It takes a nested quotient of integers as an integer, unless that begins with 1.0.
    """
    names = ", ".join(f'"{name}"' for name in columns)
    each = ", ".join(f'{what} AS "{name}"' for name, what in columns.items())
    series = select(f'{each}, last("running") AS "running"', "bpfmon_job", f"{LAST} AND {OF_JOBS}", "*")
    return select(names, f"({series})", '"running" > 0', "*")


def live_cores():
    """The rates at the end; "over" is -1 for jobs that ended."""
    columns = 'non_negative_derivative("cpu_seconds_total", 1s) AS "cores", difference("running") AS "over"'
    rates = select(columns, "bpfmon_job", f"{LAST} AND {OF_JOBS}", "*")
    series = select('last("cores") AS "cores", last("over") AS "over"', f"({rates})", by="*")
    return select('"cores"', f"({series})", '"over" >= 0', "*")


def live_jobs():
    series = select('last("running") AS "running"', "bpfmon_job", f"{LAST} AND {OF_JOBS}", "*")
    return select('count("running")', "(" + select('sum("running") AS "running"', f"({series})", '"running" > 0', '"job"') + ")")


def largest(query, name):
    """At each time the ten largest jobs: InfluxQL cannot choose series by their values."""
    return select(f'top("{name}", "job", "user", 10) AS "{name}"', f"({query})", SHOWN, "time($__interval)")


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"w": WIDTH, "h": 1}, "panels": []}


def as_influxql(one):
    """The panel for InfluxDB, whose queries are InfluxQL; legends of series are $tag_NAME or $col."""
    is_table = one["type"] == "table" or "transformations" in one
    one["datasource"] = INFLUX
    for each in one["targets"]:
        query, alias = each.pop("expr"), each.pop("legendFormat")
        for other in ("instant", "range", "format"):
            each.pop(other, None)
        each |= {"datasource": INFLUX, "query": query, "rawQuery": True, "resultFormat": "table" if is_table else "time_series"}
        if alias != "__auto":
            each["alias"] = alias
    if one["type"] == "stat":
        one["fieldConfig"]["defaults"]["noValue"] = "0"
    if one["type"] == "timeseries":
        one["interval"] = "30s"  # at least that of points, so that each step has one of each series
    return one


def influx_curves(*args, **also):
    return as_influxql(curves(*args, **also))


def influx_figure(*args, **also):
    return as_influxql(figure(*args, **also))


def influx_largest(title, query, name, unit="short"):
    one = curves(title, [(largest(query, name),)], unit)
    one["fieldConfig"]["defaults"]["displayName"] = "${__field.labels.job} ${__field.labels.user}"
    one["transformations"] = [{"id": "prepareTimeSeries", "options": {"format": "multi"}}]
    return as_influxql(one)


def influx_table(title, queries, units, about="", links=True, time=False):
    """Rows of several queries become one where their tags are equal. `units`: of columns; the first is sorted by."""
    first = next(iter(units))
    link = {"title": "This job on all of its nodes", "url": "/d/bpfmon-influxdb?var-job=${__data.fields.job}&${__url_time_range}"}
    overrides = [{"matcher": {"id": "byName", "options": name}, "properties": [{"id": "unit", "value": unit}]} for name, unit in units.items()]
    if links:
        overrides.append({"matcher": {"id": "byName", "options": "job"}, "properties": [{"id": "links", "value": [link]}]})
    named = {"excludeByName": {} if time else {"Time": True}, "indexByName": {}, "renameByName": {"Time": "ended"} if time else {}}
    options = {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": first, "desc": True}]}
    transformations = [{"id": "organize", "options": named}, {"id": "merge", "options": {}}]
    targets = [(query,) for query in queries]
    return as_influxql(
        panel("table", title, WIDTH, 10, targets, "short", about, overrides=overrides, transformations=transformations, options=options)
    )


def influx_variable(name, measurement, where="", all_values=True):
    query = f'SHOW TAG VALUES FROM "{measurement}" WITH KEY = "{name}" WHERE {SHOWN}{where and f" AND {where}"}'
    return variable(name, query, all_values) | {"datasource": INFLUX, "query": query}


def influx_sum(title, query, unit="short", about="", bad_above=None):
    """The sum of all rows."""
    one = influx_figure(title, query, unit, about, bad_above)
    one["options"] |= {"reduceOptions": {"calcs": ["sum"]}, "graphMode": "none"}
    one["targets"][0]["resultFormat"] = "table"
    return one


def influx_live():
    values = {
        "memory": 'last("rss_bytes")', "of its limit": '1.0 * last("rss_anon_bytes") / last("memory_limit_bytes")',
        "processes": 'last("processes")', "stalled on": 'last("stalled")', "started": 'last("start_time_seconds") * 1000',
    }  # fmt: skip
    units = {"cores": "short", "memory": "bytes", "of its limit": "percentunit", "started": "dateTimeFromNow"}
    about = "Of its limit: anonymous memory, which cannot be dropped, on the node that is nearest to its limit"
    running = influx_table("Running jobs", [live_cores(), live(values)], units, about)
    calculations = {"cores": "sum", "memory": "sum", "of its limit": "max", "instance": "count", "processes": "sum", "stalled on": "sum", "started": "min"}
    of_jobs = {name: {"operation": "groupby", "aggregations": []} for name in ("job", "user", "kind", "name")}
    of_jobs |= {name: {"operation": "aggregate", "aggregations": [what]} for name, what in calculations.items()}
    names = {f"{name} ({what})": "nodes" if name == "instance" else name for name, what in calculations.items()}
    running["transformations"] += [
        {"id": "groupBy", "options": {"fields": of_jobs}},
        {"id": "organize", "options": {"excludeByName": {}, "indexByName": {}, "renameByName": names}},
    ]
    return [
        row("Jobs that run"),
        influx_figure("Running jobs", live_jobs(), about="Those that are summed up as other count as one"),
        influx_sum("Cores in use", live_cores()),
        influx_sum("Memory", live({"memory": values["memory"]}), "bytes", "Resident memory of the jobs"),
        influx_sum("Stalled jobs", live({"stalled": values["stalled on"]}), bad_above=1),
        influx_largest("Cores of the ten largest jobs", grows("cpu_seconds_total", OF_JOBS, '"job", "user"', "cores"), "cores"),
        influx_largest("Memory of the ten largest jobs", level("rss_bytes", OF_JOBS, '"job", "user"', "memory"), "memory", "bytes"),
        running,
    ]


def influx_ended():
    columns = (
        '"job", "user", "kind", "name", "instance", "cpu_seconds" AS "CPU time", "wall_seconds" AS "wall time", '
        '"cpu_seconds" / "wall_seconds" AS "cores", "runqueue_wait_seconds" AS "waited for a CPU", "memory_needed_bytes" AS "memory needed", '
        '"memory_limit_bytes" AS "memory limit", "memory_needed_bytes" / "memory_limit_bytes" AS "needed of limit", '
        '"read_bytes" AS "read", "write_bytes" AS "written", "oom_kills" AS "OOM kills"'
    )
    units = {
        "ended": "dateTimeAsIso", "CPU time": "s", "wall time": "s", "cores": "short", "waited for a CPU": "s", "memory needed": "bytes",
        "memory limit": "bytes", "needed of limit": "percentunit", "read": "bytes", "written": "bytes", "OOM kills": "short",
    }  # fmt: skip
    about = "The last 1000, on each of their nodes. Cores: CPU time by wall time"
    return [
        row("Jobs that ended"),
        influx_table("Jobs that ended", [f"SELECT {columns} FROM {ENDED} ORDER BY time DESC LIMIT 1000"], units, about, time=True),
    ]


def influx_users():
    sums = 'count(distinct("job")) AS "jobs that ended", sum("oom_kills") AS "OOM kills"'
    limits = (
        'sum("memory_limit_bytes") - sum("memory_needed_bytes") AS "memory not needed", '
        'sum("memory_needed_bytes") / sum("memory_limit_bytes") AS "needed of limits"'
    )
    measurement = "bpfmon_user"
    where = f"{OF_USER} AND {OF_INSTANCE}"
    return [
        row("Users"),
        influx_curves("Cores in use", [(grows("cpu_seconds_total", where, '"user"', measurement=measurement), "$tag_user")], stacked=True),
        influx_curves(
            "Threads that wait for a CPU",
            [(grows("runqueue_wait_seconds_total", where, '"user"', measurement=measurement), "$tag_user")],
            stacked=True,
        ),
        influx_table(
            "Users",
            [
                increases([("CPU hours", "cpu_seconds_total", 3600)], measurement, where, '"user"'),
                increases([("GPU hours", "gpu_seconds_total", 3600)], measurement, where, '"user"'),
                f'SELECT {sums} FROM {ENDED} GROUP BY "user"',
                f'SELECT {limits} FROM {ENDED} AND "memory_limit_bytes" > 0 AND "memory_needed_bytes" >= 0 GROUP BY "user"',
            ],
            {"CPU hours": "h", "GPU hours": "h", "jobs that ended": "short", "memory not needed": "bytes", "needed of limits": "percentunit"},
            "CPU and GPU hours: of all jobs, however short. The rest: of jobs that ended in the time shown",
            links=False,
        ),
    ]


def influx_job():
    by, node = '"instance"', "$tag_instance"

    def rate(metric, legend=node):
        return grows(f"{metric}_total", OF_ONE_JOB, by), legend

    def gauge(metric, legend=node):
        return level(metric, OF_ONE_JOB, by), legend

    def all_threads(metric, legend):
        return grows(f"{metric}_seconds_total", OF_ONE_JOB), legend

    dashed = {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [6, 6]}}
    limits = {"matcher": {"id": "byRegexp", "options": ".* limit"}, "properties": [dashed, {"id": "custom.fillOpacity", "value": 0}]}
    optional = "Needs metrics = all in the section [push]"
    more = "Needs metrics = more in the section [push]"
    return [
        row("Job $job on its nodes"),
        influx_curves("Cores", [rate("cpu_seconds")]),
        influx_curves("Memory", [gauge("rss_bytes"), gauge("memory_limit_bytes", f"{node} limit")], "bytes", overrides=[limits]),
        influx_curves("Threads", [all_threads("cpu", "run"), all_threads("runqueue_wait", "wait for a CPU")], stacked=True, about="Threads at a time"),
        influx_curves("Waits for", [all_threads(f"wait_{kind}", kind) for kind in WAITS], stacked=True, about=f"Threads at a time, estimated. {optional}"),
        influx_curves("Storage", [rate("read_bytes", f"{node} read"), rate("write_bytes", f"{node} written")], "Bps"),
        influx_curves("Page faults that waited for a disk", [rate("majflt")], "ops"),
        influx_curves("Processes and threads", [gauge("processes", f"{node} processes"), gauge("threads", f"{node} threads")]),
        influx_curves("Context switches", [rate("nvcsw", f"{node} voluntary"), rate("nivcsw", f"{node} involuntary")], "ops", about=optional),
        influx_curves("GPUs", [gauge("gpus_held", f"{node} held"), gauge("gpus_idle", f"{node} idle"), rate("gpu_seconds", f"{node} used")]),
        influx_curves("GPU memory", [gauge("gpu_memory_bytes")], "bytes"),
        influx_curves("Power of the GPUs held", [gauge("gpu_power_watts")], "watt", about=f"Of the whole GPUs. {more}"),
        influx_curves("Share of the machine's power by CPU time", [rate("energy_apportioned_joules")], "watt", about=f"Not measured. {more}"),
    ]


def influx_nodes():
    by, tag = '"instance"', "$tag_instance"
    up = select('last("up") AS "up"', "bpfmon_agent", f"{LAST} AND {OF_INSTANCE}", by)
    lost = [("lost", "losses_total", 1)]

    def rate(measurement, metric, legend=tag, groups=by):
        return grows(metric, OF_INSTANCE, groups, measurement=measurement), legend

    agents = ", ".join(
        ['last("up") AS "answers"', 'last("last_line_time_seconds") * 1000 AS "last line"', 'last("rss_bytes") AS "memory"']
        + [f'1.0 * last("{what}") / last("max_{what}") AS "{what} of the most"' for what in ("tasks", "accounts")]
    )
    return [
        row("Nodes"),
        influx_figure("Agents that answer", select('count("up")', f"({up})", '"up" = 1')),
        influx_figure("Agents that do not", select('count("up") - sum("up")', f"({up})"), bad_above=1),
        influx_figure("Nodes that send", select('count("up")', f"({up})"), about="In the last 5 minutes"),
        influx_figure("Losses", increases(lost, "bpfmon_agent", OF_INSTANCE, ""), bad_above=1, about="Of all kinds, in the time shown"),
        influx_curves("Cores in use", [rate("bpfmon_node", "cpu_seconds_total")]),
        influx_curves("Memory", [(level("rss_bytes", OF_INSTANCE, by, measurement="bpfmon_node"), tag)], "bytes"),
        influx_curves(
            "Storage", [rate("bpfmon_node", "read_bytes_total", f"{tag} read"), rate("bpfmon_node", "write_bytes_total", f"{tag} written")], "Bps"
        ),
        influx_curves(
            "GPUs held",
            [(level(f"gpus_{what}", OF_INSTANCE, by, measurement="bpfmon_node"), f"{tag} {what}") for what in ("held", "idle")],
            about="Idle: without work for as long as stalled_after",
        ),
        influx_curves("Power", [rate("bpfmon_node", "host_energy_joules_total")], "watt", about="Of processors and memory. Needs metrics = more"),
        influx_curves("Losses", [rate("bpfmon_agent", "losses_total", f"{tag} $tag_what", f'{by}, "what"')], "ops"),
        influx_table(
            "Agents",
            [
                select(agents, "bpfmon_agent", f"{SHOWN} AND {OF_INSTANCE}", by),
                increases([("late samples", "late_ticks_total", 1)], "bpfmon_agent", OF_INSTANCE, by),
            ],
            {"answers": "short", "last line": "dateTimeFromNow", "memory": "bytes", "tasks of the most": "percentunit", "accounts of the most": "percentunit"},
            "As each node last said in the time shown",
            links=False,
        ),
    ]


def influx_senders():
    by, tag, measurement = '"instance"', "$tag_instance", "bpfmon_push"
    share = select('1.0 * last("spool_used_bytes") / last("spool_max_bytes")', measurement, f"{SHOWN} AND {OF_INSTANCE}", in_steps(by))
    gauges = (
        'last("spool_used_bytes") AS "waits in the spool", 1.0 * last("spool_used_bytes") / last("spool_max_bytes") AS "spool of its room", '
        'last("waiting_seconds") AS "nothing accepted for", last("misconfigured") AS "misconfigured"'
    )
    counters = [
        ("samples sent", "samples_total", 1), ("rows sent", "rows_total", 1), ("sent", "sent_bytes_total", 1),
        ("samples dropped", "samples_dropped_total", 1), ("rows dropped", "rows_dropped_total", 1),
        ("samples rejected", "samples_rejected_total", 1), ("rows rejected", "rows_rejected_total", 1),
        ("requests failed", "requests_failed_total", 1),
    ]  # fmt: skip
    units = {"waits in the spool": "bytes", "spool of its room": "percentunit", "nothing accepted for": "s", "sent": "bytes"}
    lost = [
        (grows(f"{what}_total", OF_INSTANCE, by, measurement=measurement), f"{tag} {what.replace('_', ' ')}")
        for what in ("samples_dropped", "samples_rejected", "rows_dropped", "rows_rejected")
    ]
    return [
        row("Senders"),
        influx_curves("Sent", [(grows("sent_bytes_total", OF_INSTANCE, by, measurement=measurement), tag)], "Bps", width=8),
        influx_curves("Spool, of its room", [(share, tag)], "percentunit", width=8),
        influx_curves("Dropped and rejected", lost, "ops", width=8),
        influx_table(
            "bpfmon-push of each node",
            [
                select(gauges, measurement, f"{SHOWN} AND {OF_INSTANCE}", by),
                increases(counters, measurement, OF_INSTANCE, by),
            ],
            units,
            "Samples: lines of live jobs, users and nodes. Rows: of jobs that ended. Sent, dropped, rejected and failed: in the time shown",
            links=False,
        ),
    ]


def influxdb():
    one = dashboard(
        "bpfmon-influxdb",
        "bpfmon: InfluxDB",
        "Jobs, users and nodes, as bpfmon-push sends them to InfluxDB",
        [
            influx_variable("instance", "bpfmon_agent"),
            influx_variable("user", "bpfmon_user"),
            influx_variable("kind", "bpfmon_user"),
            influx_variable("job", "bpfmon_job", OF_JOBS, all_values=False),
        ],
        [*influx_live(), *influx_ended(), *influx_job(), *influx_users(), *influx_nodes(), *influx_senders()],
    )
    one["templating"]["list"][0]["query"] = "influxdb"
    return one
