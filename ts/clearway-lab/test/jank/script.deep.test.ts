// SPDX-License-Identifier: MIT OR Apache-2.0
// Which function a stall is explained by: what V8's sampling profiler says of real scripts. The scripts block for a long time by construction.
// A test measures again until the stall was explained: on a busy machine, the thread may get no core for most of the stall. cause.test.ts
// explains recorded profiles.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { FoundStall, JankReport } from "../../src/jank/record.js";
import { type Ended, measured, scratch, scripts, stallIn } from "./run-jank.js";

/** Measures a script until a stall has its cause in `functionName`. */
async function explained(
  args: string[],
  functionName: string,
): Promise<Ended & { report: JankReport; stall: FoundStall }> {
  for (;;) {
    const ended = await measured(args);
    const stall = stallIn(ended.report, functionName);
    if (stall !== undefined) return { ...ended, stall };
  }
}

describe("a script that blocks", () => {
  test("is explained by function and line, and completes", async () => {
    const { code, report, stall } = await explained([`${scripts}blocks.mjs`], "block");
    expect(code).toBe(0);
    expect(report.subjects[0]).toMatchObject({ kind: "script", runs: [{ outcome: "completed" }] });
    const { cause, lengthMs } = stall;
    expect(lengthMs).toBeGreaterThanOrEqual(299);
    expect(cause.place!.url).toMatch(/^file:.*\/blocks\.mjs$/);
    expect(cause.callers.map(({ functionName }) => functionName)).toContain("serve");
  });

  test("in JSON.parse is explained by the function that calls it", async () => {
    const { stall } = await explained([`${scripts}json.cjs`], "readAll");
    expect(stall.cause.code).toContain("JSON.parse(text)");
  });

  test("in a bundle is explained by the original file and function", async () => {
    const file = path.join(scratch, "bundle.mjs");
    const contents = `function countPrimes(until: number): number {
  let found = 0;
  for (let n = 2; performance.now() < until; n++) found += n % 7;
  return found;
}
setTimeout(() => console.error(countPrimes(performance.now() + 300)), 20);`;
    const stdin = { contents, sourcefile: "prime.ts", loader: "ts" } as const;
    await build({ stdin, bundle: true, minify: true, sourcemap: true, format: "esm", outfile: file });
    const { stall } = await explained([file], "countPrimes");
    expect(stall.cause.original).toMatchObject({ functionName: "countPrimes", source: "prime.ts" });
  });
});

test("a script in TypeScript is explained by its own lines", async () => {
  const file = path.join(scratch, "typed.ts");
  writeFileSync(
    path.join(scratch, "burn.ts"),
    `
export interface Job { readonly ms: number }

export function burn({ ms }: Job): void {
  const end: number = performance.now() + ms;
  while (performance.now() < end);
}
`,
  );
  writeFileSync(
    file,
    `import { burn, type Job } from "./burn.js";\nconst job: Job = { ms: 300 };\nsetTimeout(() => burn(job), 20);\n`,
  );
  const { code, stall } = await explained([file], "burn");
  expect(code).toBe(0);
  const { cause } = stall;
  // The profiler decides which line of the function has most samples.
  expect([4, 5, 6]).toContain(cause.original?.line ?? cause.place!.line);
  expect(cause.original?.source ?? cause.place!.url).toContain("burn.ts");
});

describe("a script", () => {
  test.each([
    ["throws.mjs", 1, "ended with status 1", "broken on purpose"],
    ["exits.mjs", 3, "ended with status 3", ""],
  ])("that ends badly is reported with what was measured: %s", async (name, _, message, own) => {
    const { code, stderr, report } = await explained([scripts + name], "block");
    expect(code).toBe(1);
    expect(stderr).toContain(own);
    expect(report.subjects[0]!.runs[0]).toMatchObject({ outcome: "failed", message: expect.stringContaining(message) });
  });

  test("that blocks in native code is stopped at the limit, and the open stall is reported", async () => {
    const file = path.join(scratch, "native.mjs");
    writeFileSync(file, `import { execSync } from "node:child_process";\nexecSync("exec sleep 600");`);
    for (let seconds = 2; ; seconds *= 2) {
      const { report } = await measured([file, "--timeout", String(seconds)]);
      const open = report.subjects[0]!.runs[0]!.stalls.find((stall) => stall.open);
      expect(report.subjects[0]!.runs[0]!.outcome).toBe("timeout");
      if (open === undefined) continue;
      expect(open.cause.because).toContain("the thread did not answer until the end");
      break;
    }
  });

  test("in an endless loop is stopped at the limit, and the loop is named", async () => {
    for (let seconds = 2; ; seconds *= 2) {
      const { code, report } = await measured([`${scripts}endless.mjs`, "--timeout", String(seconds)]);
      expect(code).toBe(1);
      const [run] = report.subjects[0]!.runs;
      expect(run!.outcome).toBe("timeout");
      if (run!.last?.place?.functionName === "spin" && stallIn(report, "spin") !== undefined) break;
    }
  });
});
