// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { breaks, parsed, read, shown } from "../../scripts/check/header-api.mjs";

const header = `#define CLEARWAY_ABI_MAJOR 1
#define CLEARWAY_ABI_MINOR 0
typedef int32_t status;
typedef struct text { const char *data; size_t size; } text;
// A comment; with (*code)(void) and struct x {
typedef struct host {
  size_t size;
  uint32_t odd;
  status (*log)(text line,
                uint32_t level);
} host;
status open(text path);
`;

const changed = (from: string | RegExp, to: string): string[] => breaks(read(header), read(header.replace(from, to)));

test("a header is read with the offset of each field", () => {
  expect(read(header).structs.host).toMatchObject({
    size: 24,
    fields: [{ offset: 0 }, { name: "odd", offset: 8 }, { name: "log", offset: 16 }],
  });
});

test("the snapshot has all that the check compares", () => {
  expect(breaks(parsed(shown(read(header))), read(header))).toEqual([]);
  expect(shown(parsed(shown(read(header))))).toBe(shown(read(header)));
  const committed = readFileSync(new URL("../../native/api/headers.txt", import.meta.url), "utf8");
  expect(shown(parsed(committed))).toBe(committed);
});

test("a change that breaks a built plugin is reported", () => {
  expect(changed("uint32_t odd;", "uint64_t odd;")).toEqual(['host: byte 8 was "uint32_t odd" and is "uint64_t odd"']);
  expect(changed("uint32_t odd;", "")).toHaveLength(2);
  expect(changed("uint32_t level", "uint64_t level")).toHaveLength(1);
  expect(changed("status open(text path);", "")).toEqual(['open was "status open(text path)" and is gone']);
  expect(changed("typedef int32_t", "typedef uint32_t")).toHaveLength(1);
  expect(changed("const char *data; size_t size;", "const char *data; size_t size; size_t more;")).toContain(
    "text has no field size, so it must get no further field",
  );
});

test("another name of a parameter breaks nothing", () => {
  expect(changed("text path", "text file")).toEqual([]);
  expect(changed("uint32_t level", "uint32_t severity")).toEqual([]);
});

test("a further field needs another minor version", () => {
  const further = "uint32_t level);\n  uint64_t more;";
  expect(changed(/uint32_t level\);/, further)).toEqual([expect.stringContaining("raise CLEARWAY_ABI_MINOR")]);
  expect(
    breaks(read(header), read(header.replace(/uint32_t level\);/, further).replace("MINOR 0", "MINOR 1"))),
  ).toEqual([]);
});

test("with another major version, everything may change", () => {
  expect(breaks(read(header), read("#define CLEARWAY_ABI_MAJOR 2"))).toEqual([]);
});
