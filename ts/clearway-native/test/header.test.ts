// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles, in C and in C++, a program that uses every name of clearway.h and clearway_host.h.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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
