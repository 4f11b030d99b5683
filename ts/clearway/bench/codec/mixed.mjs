// SPDX-License-Identifier: MIT OR Apache-2.0
// The measured messages: small ones, and one of about 2 KB with every supported type.

export const mixed = {
  id: 123_456,
  name: "Zoë Müller",
  active: true,
  score: 98.6,
  none: null,
  big: 2 ** 40,
  tags: ["alpha", "beta", "gamma", "delta", "epsilon"],
  bytes: new Uint8Array(512).map((_, at) => at & 255),
  ints: Int32Array.from({ length: 64 }, (_, at) => at * 1000),
  floats: Float64Array.from({ length: 32 }, (_, at) => at / 3),
  nested: { a: [1, 2, 3, [4, 5, [6]]], b: { c: "text of some length", d: -1, e: 2 ** 31 } },
  rows: Array.from({ length: 10 }, (_, at) => ({ id: at, title: `Row ${at}`, price: 9.99 + at, stock: at % 2 === 0 })),
  text: "A clearway is a stretch of road on which nobody may stop. An app's main thread should be one.",
};

export const messages = {
  null: null,
  int: 7,
  string: "hello world, how are you",
  list: [1, "two", 3.5, true, null],
  map: { a: 1, b: "x", c: [true] },
  "mixed 2 KB": mixed,
};
