// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway bench` on scenarios with many ways, or whose ways reach their limits. Each takes 7 to 25 s. bench-cli.test.ts runs the command
// as a user does, bench-run.test.ts checks each rule.
import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { UserFolder } from "./user-folder.js";

const user = new UserFolder();

/** Verifies the ways of a scenario. The time is too short for a pair of processes. */
const bench = (file: string, ...more: string[]) => user.run("bench", file, "--time", "1", ...more);

describe("clearway bench", () => {
  test("measures two ways, each pair in turns, and the control", async () => {
    user.write(
      "pair.ts",
      `const wait = (ms: number) => { const end = performance.now() + ms; while (performance.now() < end); };
export default { title: "Is it \\"slower\\"?", inputs: { one: 1 }, first: () => { wait(0.1); return 1; }, slower: () => { wait(1); return 1; } };`,
    );
    expect((await user.run("bench", "pair.ts", "--time", "60", "--out", "pair", "--seed", "7")).code).toBe(0);
    const { answers, controls } = user.results("pair");
    expect(answers[0]!.pairs.every((ratio) => ratio > 1)).toBe(true);
    expect(answers[0]!.costsNs).toHaveLength(answers[0]!.pairs.length);
    expect(controls.map(({ name, peer }) => [name, peer])).toEqual([["same", "itself"]]);
  });

  test("writes a scenario that `clearway bench` finds and measures as it is", async () => {
    expect((await user.run("init", "bench")).stdout).toMatch("bench.ts and bench.tasks.ts written.");
    const { code, stderr } = await user.run("bench", "--out", "inited");
    expect(stderr).toMatch("bench.ts: 4 ways, 2 inputs; at most 2 min");
    expect(code).toBe(0);
    // On a busy machine, two minutes are too short for all twelve.
    const { answers } = user.results("inited");
    expect(answers).toHaveLength(12);
    expect(answers.some(({ pairs }) => pairs.length > 0)).toBe(true);
    expect(answers.every(({ failed }) => failed === undefined)).toBe(true);
  });

  test("compiles TypeScript that Node cannot load, with its imports, JSON, CommonJS and worker files", async () => {
    user.write("kind.ts", `export enum Kind { A = 1 }\nexport const at = import.meta.url;`);
    user.write("value.json", `{ "value": 1 }`);
    user.write("tsconfig.json", `{ "compilerOptions": { "paths": { "@app/*": ["./*"] } } }`);
    user.write("old.cjs", `module.exports = { value: 1, folder: __dirname };`);
    user.write(
      "echo.ts",
      `import { parentPort } from "node:worker_threads";\nimport { Kind } from "./kind.js";\nparentPort!.postMessage(Kind.A as number);`,
    );
    mkdirSync(user.at("typed"));
    user.write("typed/package.json", `{ "type": "commonjs" }`);
    user.write("typed/echo.js", `import { parentPort } from "node:worker_threads";\nparentPort.postMessage(1);`);
    user.write("here.txt", "1");
    user.write(
      "compiled.ts",
      `import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { scenario } from "clearway-lab";
import { at, Kind } from "./kind";
import { Kind as Aliased } from "@app/kind";
import json from "./value.json";
import old from "./old.cjs";
export default scenario({
  direct: () => Kind.A as number,
  json: () => json.value,
  alias: () => Aliased.A as number,
  old: () => old.value,
  file: () => Number(readFileSync(new URL("./here.txt", import.meta.url), "utf8")),
  place: () => (at.endsWith("/kind.ts") && import.meta.url.endsWith("/compiled.ts") ? 1 : 0),
  worker: () => new Promise<number>((done) => new Worker(new URL("./echo.ts", import.meta.url)).once("message", done)),
  misplaced: () => new Promise<number>((done) => new Worker(new URL("./typed/echo.js", import.meta.url)).once("message", done)),
});`,
    );
    const { code, stderr } = await bench("compiled.ts", "--out", "compiled");
    expect(stderr).not.toMatch("left out");
    expect(code).toBe(0);
    expect(
      user
        .results("compiled")
        .answers.filter(({ verb }) => verb === undefined)
        .map(({ name }) => name),
    ).toEqual(["json", "alias", "old", "file", "place", "worker", "misplaced"]);
  });

  test("ends a way that never settles, and one that blocks its thread", async () => {
    user.write(
      "hanging.ts",
      `export default { check: () => true, never: () => new Promise(() => {}), loop: () => { for (;;); } };`,
    );
    const { code, stderr } = await bench("hanging.ts", "--out", "hanging", "--timeout", "8s");
    expect(code).toBe(1);
    expect(stderr).toMatch("never is left out: the first call had not settled after 8 s; --timeout sets this limit");
    expect(stderr).toMatch("loop is left out: it blocked its thread for more than 8 s; --timeout sets this limit");
  });

  test("verifies results with check, which gets the result and the input", async () => {
    user.write(
      "checked.ts",
      `export default {
  inputs: { two: 2, three: 3 },
  check: (result: number, input: number) => { if (result === 0) throw new Error("zero"); return input === 3 && result === 7 ? "odd" as never : result === 2 * input; },
  direct: (x: number) => 2 * x, sum: (x: number) => x + x, wrong: (x: number) => (x === 2 ? 0 : 5), odd: (x: number) => (x === 2 ? 4 : 7),
};`,
    );
    const { code } = await bench("checked.ts", "--out", "checked");
    expect(code).toBe(1);
    const failed = user
      .results("checked")
      .answers.flatMap(({ name, failed }) => (failed === undefined ? [] : [`${name}: ${failed}`]));
    expect(failed).toEqual([
      "wrong/two: check threw Error: zero (checked.ts:3)",
      "wrong/three: check refused its result: 5",
      'odd/three: check returned a string: "odd": return true or false, or throw an error',
    ]);
  });

  test("refuses a way that changes a shared input, and accepts it if each call gets a new one", async () => {
    const ways = `sorts: (x: number[]) => x.sort()[0], copies: (x: number[]) => [...x].sort()[0]`;
    user.write("shared.ts", `export default { inputs: { a: [2, 1] }, check: () => true, ${ways} };`);
    user.write("fresh.ts", `export default { inputs: { a: () => [2, 1] }, ${ways} };`);
    const shared = await bench("shared.ts", "--out", "shared");
    expect(shared.code).toBe(1);
    expect(shared.stderr).toMatch(
      "sorts, input a is left out: it changes its input, so its second call would get another",
    );
    expect(shared.stderr).not.toMatch("copies, input a");
    expect((await bench("fresh.ts", "--out", "fresh")).code).toBe(0);
  });
});

user.testThatNothingIsLeft();
