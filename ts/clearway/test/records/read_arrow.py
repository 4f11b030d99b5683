# SPDX-License-Identifier: MIT OR Apache-2.0
"""Reads an Arrow IPC stream from stdin, and prints its schema and rows as JSON, for arrow.node.test.ts."""

import json
import sys

import pyarrow


def plain(value):
    """Returns a value as JSON can represent it: bytes as lists of numbers, whole numbers as strings."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


reader = pyarrow.ipc.open_stream(sys.stdin.buffer)
table = reader.read_all()
# Timestamps and dates as stored numbers, because Python's own types end at microseconds.
for at, field in enumerate(table.schema):
    if pyarrow.types.is_timestamp(field.type):
        table = table.set_column(at, pyarrow.field(field.name, pyarrow.int64()), table.column(at).cast(pyarrow.int64()))
    if pyarrow.types.is_date32(field.type):
        table = table.set_column(at, pyarrow.field(field.name, pyarrow.int32()), table.column(at).cast(pyarrow.int32()))
table.validate(full=True)
json.dump(
    {
        "version": pyarrow.__version__,
        "types": {field.name: str(field.type) for field in reader.schema},
        "nullable": [field.name for field in reader.schema if field.nullable],
        "rows": [plain(row) for row in table.to_pylist()],
    },
    sys.stdout,
)
