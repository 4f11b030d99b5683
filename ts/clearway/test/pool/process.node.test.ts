// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { inheritedFlags, processEnvironment } from "../../src/host/node/options.js";
import { builtUrl, type Plain, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

/** Runs a program in its own process, like a user's script. Settles when it has exited by itself. */
async function program(source: string): Promise<{ code: number | null; output: string }> {
  // In the fixtures' folder, so that `clearway` resolves as it does there.
  const folder = await mkdtemp(fileURLToPath(new URL("../fixtures/built/program-", import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = `${folder}/program.mjs`;
  const head = `import { pool, run } from "clearway"; const url = new URL(${JSON.stringify(plainUrl.href)});\n`;
  await writeFile(file, head + source);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => {
      output += data;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, output: output.trim() };
}

describe("a script exits by itself", () => {
  test.each([
    ["with a pool that it never used", `pool(url, { size: 2 }); console.log("end");`, "end"],
    ["with an idle pool that it used", `const p = pool(url, { size: 2 }); console.log(await p.call.add(1, 2));`, "3"],
    [
      "with a stream that it no longer reads",
      `const p = pool(url, { size: 1, window: { items: 1 } }); const s = p.call.numbers(100);
       console.log((await s.next()).value); globalThis.kept = s;`,
      "0",
    ],
    [
      "with a stream that it never read",
      `const p = pool(url); await p.ready(); p.call.numbers(3); console.log("end");`,
      "end",
    ],
    ["after run()", `console.log(await run(url).call.add(2, 2));`, "4"],
  ])("%s", async (_name, source, output) => {
    expect(await program(source)).toEqual({ code: 0, output });
  });

  test.each([
    ["a call of a cold pool", `pool(url, { size: 1 }).call.add(1, 2).then(console.log);`, "3"],
    [
      "a call with a key of a cold pool",
      `pool(url, { size: 2 }).with({ key: "k" }).call.add(1, 2).then(console.log);`,
      "3",
    ],
    ["ready()", `pool(url, { size: 1 }).ready().then(() => console.log("ready"));`, "ready"],
    [
      "a call of a warm pool",
      `const p = pool(url, { size: 1 }); await p.ready(); p.call.spin(20).then(console.log);`,
      "20",
    ],
    [
      "a stream's next value",
      `const p = pool(url); await p.ready(); const s = p.call.numbers(2); await s.next(); s.next().then((r) => console.log(r.value));`,
      "1",
    ],
    ["close()", `const p = pool(url); await p.ready(); p.close().then(() => console.log("closed"));`, "closed"],
  ])("but not before the answer to %s", async (_name, source, output) => {
    expect(await program(source)).toEqual({ code: 0, output });
  });
});

describe.runIf(process.platform === "linux")("threads", () => {
  const threads = (): number => readdirSync("/proc/self/task").length;

  test("have all ended after close() and terminate(), even those of workers that never end by themselves", async () => {
    // Starts Node's own thread pool, which would otherwise start with its first file operation.
    await Promise.all(Array.from({ length: 8 }, () => stat(fileURLToPath(import.meta.url))));
    const before = threads();
    const closed = testPool<Plain>(plainUrl, { size: 3 });
    await closed.call.add(1, 2);
    const ended = testPool<Plain>(plainUrl, { size: 2 });
    await ended.ready();
    const spinning = reasonOf(ended.call.forEver());
    expect(threads()).toBeGreaterThan(before);
    await Promise.all([closed.close(), ended.terminate()]);
    await spinning;
    await expect.poll(threads).toBeLessThanOrEqual(before);
  });
});

describe("a factory", () => {
  test("creates the workers", async () => {
    let made = 0;
    const factory = testPool<Plain>(() => {
      made++;
      return new Worker(plainUrl);
    });
    expect(await factory.call.add(1, 2)).toBe(3);
    expect(made).toBe(1);
  });

  test("that throws when a worker is to be replaced fails calls, but not the process", async () => {
    let broken = false;
    const factory = testPool<typeof import("../fixtures/crash.tasks.js")>(() => {
      if (broken) throw new RangeError("no more workers");
      return new Worker(new URL("../fixtures/built/crash.tasks.js", import.meta.url));
    });
    await factory.call.runs();
    broken = true;
    const [left, behind] = [factory.call.leave(), factory.call.runs()].map((each) => reasonOf(each as Promise<never>));
    expect(await left).toMatchObject({ code: "worker-exited" });
    expect(await behind).toMatchObject({ code: "worker-start-failed" });
    broken = false;
    expect(await factory.call.runs()).toBe(1);
  });
});

test("resource limits fail the call that reaches them, and replace only its worker", async () => {
  const made = testPool<Plain>(plainUrl, { resourceLimits: { maxOldGenerationSizeMb: 16 } });
  await made.ready();
  expect(await reasonOf(made.call.fillMemory())).toMatchObject({ code: "out-of-memory" });
  expect(await made.call.add(1, 2)).toBe(3);
});

describe("a child process", () => {
  test.each([
    ["a script", ["-e", "code"], "code"],
    ["a script that looks like a flag", ["-p", "-1"], "-1"],
    ["a script in the flag", ["--eval=code"], "code"],
    ["the kind of a script", ["--input-type=module", "-e", "code"], "code"],
    ["the kind of a script as a separate argument", ["--input-type", "module", "-pe", "code"], "code"],
    ["the inspector", ["--inspect", "--inspect-brk=9229", "--inspect-port", "9230"]],
    ["the test runner", ["--test", "--test-reporter", "spec"]],
    ["watching", ["--watch", "--watch-path", "./src"]],
    ["a check of the syntax", ["--check"]],
    ["the name of a profile", ["--cpu-prof-name=one.cpuprofile"]],
  ])("does not inherit %s", (_name, flags, script?: string) => {
    expect(inheritedFlags(["--no-warnings", ...flags, "--expose-gc"], script)).toEqual([
      "--no-warnings",
      "--expose-gc",
    ]);
  });

  test("inherits loaders, conditions, permissions and limits", () => {
    const flags = [
      "--import",
      "./hook.mjs",
      "-r",
      "./a.cjs",
      "-C",
      "dev",
      "--permission",
      "--allow-fs-read=*",
      "--max-old-space-size=64",
    ];
    expect(inheritedFlags(flags)).toEqual(flags);
  });

  test("inherits NODE_OPTIONS in the same way, and keeps what the app has set for it", () => {
    const before = process.env["NODE_OPTIONS"];
    onTestFinished(() => {
      if (before === undefined) delete process.env["NODE_OPTIONS"];
      else process.env["NODE_OPTIONS"] = before;
    });
    process.env["NODE_OPTIONS"] = '--inspect=9229 --import "./a b.mjs"';
    expect(processEnvironment({})?.["NODE_OPTIONS"]).toBe('--import "./a b.mjs"');
    const env = { NODE_OPTIONS: "--inspect=0" };
    expect(processEnvironment({ env })).toBe(env);
  });
});

test("a pool that was used and left open imports no module after the test runner has removed the module loader", async () => {
  const entry = new URL("../../dist/node/index.js", import.meta.url).href;
  const child = fileURLToPath(new URL("./left-open.child.mjs", import.meta.url));
  // Of this Node alone: a runner's own options would reach the child.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const flags = ["--experimental-vm-modules", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, entry, builtUrl("foreign").href], {
    env,
  });
  expect(JSON.parse(stdout)).toEqual([]);
});
