#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the Grafana dashboards share/bpfmon/grafana/*.json: for engines of PromQL, and one for InfluxQL.

Usage: tools/gen-dashboards.py [--check]
  --check  changes nothing; exits 1 when a dashboard is not up to date
"""

import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
SOURCE = {"type": "prometheus", "uid": "$datasource"}
WIDTH = 24  # columns of a dashboard
CHOSEN = 'nested="", instance=~"$instance", user=~"$user", kind=~"$kind"'
JOB = 'job="$job"'
LABELS = "job, user, kind, name"
WAITS = "child futex pipe socket disk lock poll timer other unseen".split()


def ref(number):
    """The name of the query with that number in its panel."""
    return chr(ord("A") + number)


def target(number, expr, legend="", table=False):
    """A query; of a table its present value, otherwise its course."""
    one = {"refId": ref(number), "datasource": SOURCE, "expr": expr, "legendFormat": legend or "__auto"}
    return one | ({"instant": True, "range": False, "format": "table"} if table else {"range": True})


def panel(kind, title, width, height, targets, unit="short", about="", **more):
    defaults = {"unit": unit, "custom": {}} | more.pop("defaults", {})
    return {
        "type": kind,
        "title": title,
        "description": about,
        "datasource": SOURCE,
        "gridPos": {"w": width, "h": height},
        "targets": [target(i, *t, table=kind == "table") for i, t in enumerate(targets)],
        "fieldConfig": {"defaults": defaults, "overrides": more.pop("overrides", [])},
        **more,
    }


def curves(title, targets, unit="short", width=12, stacked=False, about="", overrides=()):
    custom = {"lineWidth": 1, "fillOpacity": 60 if stacked else 10, "showPoints": "never"}
    if stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    defaults = {"custom": custom, "min": 0}
    return panel("timeseries", title, width, 8, targets, unit, about, defaults=defaults, overrides=list(overrides), options=options)


def figure(title, expr, unit="short", about="", bad_above=None, width=6):
    steps = [{"color": "green", "value": None}]
    if bad_above is not None:
        steps.append({"color": "red", "value": bad_above})
    options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none" if bad_above is None else "value", "graphMode": "area"}
    return panel(
        "stat", title, width, 4, [(expr,)], unit, about, defaults={"thresholds": {"mode": "absolute", "steps": steps}}, options=options
    )


def heading(title):
    """A row that begins with a title, which can be closed."""
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"w": WIDTH, "h": 1}, "panels": []}


def table(title, columns, about="", links=True, height=10):
    """`columns`: (title, query, unit). Rows have the labels that all queries have in common."""
    overrides = []
    names = {}
    for i, (name, _, unit) in enumerate(columns):
        names[f"Value #{ref(i)}"] = name
        overrides.append({"matcher": {"id": "byName", "options": name}, "properties": [{"id": "unit", "value": unit}]})
    if links:
        link = {"title": "This job on all of its nodes", "url": "/d/bpfmon-job?var-job=${__data.fields.job}&${__url_time_range}"}
        overrides.append({"matcher": {"id": "byName", "options": "job"}, "properties": [{"id": "links", "value": [link]}]})
    transformations = [
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "indexByName": {}, "renameByName": names}},
    ]
    options = {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": columns[0][0], "desc": True}]}
    targets = [(query,) for _, query, _ in columns]
    return panel("table", title, WIDTH, height, targets, "short", about, overrides=overrides, transformations=transformations, options=options)


def variable(name, query, all_values=True):
    one = {
        "type": "query",
        "name": name,
        "label": name,
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "includeAll": all_values,
        "multi": all_values,
    }
    # empty labels are absent: they match .* only
    return one | ({"allValue": ".*", "current": {"text": "All", "value": "$__all"}} if all_values else {})


def values_of(label, metric="bpfmon_job_running"):
    return f"label_values({metric}, {label})"


def dashboard(uid, title, about, variables, panels):
    x = y = row = 0
    for number, one in enumerate(panels, 1):
        at = one["gridPos"]
        if x + at["w"] > WIDTH:
            x, y, row = 0, y + row, 0
        one["id"] = number
        at["x"], at["y"] = x, y
        x, row = x + at["w"], max(row, at["h"])
    source = {"type": "datasource", "name": "datasource", "label": "data source", "query": "prometheus", "refresh": 1}
    return {
        "uid": uid,
        "title": title,
        "description": about,
        "tags": ["bpfmon"],
        "schemaVersion": 39,
        "editable": True,
        "timezone": "browser",
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "1m",
        "links": [{"type": "dashboards", "title": "bpfmon", "tags": ["bpfmon"], "asDropdown": True, "keepTime": True, "icon": "", "tooltip": "", "url": "", "targetBlank": False, "includeVars": False}],
        "templating": {"list": [source, *variables]},
        "panels": panels,
    }


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
                f'SELECT {sums} FROM {ENDED} GROUP BY "user"',
                f'SELECT {limits} FROM {ENDED} AND "memory_limit_bytes" > 0 AND "memory_needed_bytes" >= 0 GROUP BY "user"',
            ],
            {"CPU hours": "h", "jobs that ended": "short", "memory not needed": "bytes", "needed of limits": "percentunit"},
            "CPU hours: of all jobs, however short. The rest: of jobs that ended in the time shown",
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


def main():
    is_check = sys.argv[1:] == ["--check"]
    stale = []
    for one in (jobs(), one_job(), users(), nodes(), influxdb()):
        path = TOP / f"share/bpfmon/grafana/{one['uid']}.json"
        text = json.dumps(one, indent="\t", ensure_ascii=False) + "\n"
        if is_check and path.read_text() != text:
            stale.append(path.name)
        elif not is_check:
            path.write_text(text)
    if stale:
        sys.exit(f"not up to date, run tools/gen-dashboards.py: {', '.join(stale)}")


main()
