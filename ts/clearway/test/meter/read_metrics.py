# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads metrics from the standard input with Prometheus's client library. Prints its families as JSON. Argument: the format."""

import json
import sys

if sys.argv[1] == "openmetrics":
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
else:
    from prometheus_client.parser import text_string_to_metric_families

text = sys.stdin.buffer.read().decode("utf-8")
families = {
    family.name: {
        "type": family.type,
        "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
    }
    for family in text_string_to_metric_families(text)
}
json.dump(families, sys.stdout)
