// SPDX-License-Identifier: MIT OR Apache-2.0
import { readdirSync } from "node:fs";
import { join } from "node:path";
import clearway from "clearway-build/esbuild";
import { afterAll, describe, expect, test } from "vitest";
import { built, offloadOfApps, run, sources } from "./app.js";

// The apps of these tests share a pool, because they import the same `clearway/offload`.
afterAll(async () => (await offloadOfApps()).terminate());

describe("a built app", () => {
  test("runs an arrow function, a function expression and an async function in a worker", async () => {
    const result = await run(`
      import { isMainThread } from "node:worker_threads";
      export default Promise.all([
        offload((a: number, b: number) => [a + b, isMainThread], 1, 2),
        offload(function named(n: number): number { return n < 2 ? 1 : n * named(n - 1); }, 5),
        offload(async () => { await null; return "later"; }),
      ]);`);
    expect(result).toEqual([[3, false], 120, "later"]);
  });

  test("gets a generator's values as a stream", async () => {
    const result = await run(`
      const step = 5;
      const seen: number[] = [];
      for await (const each of offload(function* (count: number) { for (let n = 0; n < count; n++) yield n * step; }, 3)) seen.push(each);
      for await (const each of offload(async function* () { yield* [7, 8]; })) seen.push(each);
      export default seen;`);
    expect(result).toEqual([0, 5, 10, 7, 8]);
  });

  test("streams an imported generator through a written one, and says so where that is missing", async () => {
    const result = await run(
      `
      import { count } from "./count.js";
      const bare = () => (offload(count, 2) as unknown as Promise<never>).catch((error: Error & { code: string }) => [error.code, error.message]);
      const seen: unknown[] = [await bare(), await bare()];
      for await (const each of offload(function* (n: number) { yield* count(n); }, 2)) seen.push(each);
      export default seen;`,
      { "count.ts": "export function* count(n: number) { for (let at = 0; at < n; at++) yield at; }" },
    );
    const refused = [
      "not-cloneable",
      expect.stringContaining("write the task itself, or the function in offload(), as one"),
    ];
    expect(result).toEqual([refused, refused, 0, 1]);
  });

  test("captures constants, parameters, loop variables and destructured variables by value", async () => {
    const result = await run(`
      const base = 100;
      async function all(factor: number) {
        const { deep: { x, ...rest }, list: [first = 9, ...others] } = { deep: { x: 1, y: 2 }, list: [undefined, 4, 5] };
        const calls = [];
        for (let at = 0; at < 3; at++) calls.push(offload(() => base + factor * at));
        for (const [key, value] of Object.entries({ k: 1 })) calls.push(offload(() => key + value));
        calls.push(offload(() => ({ x, rest, first, others })));
        try { throw new RangeError("caught"); } catch ({ message }) { calls.push(offload(() => message)); }
        return Promise.all(calls);
      }
      export default all(2);`);
    expect(result).toEqual([100, 102, 104, "k1", { x: 1, rest: { y: 2 }, first: 9, others: [4, 5] }, "caught"]);
  });

  test("reads a captured variable when the call is made", async () => {
    const result = await run(`
      let n = 1;
      const list = [1];
      const first = offload(() => [n, list.length]);
      n = 2;
      const second = offload(() => [n, list.length]);
      export default Promise.all([first, second]);`);
    expect(result).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });

  test("keeps apart a captured name and the names that shadow it", async () => {
    const result = await run(
      `
      import { name as value } from "./names.js";
      const a = "outer", b = "outer b", at = 1;
      export default Promise.all([
        offload((a: string) => { { const b = a + "!"; return b; } }, "inner"),
        offload((c = a, d = c + b) => { const a = 1; return [a, c, d]; }),
        offload(() => { const value = "local"; return value; }),
        offload(() => value),
        offload(() => ({ a, b, ["at" + at]: [1, 2].map((a) => a * 2) })),
        offload(() => { var at = 5; function b() { return at; } return b(); }),
      ]);`,
      { "names.ts": "export const name = 'imported';" },
    );
    expect(result).toEqual([
      "inner!",
      [1, "outer", "outerouter b"],
      "local",
      "imported",
      { a: "outer", b: "outer b", at1: [2, 4] },
      5,
    ]);
  });

  test("keeps every kind of import, and leaves out types", async () => {
    const result = await run(
      `
      import * as math from "./math.js";
      import twice, { triple as times3, type Options, "a b" as odd } from "./math.js";
      import type { Other } from "./types-only.js";
      import { Unused } from "./types-only.js";
      import data from "./data.json" with { type: "json" };
      import { basename } from "node:path";
      type Local = { n: number };
      export default offload((options: Options & Local, other?: Other | Unused): unknown[] => [
        math.twice(options.n), twice(options.n), times3(options.n), data.here, basename("/a/b"), odd, other as Unused,
      ], { n: 2 } satisfies Local);`,
      {
        "math.ts": `export const twice = (n: number) => 2 * n; export default twice; export const triple = (n: number) => 3 * n;
          const odd = "odd"; export { odd as "a b" }; export interface Options { n: number }`,
        "types-only.ts": "export interface Other { a: 1 } export interface Unused { b: 1 }",
        "data.json": '{ "here": "json" }',
      },
    );
    expect(result).toEqual([4, 4, 6, "json", "b", "odd", undefined]);
  });

  test("takes an imported function, also of a namespace, without writing it", async () => {
    const result = await run(
      `
      import * as work from "./work.js";
      import plus from "./work.js";
      export default Promise.all([offload(plus, 1, 2), offload(work.minus, 1, 2), offload((work.minus as any)!, 5, 2)]);`,
      {
        "work.ts":
          "export default (a: number, b: number) => a + b; export const minus = (a: number, b: number) => a - b;",
      },
    );
    expect(result).toEqual([3, -1, 3]);
  });

  test("captures an enum of the file, and reads ambient constants as globals", async () => {
    const result = await run(`
      enum Color { Red = 3, Green = Red * 2 }
      declare const ambient: string | undefined;
      const list = [1] as const;
      export default offload((c: Color): [boolean, string, string, typeof list[0]] =>
        [c === Color.Green, Color[3], typeof ambient, list[0]], Color.Green);`);
    expect(result).toEqual([true, "Red", "undefined", 1]);
  });

  test("imports dynamically, and finds files, next to the source file", async () => {
    const result = await run(
      `
      export default (await import("./deep/inner.js")).default;`,
      {
        "deep/inner.ts": `
          import { offload } from "clearway/offload";
          export default await offload(async () => (await import("./near.js")).near + typeof import.meta.url);`,
        "deep/near.ts": "export const near = 'near ';",
      },
    );
    expect(result).toBe("near string");
  });

  test("does not run the code around the function in the worker, also with top-level await", async () => {
    const result = await run(
      `
      import { isMainThread } from "node:worker_threads";
      import { loads } from "./loads.js";
      if (!isMainThread && process.env.VITEST === undefined) throw new Error("the module ran in a worker");
      const own = await Promise.resolve((loads.push("main"), loads.length));
      export default offload(() => [own, loads]);`,
      { "loads.ts": "export const loads: string[] = [];" },
    );
    expect(result).toEqual([1, []]);
  });

  test("runs the imports of a function in the worker, and those of the same file once", async () => {
    const result = await run(
      `
      import { next } from "./state.js";
      const one = offload.with({ key: 1 });
      export default [await one(() => next()), await one(() => next()), next()];`,
      { "state.ts": "let count = 0; export const next = () => ++count;" },
    );
    expect(result).toEqual([1, 2, 1]);
  });

  test("offloads inside an offloaded function, in a worker of that worker", async () => {
    const result = await run(`
      import { offload as again } from "clearway/offload";
      const outer = 1;
      export default offload(async (b: number) => {
        const c = 3;
        try { return await again((d: number) => [outer, b, c, d], 4); } finally { await again.close(); }
      }, 2);`);
    expect(result).toEqual([1, 2, 3, 4]);
  });

  test("finds the calls by their import: under other names, in a namespace, in constants", async () => {
    const result = await run(`
      import { offload as o } from "clearway/offload";
      import * as clearway from "clearway/offload";
      const urgent = clearway.offload.with({ priority: 1 });
      const also = o;
      const x = 1;
      export default Promise.all([
        o(() => x), clearway.offload(() => x + 1), o.with({ timeoutMs: 60_000 })(() => x + 2), urgent(() => x + 3), also(() => x + 4),
        offload!((() => x + 5) as () => number), offload?.(() => x + 6), clearway["offload"](() => x + 7),
      ]);`);
    expect(result).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("leaves alone a function of the same name", async () => {
    const result = await run(
      `
      import { offload as other } from "./other.js";
      const f = (offload: (fn: () => number) => string) => offload(() => 1);
      export default [other(() => this), f((fn) => "own " + fn())];`,
      { "other.ts": "export const offload = (fn: () => unknown) => typeof fn;" },
    );
    expect(result).toEqual(["function", "own 1"]);
  });

  test("nests an offload in the arguments of another one", async () => {
    const result = await run(`
      const a = 1;
      export default offload((n: number) => n + a, await offload((n: number) => n * 10, await offload(() => a + 1)));`);
    expect(result).toBe(21);
  });

  test("imports its own file if the function asks for it, and then runs its code there", async () => {
    const result = await run(
      `
      export { default } from "./circle.js";`,
      {
        "circle.ts": `
          import { offload } from "clearway/offload";
          import { helper } from "./circle.js";
          export const helper = (n: number): number => n + 1;
          const down = async (n: number): Promise<number> => offload((m: number) => helper(m), n);
          export default () => down(1);`,
      },
    );
    expect(result).toBe(2);
  });

  test("offloads again from its own file in the worker", async () => {
    const result = await run(
      `
      export { default } from "./circle.js";`,
      {
        "circle.ts": `
          import { offload } from "clearway/offload";
          import { sum } from "./circle.js";
          export async function sum(n: number): Promise<number> {
            if (n === 0) return 0;
            try { return n + (await offload((m: number) => sum(m), n - 1)); } finally { if (n === 1) await offload.close(); }
          }
          export default () => sum(2);`,
      },
    );
    expect(result).toBe(3);
  });

  test("uses classes, private names, `this` and `arguments` that belong to the function itself", async () => {
    const result = await run(`
      const start = 5;
      export default offload(function (n: number) {
        class Counter { #n = start; get n() { return this.#n; } static has(c: object) { return #n in c; } [\`key\${start}\`] = 1; }
        const counter = new Counter();
        return [counter.n, Counter.has(counter), arguments.length, Object.keys(counter), { self() { return this === undefined; } }.self()];
      }, 1);`);
    expect(result).toEqual([5, true, 1, ["key5"], false]);
  });

  test("compiles JSX of the function with the file's pragma and import", async () => {
    const h =
      "export const h = (tag: unknown, props: object | null, ...kids: unknown[]) => [typeof tag, props, ...kids];";
    const main = `
      /** @jsx h */
      import { offload } from "clearway/offload";
      import { h } from "./h.js";
      import { Part } from "./part.js";
      const title: string = "t";
      export default offload(<T,>(x: T) => <div title={title}><Part>{x}</Part></div>, "x");`;
    const files = { "app.tsx": main, "h.ts": h, "part.ts": "export function Part() {}" };
    const result = await run(`export { default } from "./app.js";`, files);
    expect(result).toEqual(["string", { title: "t" }, ["function", null, "x"]]);
  });
});

describe("a source file", () => {
  const text = [
    '"use client";',
    "const emoji = '🙂 é';",
    'import { offload } from "clearway/offload";',
    "const __clearwayTask = 'mine', globalName = 'g';",
    "export default Promise.all([offload(() => emoji /* end */ // end",
    "), offload(() => [__clearwayTask, globalName, '🙂'.length])]);",
  ];
  const result = ["🙂 é", ["mine", "g", 2]];

  test.each([
    ["with a directive, other alphabets and the plugin's own names", text.join("\n")],
    ["with Windows line ends", text.join("\r\n")],
    ["with a byte order mark", `\uFEFF${text.join("\n")}`],
    ["with a hashbang", `#!/usr/bin/env node\n${text.join("\n")}`],
    ["with a source map comment at its end", `${text.join("\n")}\n//# sourceMappingURL=missing.js.map`],
  ])("%s keeps its functions", async (_, code) => {
    expect(await run('export { default } from "./odd.js";', { "odd.ts": code })).toEqual(result);
    expect(await run('export { default } from "./odd.mjs";', { "odd.mjs": code })).toEqual(result);
  });

  test("keeps a function in a class, in a nested scope and in a default export", async () => {
    const result = await run(
      `
      class Work {
        readonly #factor = 3;
        static label = "static";
        async all(n: number) {
          const factor = this.#factor;
          const { label } = Work;
          { const n = "inner"; if (n) return [await offload(() => n + label), await offload((m: number) => m * factor, 2)]; }
        }
      }
      export default new Work().all(1);`,
    );
    expect(result).toEqual(["innerstatic", 6]);
  });

  test("is built once more by a plugin that is there twice", async () => {
    const folder = sources({
      "main.ts": 'import { offload } from "clearway/offload";\nconst n = 2;\nexport default offload(() => n);\n',
    });
    const url = await built(folder, "main.ts", { plugins: [clearway(), clearway()] });
    expect(await (await import(/* @vite-ignore */ url)).default).toBe(2);
  });

  test("has the same task files in every build, and others after a change", async () => {
    const names = async (n: number): Promise<string[]> => {
      const folder = sources({ "main.ts": `import { offload } from "clearway/offload";\noffload(() => ${n});\n` });
      await built(folder);
      return readdirSync(join(folder, "dist")).filter((name) => name !== "main.mjs");
    };
    const first = await names(1);
    expect(first).toHaveLength(1);
    expect(await names(1)).toEqual(first);
    expect(await names(2)).not.toEqual(first);
  });
});

describe("offload() that the plugin cannot see", () => {
  test("through a re-export is refused when it is called", async () => {
    const result = await run(
      `
      import { offload as hidden } from "./again.js";
      export default hidden(() => 1).catch((error: { code: string; message: string }) => [error.code, error.message]);`,
      { "again.ts": `export { offload } from "clearway/offload";` },
    );
    expect(result).toEqual(["invalid-argument", expect.stringContaining("write the function in the call itself")]);
  });
});
