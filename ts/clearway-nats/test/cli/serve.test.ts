// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway-nats serve` as a user does: a process of its own, and a real server. Without nats-server, the tests that need one are skipped.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { remotePool } from "../../src/index.js";
import { noServer, openServer, type TestServer } from "../server/nats-server.js";

const cli = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "clearway serve-"));
afterAll(() => rmSync(folder, { recursive: true }));

const serve = (...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [cli, "serve", ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

beforeAll(() => {
  // The user's folder is the temporary one, which has no packages.
  const worker = pathToFileURL(createRequire(import.meta.url).resolve("clearway/worker")).href;
  writeFileSync(
    join(folder, "images.tasks.js"),
    `import { existsSync, watch } from "node:fs";
import { expose, task } from ${JSON.stringify(worker)};
export default expose({
  add: (a, b) => a + b,
  /** Reports that it runs, and ends when the file exists. */
  held: task(async ({ progress }, folder) => {
    const exists = () => existsSync(folder + "/go");
    await new Promise((resolve) => {
      const watcher = watch(folder, () => { if (exists()) { watcher.close(); resolve(); } });
      progress("running");
    });
    return "done";
  }),
});`,
  );
  writeFileSync(join(folder, "broken.tasks.js"), "export const nothing = 1;");
});

describe("clearway-nats serve", () => {
  test.each([
    [["image.tasks.js"], "image.tasks.js is no file"],
    [["images.tasks.js", "--mode", "durabel"], 'modes must be an array of "request" and "durable"'],
    [["images.tasks.js", "--nats", "nat://localhost"], '"nat://localhost" is no address'],
    [["images.tasks.js", "--concurrency", "0"], "or a number of threads"],
    [["images.tasks.js", "--module", "my images"], "module must be"],
    [["images.tasks.js", "--version", ".1"], "version must be"],
    [["images.tasks.js", "--idempotent", "add"], "--idempotent is for durable mode"],
    [["images.tasks.js", "--creds", "none.creds"], "--creds: none.creds cannot be read"],
    [["images.tasks.js", "--modul", "x"], "Unknown option '--modul'"],
    [["images.tasks.js", "more.js"], "name one task module"],
    [[], "name one task module"],
  ])("refuses %j with status 2, and serves nothing", async (args, message) => {
    const { code, stdout, stderr } = await serve(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  test("says what to do when no server answers", async () => {
    // No program listens on port 1 of a usual machine.
    const { code, stdout, stderr } = await serve("images.tasks.js", "--nats", "127.0.0.1:1");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: cannot connect to NATS at 127\.0\.0\.1:1: /);
    expect(stderr).toContain("Start a server (nats-server -js), or name another one with --nats");
  });
});

describe.skipIf(noServer !== undefined)("clearway-nats serve, with a server", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await openServer();
  });
  const running: Serving[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.kill()));
    await server.close();
  });

  /** Starts the command and waits until it serves. */
  async function start(...args: string[]): Promise<Serving> {
    const child = spawn(process.execPath, [cli, "serve", ...args, "--nats", server.url], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const serving = new Serving(child);
    running.push(serving);
    await serving.says("stdout", "serving ");
    return serving;
  }

  const call = (options: object) =>
    remotePool({ servers: server.url, module: "images", ...options } as never) as never as Pool;

  test("answers calls in both modes, and ends with status 0 after a signal", async () => {
    const serving = await start(
      "images.tasks.js",
      "--version",
      "1.2.0",
      "--mode",
      "request,durable",
      "--idempotent",
      "add",
    );
    expect(serving.text.stdout).toMatch(
      /^serving images 1\.2\.0 \(request, durable\) on nats:\/\/127\.0\.0\.1:\d+ with \d+ threads?\n$/,
    );
    for (const mode of ["request", "durable"]) {
      const pool = await call({ version: "1.2.0", mode });
      expect(await pool.call.add(2, 3)).toBe(5);
      await pool.close();
    }
    serving.child.kill("SIGTERM");
    expect(await serving.exit).toEqual([0, null]);
    expect(serving.text.stderr).toBe("stopping: the running calls finish (press Ctrl-C again to end at once)\n");
  });

  test("lets a running call finish before it ends", async () => {
    const serving = await start("images.tasks.js", "--concurrency", "1");
    const pool = await call({});
    const held = mark();
    const result = pool.with({ onProgress: held.reach }).call.held(folder);
    await held.reached;
    serving.child.kill("SIGINT");
    await serving.says("stderr", "stopping");
    writeFileSync(join(folder, "go"), "");
    expect(await result).toBe("done");
    expect(await serving.exit).toEqual([0, null]);
    await pool.close();
  });

  test("ends at once with status 130 at the second signal", async () => {
    const serving = await start("images.tasks.js", "--concurrency", "1");
    const pool = await call({});
    const held = mark();
    const result = pool.with({ onProgress: held.reach }).call.held(folder);
    result.catch(() => {});
    await held.reached;
    serving.child.kill("SIGTERM");
    await serving.says("stderr", "stopping");
    // What comes too soon after the first signal is a part of it.
    const again = setInterval(() => serving.child.kill("SIGTERM"), 50);
    expect(await serving.exit).toEqual([130, null]);
    clearInterval(again);
    await pool.terminate();
  });

  test("refuses a file that exposes no tasks, with status 1", async () => {
    const { code, stdout, stderr } = await serve("broken.tasks.js", "--nats", server.url);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: broken\.tasks\.js cannot be served: /);
  });
});

/** Returns a promise, and the function that resolves it. */
function mark(): { reached: Promise<void>; reach: () => void } {
  let reach: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return { reached, reach };
}

interface Pool {
  call: { add(a: number, b: number): Promise<number>; held(folder: string): Promise<string> };
  with(options: object): Pool;
  close(): Promise<void>;
  terminate(): Promise<void>;
}

class Serving {
  readonly text = { stdout: "", stderr: "" };
  readonly exit: Promise<unknown[]>;
  readonly #heard = new Set<() => void>();

  readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
    this.exit = once(child, "close");
    for (const name of ["stdout", "stderr"] as const)
      child[name]?.setEncoding("utf8").on("data", (text: string) => {
        this.text[name] += text;
        for (const look of this.#heard) look();
      });
    child.once("close", () => {
      for (const look of this.#heard) look();
    });
  }

  /** Resolves when the command has written `text`. Rejects if it ends before. */
  says(name: "stdout" | "stderr", text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.text[name].includes(text)) resolve();
        else if (this.child.exitCode !== null) reject(new Error(`the command ended: ${this.text.stderr}`));
        else return;
        this.#heard.delete(look);
      };
      this.#heard.add(look);
      look();
    });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGKILL");
    await this.exit;
  }
}
