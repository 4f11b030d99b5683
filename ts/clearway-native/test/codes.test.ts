// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nativeErrorCodes } from "../src/index.js";
import { statuses } from "../src/status.js";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the statuses equal those of clearway.h", () => {
  const header = read("../../../native/include/clearway.h");
  const of = (name: string): number => Number(new RegExp(`#define CLEARWAY_${name} (\\d+)`).exec(header)?.[1]);
  for (const [name, number] of Object.entries(statuses)) expect(`${name} ${of(name)}`).toBe(`${name} ${number}`);
});

test("spec/errors.md lists every code of native plugins, in order, with the package's meaning", () => {
  const page = read("../../../spec/errors.md");
  const part = page.slice(page.indexOf("## Native plugins"));
  const rows = [...part.matchAll(/^\| `([a-z-]+)` \| (.*?) \| .+ \|$/gm)].map(([, code, meaning]) => [code, meaning]);
  const source = read("../src/error.ts");
  const given = [...source.matchAll(/\/\*\* (.+) \*\/\n\s+"([a-z-]+)"/g)].map(([, meaning, code]) => [code, meaning]);
  expect(given.map(([code]) => code)).toEqual([...nativeErrorCodes]);
  expect(rows).toEqual(given);
});
