// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles, in C and in C++, a program that uses every name of clearway.h and clearway_host.h.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { statuses } from "../src/error.js";
import { nativeErrorCodes } from "../src/index.js";
import { include } from "./fixtures/probe.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I", include];

/** Compiles a source and returns the compiler's messages. They are empty if the source compiles. */
function said(program: string, language: readonly string[], source: string): string {
  return spawnSync(program, [...language, ...warnings, "-"], { input: source, encoding: "utf8" }).stderr;
}

const [authors, hosts] = ["clearway.h", "clearway_host.h"].map((name) => readFileSync(`${include}/${name}`, "utf8"));
const header = `${authors}${hosts}`;
const constants = [...header.matchAll(/^#define (clearway_\w+|CLEARWAY_\w+) +\S/gim)]
  .map(([, name]) => name as string)
  .filter((name) => name !== "CLEARWAY_EXPORT");
const structs = [...header.matchAll(/^} (clearway_\w+);$/gm)].map(([, name]) => name as string);
const source = [
  '#include "clearway_host.h"',
  ...constants.map((name) => `extern int of_${name}[sizeof(${name})];`),
  ...structs.map((name) => `extern ${name} a_${name};`),
  'static const clearway_text text = CLEARWAY_TEXT("text");',
  "unsigned long size(void); unsigned long size(void) { return text.size; }",
].join("\n");

test("the headers have constants and structs, and authors see nothing of the host", () => {
  expect(constants).toContain("CLEARWAY_EVENT_NONE");
  expect(constants).toContain("CLEARWAY_OK");
  expect(structs).toContain("clearway_event");
  expect(structs).toContain("clearway_host");
  expect(authors).not.toMatch(/clearway_(event|options|window|stats|waiter|plugin_open)\b/);
});

test.skipIf(!has("cc"))("every constant and struct of the header compiles in C", () => {
  expect(said("cc", ["-x", "c", "-std=c11"], source)).toBe("");
});

test.skipIf(!has("c++"))("every constant and struct of the header compiles in C++", () => {
  expect(said("c++", ["-x", "c++", "-std=c++17"], source)).toBe("");
});

test.skipIf(!has("cc"))("a handle of one kind is none of another", () => {
  const use = (given: string): string =>
    said(
      "cc",
      ["-x", "c", "-std=c11"],
      `#include "clearway.h"\nint f(const clearway_host *host, clearway_reply reply) { ${given} }`,
    );
  expect(use("return host->wanted(reply);")).toBe("");
  expect(use("return host->release(reply);")).toContain("clearway_memory");
  expect(use("return host->release(1);")).toContain("clearway_memory");
  expect(use("clearway_memory memory = reply; return host->release(memory);")).toContain("error");
});

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
