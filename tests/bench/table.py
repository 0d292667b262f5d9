# SPDX-License-Identifier: BSD-2-Clause
"""The results as Markdown."""

import paired


def markdown(results):
    parts = [machine(results["machine"])]
    if results["ratios"]:
        parts.append(ratios(results["ratios"]))
    if results["figures"]:
        parts.append(figures(results["figures"]))
    notes = [f"- {name}: {why}" for name, why in results["skipped"].items()]
    notes += [f"- broken: {text}" for text in results["broken"]]
    if notes:
        parts.append("\n".join(notes))
    return "\n\n".join(parts)


def machine(m):
    return (f"Linux {m['kernel']}, {m['cpus']} CPUs ({m['model']}), "
            f"load {m['load_before'][0]:.2f} before, {m['load_after'][0]:.2f} after")


def lines(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    out += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(out)


def bracket(found):
    if found is None:
        return "-"
    if found["low"] is None:
        return "-"
    return f"{found['low']:.4f} to {found['high']:.4f}"


def ratios(rows):
    head = ["workload", "under", "workload ratio", "95 % interval", "pairs", "target", "verdict",
            "whole command", "95 % interval", "CPU ratio", "bare s"]
    body = []
    for r in rows:
        cpu = f"{r['cpu']['median']:.4f}" if r["cpu"] else "-"
        target = f"{r['target']:.2f}" if r["target"] is not None else "-"
        body.append([r["workload_name"], r["tool"], f"{r['workload']['median']:.4f}",
                     bracket(r["workload"]), str(r["pairs"]), target, r["verdict"],
                     f"{r['whole']['median']:.4f}", bracket(r["whole"]), cpu,
                     f"{r['bare_seconds']:.2f}"])
    text = ("The workload ratio compares the seconds the workload itself measured, the whole "
            "command adds start and end of\nthe tool. The median of the ratios of pairs; too "
            f"noisy is an interval not narrower than {paired.WIDTH}\n(for other tools: times the "
            "ratio); the target is reached when the lower end of the interval is not above it.\n"
            "The CPU ratio is that of the workload's processes.")
    return lines(head, body) + "\n\n" + text


def figures(rows):
    head = ["figure", "median", "unit", "interval", "runs", "target", "verdict"]
    body = []
    for r in rows:
        target = number(r["target"]) if r["target"] is not None else "-"
        if r["median"] is None:
            body.append([r["name"], "absent", r["unit"], "-", "0", target, "-"])
            continue
        span = f"{number(r['low'])} to {number(r['high'])}"
        if r["interval"] == "range":
            span += " (range)"
        body.append([r["name"], number(r["median"]), r["unit"], span, str(len(r["values"])),
                     target, r["verdict"]])
    return lines(head, body)


def number(value):
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"
