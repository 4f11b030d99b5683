# SPDX-License-Identifier: MIT OR Apache-2.0
"""For arrow.node.test.ts. With the argument "read": reads an Arrow IPC stream from stdin, and prints its schema and rows as JSON.
With "write": prints Arrow IPC streams with the types of other libraries, in base64 as JSON."""

import base64
import datetime
import io
import json
import sys

import pyarrow as pa


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


def read():
    reader = pa.ipc.open_stream(sys.stdin.buffer)
    table = reader.read_all()
    # Timestamps and dates as stored numbers, because Python's own types end at microseconds.
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(at, pa.field(field.name, pa.int64()), table.column(at).cast(pa.int64()))
        if pa.types.is_date32(field.type):
            table = table.set_column(at, pa.field(field.name, pa.int32()), table.column(at).cast(pa.int32()))
    table.validate(full=True)
    json.dump(
        {
            "version": pa.__version__,
            "types": {field.name: str(field.type) for field in reader.schema},
            "nullable": [field.name for field in reader.schema if field.nullable],
            "rows": [plain(row) for row in table.to_pylist()],
        },
        sys.stdout,
    )


texts = ["", "a", None, "twelve bytes", "more than twelve bytes é", "x" * 300]
days = [0, 19_000, None, -1, 2_932_896, -719_162]
lists = [[], ["a"], None, ["", "more than twelve bytes"], ["x" * 300, "b", "c"], ["é"]]
dates = [None if day is None else datetime.date(1970, 1, 1) + datetime.timedelta(days=day) for day in days]
raw = [None if text is None else text.encode() for text in texts]


def dictionary(index, value):
    codes = pa.array([0, 1, None, 1, 0, 2], index)
    return pa.DictionaryArray.from_arrays(codes, pa.array(["zero", "one", "more than twelve bytes"], value))


supported = {
    "large": pa.array(texts, pa.large_string()),
    "view": pa.array(texts, pa.string_view()),
    "large_raw": pa.array(raw, pa.large_binary()),
    "view_raw": pa.array(raw, pa.binary_view()),
    "date32": pa.array(dates, pa.date32()),
    "date64": pa.array(dates, pa.date64()),
    "labels": pa.array(lists, pa.list_(pa.string())),
    "large_labels": pa.array(lists, pa.large_list(pa.large_string())),
    "view_labels": pa.array(lists, pa.large_list(pa.string_view())),
    "numbers": pa.array([[1.5], [], None, [2, 3], [4], [5]], pa.large_list(pa.float64())),
    "wide_codes": dictionary(pa.int64(), pa.string()),
    "large_words": dictionary(pa.uint32(), pa.large_string()),
    "small_codes": dictionary(pa.int8(), pa.string()),
    "place": pa.StructArray.from_arrays([pa.array(texts, pa.string_view()), pa.array(dates, pa.date32())], ["city", "day"]),
}
unsupported = {
    "time": pa.array([1, 2], pa.time32("ms")),
    "duration": pa.array([1, 2], pa.duration("ms")),
    "decimal": pa.array([1, 2], pa.decimal128(10, 2)),
    "half": pa.array([1, 2], pa.float16()),
    "fixed": pa.array([b"ab", b"cd"], pa.binary(2)),
    "fixed_list": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)),
    "nested_list": pa.array([[[1]], []], pa.list_(pa.list_(pa.int32()))),
    "dates_list": pa.array([[0], []], pa.list_(pa.date32())),
    "structs_list": pa.array([[{"a": 1}], []], pa.list_(pa.struct({"a": pa.int32()}))),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
    "nothing": pa.nulls(2),
    "number_codes": pa.array([1, 2]).dictionary_encode(),
    "nulls_in_list": pa.array([[1, None], []], pa.list_(pa.int32())),
    "nulls_in_texts": pa.array([["a", None], []], pa.list_(pa.string())),
    "interval": pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval()),
}


def stream(table, *more):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=4)
        for each in more:
            writer.write_table(each)
    return base64.b64encode(sink.getvalue()).decode()


def write():
    streams = {name: stream(pa.table({name: column})) for name, column in unsupported.items()}
    table = pa.table(supported)
    json.dump({"supported": stream(table, table.slice(1, 4)), **streams}, sys.stdout)


read() if sys.argv[1] == "read" else write()
