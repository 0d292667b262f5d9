# SPDX-License-Identifier: BSD-2-Clause
"""A run whose every text is an attack on the page that shows it."""

import synthetic

HOSTILE = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=2'>\"'&\x1b[31m\u202e\n--><!--"


def hostile_run():
    lines = list(synthetic.lines(20, 3))
    lines[0].update(command=["sh", "-c", HOSTILE], cwd=HOSTILE, name=HOSTILE, tags={HOSTILE: HOSTILE}, user=HOSTILE)
    lines[0]["capabilities"][HOSTILE] = {"available": False, "reason": HOSTILE}
    for line in lines:
        if line["kind"] == "process":
            line.update(comm=HOSTILE[:15], exe=HOSTILE, args=[HOSTILE, "x" * 100_000])
    lines[-1].update(complete=False, reason=HOSTILE, losses={HOSTILE: 1}, programs=[{"exe": HOSTILE, "processes": 3}])
    for name in ("mark", HOSTILE):
        lines.insert(-1, {"kind": "event", "time": synthetic.START + 1, "event": name, "text": HOSTILE, HOSTILE: HOSTILE})
    return lines
