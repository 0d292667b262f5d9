# SPDX-License-Identifier: BSD-2-Clause
"""Executes a notebook and answers questions about it: execute.py NOTEBOOK FOLDER <QUESTIONS >ANSWERS

QUESTIONS is a JSON object: `parameters` are lines of Python behind the cell of parameters, `ask` are
expressions by name, for what the notebook has in the end; `figures` in them is the list of all it drew.
ANSWERS has `answers`, what cells `printed` and `warned`, the `error` that ended it ("": none), and `images`: the
figures, as files in FOLDER, and how many shades there are in each.
"""

import base64
import json
import pathlib
import sys

import matplotlib.font_manager  # builds its cache, which the notebook would tell of
import matplotlib.image
import nbclient
import nbformat

WATCH = """
figures, _subplots = [], plt.subplots
def _watched(*args, **kwargs):
    figure, axes = _subplots(*args, **kwargs)
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
    book.cells.append(new(ANSWER.format(repr(questions.get("ask", {})))))
    return book


def main():
    path, folder = sys.argv[1:]
    questions = json.load(sys.stdin)
    book = prepared(path, questions)
    said = {"error": "", "answers": {}, "images": [], "printed": "", "warned": ""}
    try:
        nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
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
            pixels = matplotlib.image.imread(image).reshape(-1, 4)
            said["images"].append({"path": str(image), "shades": len(set(map(tuple, pixels.tolist())))})
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
