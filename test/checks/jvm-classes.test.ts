// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { fingerprints, uncompiled } from "../../scripts/jvm-classes.mjs";

const needs = (name: string, type = "jar") =>
  `<dependency><groupId>g</groupId><artifactId>clearway-${name}</artifactId><type>${type}</type></dependency>`;
const pom = (name: string, ...needed: string[]) =>
  `<parent><artifactId>clearway-jvm</artifactId></parent>\n<artifactId>clearway-${name}</artifactId>${needed.join("")}`;

/** Four modules: `socket` needs `channel` and its test classes, `flow` needs only `channel`, and `lab` needs `flow`. */
const sources = {
  "pom.xml": "parent",
  "channel/pom.xml": pom("channel"),
  "channel/src/main/kotlin/Channel.kt": "class Channel",
  "channel/src/test/kotlin/Peers.kt": "class Peers",
  // The artifact of a module may have another name than its folder.
  "flow/pom.xml": pom("flow-jvm", needs("channel")),
  "flow/src/main/kotlin/Flow.kt": "class Flow",
  "lab/pom.xml": pom("lab", needs("flow-jvm")),
  "socket/pom.xml": pom("socket", needs("channel"), needs("channel", "test-jar")),
  "socket/src/main/kotlin/Socket.kt": "class Socket",
};
type Sources = Record<string, string>;

const printed = (files: Sources, setting = "17") =>
  fingerprints(
    Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]),
    setting,
  );

/** Returns the modules that are compiled again after `change`. */
function stale(change: Sources, setting?: string) {
  const [before, after] = [printed(sources), printed({ ...sources, ...change }, setting)];
  return [...after].filter(([name, print]) => before.get(name) !== print).map(([name]) => name);
}

describe("a module of the JVM is compiled again", () => {
  const all = ["channel", "flow", "lab", "socket"];
  test.each<[string, Sources, string[]]>([
    ["never without a change", {}, []],
    ["when its main sources change", { "socket/src/main/kotlin/Socket.kt": "class Other" }, ["socket"]],
    ["when a module changes that it needs, at any distance", { "channel/src/main/kotlin/Channel.kt": "open" }, all],
    ["when test classes change that it needs", { "channel/src/test/kotlin/Peers.kt": "open" }, ["channel", "socket"]],
    ["when its tests get a file", { "flow/src/test/kotlin/FlowTest.kt": "" }, ["flow"]],
    [
      "when its pom changes, and with it those that need it",
      { "flow/pom.xml": `${sources["flow/pom.xml"]} ` },
      ["flow", "lab"],
    ],
    ["when the parent's pom changes", { "pom.xml": "other" }, all],
  ])("%s", (_, change, expected) => {
    expect(stale(change)).toEqual(expected);
  });

  test("when the JDKs change", () => {
    expect(stale({}, "25")).toEqual(all);
  });

  test("when text moves from one file to another", () => {
    const moved = { "flow/src/main/kotlin/A.kt": "", "flow/src/main/kotlin/B.kt": "ab" };
    const other = { "flow/src/main/kotlin/A.kt": "ab", "flow/src/main/kotlin/B.kt": "" };
    expect(printed({ ...sources, ...moved }).get("flow")).not.toBe(printed({ ...sources, ...other }).get("flow"));
  });
});

test("a module that needs an unknown module is an error", () => {
  expect(() => printed({ ...sources, "lab/pom.xml": pom("lab", needs("flow")) })).toThrow(
    "clearway-flow, which lab needs",
  );
});

describe("a build that fails", () => {
  const files = Object.entries(sources).map(([path, text]) => [path, Buffer.from(text)] as const);
  const failure = (artifact: string) =>
    `[ERROR] Failed to execute goal g:a:1:compile (compile) on project ${artifact}: no\n`;
  test.each<[string, string, string[]]>([
    ["has compiled the modules that need none that failed", failure("clearway-flow-jvm"), ["flow", "lab"]],
    [
      "has compiled none of those that need one that failed",
      failure("clearway-channel"),
      ["channel", "flow", "lab", "socket"],
    ],
    [
      "has compiled nothing for certain when it names no module",
      "[ERROR] out of memory",
      ["channel", "flow", "lab", "socket"],
    ],
  ])("%s", (_, output, expected) => {
    expect([...uncompiled(files, output)].sort()).toEqual(expected);
  });
});
