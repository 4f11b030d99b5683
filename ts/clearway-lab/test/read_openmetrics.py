# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads OpenMetrics text from the standard input with Prometheus's client library. Prints its families as JSON."""

import json
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

text = sys.stdin.buffer.read().decode("utf-8")
families = {
    family.name: {
        "type": family.type,
        "unit": family.unit,
        "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
    }
    for family in text_string_to_metric_families(text)
}
json.dump(families, sys.stdout)
