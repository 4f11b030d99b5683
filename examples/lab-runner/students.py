# SPDX-License-Identifier: MIT OR Apache-2.0
# A host of the lab in Python: creates the students of the scenario `students`, as dicts and as tuples.
import json
import os
import platform
import sys
import time

MAKE = {
    "python-dicts": lambda i: {"rollNum": i, "name": f"student {i}"},
    "python-tuples": lambda i: (i, f"student {i}"),
}


def describe():
    mechanisms = [{"scenario": "students", "mechanism": name} for name in MAKE]
    step_us = time.get_clock_info("perf_counter").resolution * 1e6
    return {"protocol": 1, "host": os.environ["CLEARWAY_LAB_HOST"], "runtime": f"Python {platform.python_version()}",
            "fresh": "process", "crossOriginIsolated": True, "clockStepUs": step_us, "mechanisms": mechanisms}


def measure(cell):
    make, rows = MAKE[cell["mechanism"]], cell["params"]["rows"]
    ends = lambda row: row if isinstance(row, dict) else {"rollNum": row[0], "name": row[1]}
    begin = time.perf_counter_ns()
    students = [make(i) for i in range(1, rows + 1)]
    result = {"length": len(students), "first": ends(students[0]), "last": ends(students[-1])}
    ns = time.perf_counter_ns() - begin
    ms = {"unit": "ms", "value": ns / 1e6}  # one thread makes the rows and is blocked all the time
    return {"samples": {"make": {"unit": "ms", "n": 1, "raw": [ns]}},
            "values": {"totalRuntime": ms, "longestStall": ms}, "result": result, "notes": []}


for line in sys.stdin:
    request = json.loads(line)
    try:
        result = describe() if request["op"] == "describe" else measure(request["cell"])
        answer = {"id": request["id"], "ok": True, "result": result}
    except Exception as error:
        answer = {"id": request["id"], "ok": False, "error": {"message": repr(error)}}
    print(json.dumps(answer), flush=True)
