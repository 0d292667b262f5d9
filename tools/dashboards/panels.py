# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a Grafana dashboard: panels, variables, and where they stand."""

SOURCE = {"type": "prometheus", "uid": "$datasource"}
WIDTH = 24  # columns of a dashboard
WAITS = "child futex pipe socket disk lock poll timer other unseen".split()  # what threads wait for


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
