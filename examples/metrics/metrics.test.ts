// SPDX-License-Identifier: MIT OR Apache-2.0
// The endpoint, scraped by a real Prometheus server and by clients that go away.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pool as newPool } from "clearway";
import type { Stall } from "clearway/meter";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { outputOf } from "../output-of.js";
import { serve, stop } from "./server.js";

const stall: Stall = {
  startMs: 0,
  lengthMs: 100,
  errorMs: 0,
  cause: "gc",
  because: "garbage collection took 80.0 ms of it",
  machineMs: 0,
  gcMs: 80,
  scripts: [],
  stacks: [],
  marks: [{ label: 'a "mark"\n', overlapMs: 50 }],
};
const odd = 'say "hi" \\ twice\nthen 日本 🙂 }';
const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!prometheus) console.warn("Prometheus is missing, so its test is left out: run scripts/setup.sh prometheus");

let port: number;
let served: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  served = await serve(0);
  ({ port } = served);
});
afterAll(() => stop());

const scrape = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

describe("the endpoint", () => {
  test("has a stall of its own thread once the watch has explained it", async () => {
    const end = performance.now() + 100;
    while (performance.now() < end);
    await expect.poll(scrape).toMatch(/clearway_stall_duration_seconds_count\{thread="main",cause="\w+"\} [1-9]/);
  });

  test("answers other addresses with 404", async () => {
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
  });

  test("serves on after a scraper that disconnects before it has read the answer", async () => {
    const scopes = Array.from({ length: 900 }, (_, at) => served.metrics.scope({ worker: String(at) }));
    for (const { onStall } of scopes) onStall(stall);
    const client = connect(port, "127.0.0.1");
    // This listener runs after the endpoint's own one, in the same turn, so the answer has not left yet.
    const closed = new Promise((resolve) => {
      served.server.once("request", (_, response) => {
        response.once("close", resolve);
        client.resetAndDestroy();
      });
    });
    client.write("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    await closed;
    for (const scope of scopes) scope.close();
    const body = await scrape();
    expect(body).toContain('clearway_stall_gc_time_seconds_total{thread="main"}');
    expect(body).not.toContain("worker=");
  });
});

describe.skipIf(!prometheus)("a Prometheus server", () => {
  const folder = mkdtempSync(join(tmpdir(), "clearway-prometheus-"));
  let child: ChildProcess;
  afterAll(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill();
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });

  test("scrapes every metric and label", async () => {
    const scope = served.metrics.scope({ thread: odd });
    scope.onStall(stall);
    // A task module without a file: Node's workers import data URLs.
    const worker = import.meta.resolve("clearway/worker");
    const source = `import { expose } from ${JSON.stringify(worker)}; export default expose({ add: (a, b) => a + b });`;
    const pool = newPool<{ add(a: number, b: number): number }>(
      new URL(`data:text/javascript,${encodeURIComponent(source)}`),
      {
        size: 1,
        metrics: true,
      },
    );
    onTestFinished(() => pool.terminate());
    served.metrics.pool(pool, { pool: "sums" });
    for (let at = 0; at < 3; at++) await pool.call.add(at, 1);
    const config = {
      scrape_configs: [
        { job_name: "clearway", scrape_interval: "500ms", static_configs: [{ targets: [`127.0.0.1:${port}`] }] },
      ],
    };
    // YAML includes JSON.
    writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(config));
    const twice = requests(2);
    child = spawn(
      "prometheus",
      [
        `--config.file=${join(folder, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(folder, "data")}`,
        "--web.listen-address=127.0.0.1:0",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    const address = await listening(child);
    // A target's scrapes follow one another, so the first one is stored when the second one begins.
    const accepts = await twice;
    expect(accepts[0]).toContain("application/openmetrics-text");
    const query = async (text: string): Promise<[object, string][]> => {
      const url = `http://${address}/api/v1/query?query=${encodeURIComponent(text)}`;
      const { data } = (await (await fetch(url)).json()) as {
        data: { result: { metric: object; value: [number, string] }[] };
      };
      return data.result.map(({ metric, value }) => [metric, value[1]]);
    };
    const target = { instance: `127.0.0.1:${port}`, job: "clearway" };
    expect(await query("up")).toEqual([[{ __name__: "up", ...target }, "1"]]);
    const thread = { ...target, thread: odd };
    // The watched thread "main" may have had a stall of the same cause by now.
    expect(await query(`clearway_stall_duration_seconds_count{cause="gc",thread!="main"}`)).toEqual([
      [{ __name__: "clearway_stall_duration_seconds_count", cause: "gc", ...thread }, "1"],
    ]);
    expect(await query(`clearway_stall_duration_seconds_bucket{cause="gc",thread!="main",le="0.1"}`)).toEqual([
      [{ __name__: "clearway_stall_duration_seconds_bucket", cause: "gc", le: "0.1", ...thread }, "1"],
    ]);
    expect(await query(`clearway_stall_gc_time_seconds_total > 0`)).toContainEqual([
      { __name__: "clearway_stall_gc_time_seconds_total", ...thread },
      "0.08",
    ]);
    expect(await query("clearway_mark_stall_time_seconds_total")).toEqual([
      [{ __name__: "clearway_mark_stall_time_seconds_total", mark: 'a "mark"\n', ...thread }, "0.05"],
    ]);
    const metadata = (await (await fetch(`http://${address}/api/v1/metadata`)).json()) as { data: object };
    expect(metadata.data).toMatchObject({
      clearway_stall_duration_seconds: [{ type: "histogram", unit: "seconds" }],
      clearway_stall_gc_time_seconds: [{ type: "counter", unit: "seconds" }],
      clearway_pool_call_duration_seconds: [{ type: "histogram", unit: "seconds" }],
      clearway_pool_memory_bytes: [{ type: "counter", unit: "bytes" }],
      clearway_pool_workers: [{ type: "gauge" }],
    });
    expect(await query(`clearway_pool_calls_total{outcome="ok"}`)).toEqual([
      [expect.objectContaining({ task: "add", pool: "sums" }), "3"],
    ]);
    const quantile = `histogram_quantile(1, clearway_pool_call_duration_seconds_bucket{phase="run"})`;
    expect(Number((await query(quantile))[0]![1])).toBeGreaterThan(0);
    await pool.close();
    scope.close();
  });
});

/** Resolves with the header `accept` of the next `count` requests, when the last one has arrived. */
function requests(count: number): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  return new Promise((resolve) => {
    const heard = (request: import("node:http").IncomingMessage): void => {
      if (found.push(request.headers.accept) < count) return;
      served.server.off("request", heard);
      resolve(found);
    };
    served.server.on("request", heard);
  });
}

/** Returns the address that Prometheus names in its log. Rejects with the log if the server ends first. */
async function listening(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    const address = /msg="Listening on".* address=(\S+)/.exec(line)?.[1];
    if (address !== undefined) {
      child.stderr!.resume();
      return address;
    }
  }
  throw new Error(`Prometheus ended:\n${lines.join("\n")}`);
}

test("the program prints its address, and ends by itself when it is interrupted", async () => {
  const program = spawn(process.execPath, [fileURLToPath(new URL("main.js", import.meta.url)), "0"]);
  const [line] = (await once(createInterface({ input: program.stdout }), "line")) as [string];
  expect(await (await fetch(line)).text()).toContain("clearway_stall_duration_seconds");
  program.kill("SIGTERM");
  expect(await once(program, "exit")).toEqual([0, null]);
});

test("the second program writes a trace with both marks of its stalls", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clearway-trace-"));
  try {
    const file = join(folder, "stalls.json");
    expect(await outputOf("./metrics/trace.js", file)).toEqual([`${file}: a trace with stalls`]);
    const { traceEvents } = JSON.parse(readFileSync(file, "utf8")) as { traceEvents: { name: string; cat?: string }[] };
    const labels = traceEvents.filter(({ cat }) => cat === "label").map(({ name }) => name);
    expect(labels).toEqual(expect.arrayContaining(["parse", "sort"]));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the example of a phone shows the function's stall with the ratio", async () => {
  const lines = await outputOf("./metrics/phone.js", "3");
  expect(lines[0]).toMatch(/^import \(x 3\.00\): held /);
  expect(lines.join("\n")).toMatch(/dropped frames +\d+ of \d+ at 60 Hz, estimated/);
});
