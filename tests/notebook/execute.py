# SPDX-License-Identifier: BSD-2-Clause
"""Executes a notebook and answers questions about it: execute.py NOTEBOOK <QUESTIONS >ANSWERS

Each line of QUESTIONS is a JSON object and one execution, each line of ANSWERS what became of it. All are in one kernel,
because it and its libraries take longer to start than most executions; each begins with no name, and the `environment`.
`parameters` are lines of Python behind the cell of parameters, `ask` are expressions by name, for what the notebook has
in the end; `figures` in them is the list of all it drew. The answer has `answers`, what cells `printed` and `warned`, the
`error` that ended it ("": none), and `images`: the figures, as files in `folder`, and how many shades there are in each.
"""

import base64
import json
import pathlib
import sys
import tempfile

import jupyter_client
import matplotlib.font_manager  # builds its cache, which the notebook would tell of
import matplotlib.image
import nbclient
import nbformat
import numpy

# what has warned before warns again
BEGIN = """
%reset -f
import os, warnings
os.environ.update({})
with warnings.catch_warnings():
    pass
"""
WATCH = """
figures, plt.unwatched = [], getattr(plt, "unwatched", plt.subplots)
def _watched(*args, **kwargs):
    figure, axes = plt.unwatched(*args, **kwargs)
    figures.append(figure)
    return figure, axes
plt.subplots = _watched
"""
ANSWER = """
import json
print(json.dumps({{name: eval(text) for name, text in {}.items()}}, default=float))
"""


def prepared(path, questions):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    at = {cell.id: i for i, cell in enumerate(book.cells)}
    new = nbformat.v4.new_code_cell
    book.cells.insert(at["setup"] + 1, new(WATCH))
    book.cells.insert(at["parameters"] + 1, new(questions.get("parameters", "")))
    book.cells.insert(0, new(BEGIN.format(repr(questions["environment"]))))
    book.cells.append(new(ANSWER.format(repr(questions.get("ask", {})))))
    return book


def execute(path, questions, kernel):
    book = prepared(path, questions)
    folder = questions["folder"]
    said = {"error": "", "answers": {}, "images": [], "printed": "", "warned": ""}
    try:
        nbclient.NotebookClient(book, km=kernel, timeout=300).execute()
    except nbclient.exceptions.CellExecutionError:
        pass
    else:
        said["answers"] = json.loads(book.cells.pop().outputs[0].text)
    for output in (output for cell in book.cells for output in cell.get("outputs", [])):
        if output.output_type == "error":
            said["error"] += "\n".join(output.traceback)
        elif output.output_type == "stream":
            said["printed" if output.name == "stdout" else "warned"] += output.text
        elif "image/png" in output.get("data", {}):
            image = pathlib.Path(folder) / f"figure-{len(said['images'])}.png"
            image.write_bytes(base64.b64decode(output.data["image/png"]))
            pixels = (matplotlib.image.imread(image) * 255).round().astype("u1")
            said["images"].append({"path": str(image), "shades": numpy.unique(pixels.reshape(-1).view("u4")).size})
    return said


def main():
    (path,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        # a free port may be another's by the time at which the kernel listens there
        kernel = jupyter_client.KernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        kernel.start_kernel()
        try:
            for line in sys.stdin:
                print(json.dumps(execute(path, json.loads(line), kernel)), flush=True)
        finally:
            kernel.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
