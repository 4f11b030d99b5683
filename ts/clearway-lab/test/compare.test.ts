// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway compare`: two builds, or two versions of a scenario, and the limit that fails a build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { gate } from "../src/cli/compare.js";
import { buildComparisons } from "../src/engine/comparison.js";
import { answered } from "./answered.js";
import { UserFolder } from "./user-folder.js";

const user = new UserFolder();
const SCENARIO = "export default { inputs: { a: 1 }, direct: (x) => x, other: (x) => x };";

test("two builds are compared by each mechanism of Clearway in Node, each against itself", () => {
  const all = buildComparisons("clearway compare old new");
  expect(all.length).toBeGreaterThan(5);
  for (const { host, subject, reference, peer, command, name } of all) {
    expect([host, subject.slice(0, 2), reference]).toEqual(["node", "B:", `A:${subject.slice(2)}`]);
    expect([peer, command]).toEqual(["before", `clearway compare old new ${name}`]);
  }
});

describe("--max", () => {
  const [answer] = answered().answers;
  const status = (low: number, high: number, max: number | undefined) =>
    gate({ answers: [{ ...answer!, interval: { ratio: (low + high) / 2, low, high } }] }, max);

  test("fails if a whole interval is above it, and not otherwise", () => {
    expect([status(1.11, 1.3, 1.1), status(1.05, 1.3, 1.1), status(0.5, 0.6, 1.1)]).toEqual([1, 0, 0]);
  });

  test("fails nothing where it is not given, or where there is no answer", () => {
    expect(status(2, 3, undefined)).toBe(0);
    const { interval: _, ...open } = answer!;
    expect(gate({ answers: [open] }, 1)).toBe(0);
  });
});

describe("clearway compare", () => {
  test("measures every way that two scenario files share, in one against the other", async () => {
    user.write("before.mjs", SCENARIO);
    user.write("after.mjs", "export default { inputs: { a: 1, b: 2 }, direct: (x) => x, added: (x) => x };");
    const { code } = await user.run("compare", "before.mjs", "after.mjs", "--time", "1", "--out", "compared");
    expect(code).toBe(0);
    const { run, answers } = user.results("compared");
    expect(run).toMatchObject({ kind: "compare", title: "after.mjs compared with before.mjs" });
    expect(answers.map(({ name, peer }) => [name, peer])).toEqual([
      ["direct/a", "before"],
      ["direct/a/stall", "before"],
    ]);
  });

  test("leaves out a way that throws, and measures the others", async () => {
    user.write("throws.mjs", "export default { direct: (x) => x, other: () => { throw new Error('boom'); } };");
    user.write("works.mjs", "export default { direct: (x) => x, other: (x) => x };");
    const args = ["throws.mjs", "works.mjs", "--time", "1", "--out", "partly"];
    const { code, stderr } = await user.run("compare", ...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining("other is left out: in throws.mjs, ")]);
    expect(stderr).not.toContain("    at ");
    const named = user.results("partly").answers.map(({ name, failed }) => [name, failed?.includes("boom")]);
    expect(named).toEqual([
      ["direct", undefined],
      ["direct/stall", undefined],
      ["other", true],
    ]);
  });

  test("does not compare a way whose result differs between the files, unless `check` accepts it", async () => {
    const scenario = (more: string) =>
      `export default { inputs: { a: () => [2, 1] }, same: ([x, y]) => ({ x, y }), ${more} };`;
    user.write("a.mjs", scenario("other: (x) => x.sort(), checked: () => 1"));
    user.write("b.mjs", scenario("other: (x) => x").replace("({ x, y })", "({ y, x })"));
    user.write("c.mjs", scenario("other: (x) => x, check: () => true"));
    const [differs, checked] = await Promise.all(
      ["b", "c"].map((to) => user.run("compare", "a.mjs", `${to}.mjs`, "--time", "1", "--out", `a to ${to}`)),
    );
    expect([differs!.code, checked!.code]).toEqual([1, 0]);
    const of = (to: string) => user.results(`a to ${to}`).answers.map(({ name, failed }) => [name, failed]);
    const why =
      "in b.mjs, its result is [ 2, 1 ], but that of a.mjs is [ 1, 2 ]; if both are right, add `check: (result, input) => …`";
    expect(of("b")).toEqual([
      ["same/a", undefined],
      ["same/a/stall", undefined],
      ["other/a", why],
    ]);
    expect(of("c").map(([name]) => name)).toEqual(["same/a", "same/a/stall", "other/a", "other/a/stall"]);
    expect(differs!.stderr).toContain(`other, input a is left out: ${why}`);
  });

  test("is interrupted while it reads a file", async () => {
    const reading = user.at("reading");
    user.write(
      "endless.mjs",
      `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(reading)}, "");
await new Promise(() => setInterval(() => {}, 1000));
export default { direct: () => 1 };`,
    );
    const args = [user.cli, "compare", "endless.mjs", "endless.mjs", "--out", "cut"];
    const child = spawn(process.execPath, args, { cwd: user.path, env: user.environment });
    let output = "";
    child.stderr.on("data", (data) => (output += data));
    const ended = once(child, "close");
    while (!existsSync(reading) && child.exitCode === null) await new Promise(setImmediate);
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(output).not.toContain("error:");
  });

  test.each([
    [["before.mjs", "."], "before.mjs and . must be two folders, or two scenario files"],
    [["tmp", "tmp"], "tmp has no build of the lab: run make build in a clone"],
    [["before.mjs", "none.mjs"], "none.mjs does not exist"],
    [["before.mjs", "before.mjs", "dircet"], "do not both have the way dircet (direct, other)"],
    [["before.mjs", "before.mjs", "--max", "0.5"], '"0.5" is not a ratio of at least 1'],
  ])("refuses %j", async (args, message) => {
    user.write("before.mjs", SCENARIO);
    const { code, stderr } = await user.run("compare", ...args, "--out", "refused");
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(existsSync(path.join(user.path, "refused"))).toBe(false);
  });
});

user.testThatNothingIsLeft();
