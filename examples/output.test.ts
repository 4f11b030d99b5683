// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the examples that print what their comments say.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPlugin } from "clearway-native";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plugins } from "../scripts/native.mjs";
import { compile, program, toolchain } from "../scripts/swift.mjs";
import { outputOf } from "./output-of.js";
import students from "./records/students.tasks.js";

test("the quick start compiles and prints what its comments say", async () => {
  const config = fileURLToPath(new URL("quick-start/tsconfig.json", import.meta.url));
  await outputOf("../node_modules/typescript/bin/tsc", "-p", config);
  const output = await outputOf("./quick-start/dist/main.js");
  expect(output.slice(0, -1)).toEqual([
    "Uint8Array(3) [ 255, 155, 0 ]",
    "tile at 0, 0: 65536 bytes",
    "tile at 256, 0: 65536 bytes",
    "50 %",
    "100 %",
    "2 frames",
    "0",
    "timeout",
    "dawn: 4096 bytes",
    "noon: 4096 bytes",
    "dusk: 4096 bytes",
    "connections: 1",
    "night",
    "day",
    "254",
  ]);
  expect(output.at(-1)).toMatch(/^longest stall: \d+ ms here, \d+ ms away$/);
});

test.skipIf(toolchain() === undefined)(
  "the quick start for Swift calls a method and reads the events of a socket's other end",
  () => {
    if (!program("QuickStartExample")) expect(compile("--product", "QuickStartExample")).toBe(0);
    const [path, ...before] = program("QuickStartExample")!;
    const { status, stdout } = spawnSync(path, before, { encoding: "utf8" });
    expect(stdout).toBe("step 1\nstep 2\nstep 3\npoint 1.0 2.0\nwidth 320 done true\nserver: closed\n");
    expect(status).toBe(0);
  },
);

test("methods, messages, frames and errors cross between two ends, and large lists move", async () => {
  const lines = await outputOf("./channels/camera.js");
  // The log line of the camera may come at any time.
  expect(lines.filter((line) => line !== "the camera is on")).toEqual([
    "2",
    "1000000 0",
    "3",
    "OUT_OF_RANGE no zoom of 9 [Object: null prototype] { max: 8 }",
    "not-implemented",
    "true true",
    "1000000 []",
  ]);
  expect(lines).toContain("the camera is on");
});

test("values, methods and a type of one's own go through bytes, and wrong bytes are refused with their place", async () => {
  expect(await outputOf("./channels/codecs.js")).toEqual([
    "45 bytes",
    "[Object: null prototype] {",
    "  name: 'Zoë',",
    "  level: 0.5,",
    "  pixels: Uint8Array(3) [ 255, 0, 0 ]",
    "}",
    "3 6",
    "batteryLevel null",
    "UNAVAILABLE no battery",
    "[ Point { x: 1, y: 2 } ]",
    "[ 'a', 1 ]",
    "true",
    "truncated 15",
  ]);
});

test("a child process is called, streams, is held to the schema, and says how it died", async () => {
  expect(await outputOf("./channels/child.js")).toEqual([
    "{ level: 20, unit: 'celsius', note: null }",
    "0",
    "1",
    "2",
    'lab/thermometer, level: args.unit must be one of "celsius", "kelvin": args.unit="fahrenheit"',
    "lost - the process was killed by SIGKILL",
  ]);
});

test("a WebSocket carries the readings to who has the token, and refuses who has not", async () => {
  expect(await outputOf("./channels/ticker.js")).toEqual([
    "127.0.0.1 43",
    "999",
    "transport-closed - before the hello: Unexpected server response: 401",
  ]);
});

test("offloaded functions print what their comments say", async () => {
  await outputOf("./offload/build.mjs");
  expect(await outputOf("./offload/dist/main.js")).toEqual([
    "78498",
    "[ 3, 6, 9 ]",
    "[ { name: 'pen', amount: 2 }, { name: 'cup', amount: 7 } ]",
    "0 255",
    "1",
    "4",
    "9",
    "the user left",
    "invalid-argument",
  ]);
});

test("a million students arrive as a table, without a byte copied, and are scanned", async () => {
  const output = await outputOf("./records/main.js");
  expect(output.slice(0, -1)).toEqual([
    "rows: 1000000",
    'last: {"rollNum":1000000,"name":"Asha"}',
    "called Zoë: 142857",
    "sum: 500000500000",
    "a page: [ { rollNum: 501, name: 'Dilara' }, { rollNum: 502, name: 'Émile' } ]",
    "copied bytes: 0",
  ]);
  expect(output.at(-1)).toMatch(/^longest stall of the main thread: [\d.]+ ms in \d+ ms$/);
});

test("the task is an ordinary function, whose writer finishes as a table", () => {
  expect(students.students(9).finish().column("rollNum").toArray()).toEqual(Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9));
});

test("four million rows come as a stream of tables, each of which is read and released", async () => {
  const output = await outputOf("./records/parts.js");
  expect(output.slice(0, 2)).toEqual(["rows: 4000000", "sum: 510000000"]);
  expect(output[2]).toMatch(/^memory of the process: at most \d+ MiB$/);
  expect(output[3]).toMatch(/^longest stall of the main thread: [\d.]+ ms in \d+ ms$/);
});

const addon = fileURLToPath(import.meta.resolve("clearway-native")).replace(/index\.js$/, "clearway.node");
const isLeftOut = (path: string): boolean => !existsSync(addon) || !existsSync(path);

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clearway-plugins-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.skipIf(isLeftOut(plugins.c.example))(
  "a plugin is called, shares memory both ways, and sends events; its ledger says what was copied",
  async () => {
    expect(await outputOf("./plugin/main.js")).toEqual([
      "{ kind: 'success', value: 'hello' }",
      "{ kind: 'success', value: [ 1, 2 ] }",
      "8294400 7",
      "0",
      "9",
      "5 readings, 0 dropped",
      "8294400 detachable",
      "true { small: { count: 3, bytes: 56 } } 0",
    ]);
  },
);

test.skipIf(isLeftOut(plugins.c.sqlite))("rows of SQLite become records, and only reading is allowed", async () => {
  const file = join(folder, "students.db");
  // Python's standard library has SQLite, and set-up installs Python.
  const make = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("create table students (id integer, name text, mark real)")
db.executemany("insert into students values (?, ?, ?)", [(1, "Ada", 1.5), (2, None, 2.25), (3, "Grüße", None)])
db.commit()`;
  expect(spawnSync("python3", ["-c", make, file], { encoding: "utf8" }).stderr).toBe("");
  expect(await outputOf("./plugin/sqlite.js", file)).toEqual([
    "1n Ada 1.5",
    "2n null 2.25",
    "3n Grüße null",
    "query: the statement must read rows",
    "query: no such column: absent",
  ]);
});

test.skipIf(isLeftOut(plugins.rust.image))("an image is resized and blurred, and wrong sizes are refused", async () => {
  expect(await outputOf("./plugin/image.js")).toEqual([
    "64 48 12288 200",
    "12288 200",
    "invalid-argument image/blur: each side of image must be 1 to 8192: width=0 height=1",
    "invalid-argument image/blur: sigma must be above 0, and at most 100: sigma=NaN",
    "invalid-argument image/blur: 64 x 47 RGBA pixels are 12032 bytes: attached=12288",
    "invalid-argument image/blur: missing field `sigma`",
  ]);
});

test.skipIf(isLeftOut(plugins.rust.sensor))("every line of a sensor arrives, however slowly it is read", async () => {
  const device = join(folder, "device");
  const lines = Array.from({ length: 1000 }, (_, at) => `temperature=${at / 10} humidity=40`);
  await writeFile(device, `${lines.join("\n")}\n\n`);
  expect(await outputOf("./plugin/sensor.js", device)).toEqual([
    '1000 {"number":999,"values":{"humidity":40,"temperature":99.9}} 0',
    expect.stringMatching(/path \/no\/such\/device: No such file/),
    expect.stringContaining("missing field `path`"),
  ]);
});

test.skipIf(isLeftOut(plugins.c.sqlite))(
  "wrong messages to the SQLite plugin are refused, and it goes on",
  async () => {
    const plugin = await loadPlugin(plugins.c.sqlite);
    const send = async (channel: string, message: string): Promise<unknown> => {
      const sent = plugin.channel(channel).send(new TextEncoder().encode(message));
      return await sent.then(
        ({ bytes, attachments }) => [bytes && new TextDecoder().decode(bytes), attachments[0]?.bytes?.length],
        (error: { code: string; message: string }) => `${error.code} ${error.message}`,
      );
    };
    expect(await send("query", "select 1")).toBe("invalid-argument query: open a database first");
    expect(await send("open", "/no/such.db")).toBe("failed open: unable to open database file");
    expect(await send("open", "a\0b")).toMatch("invalid-argument open: the message must be a path");
    expect(await send("open", "x".repeat(4096))).toMatch("invalid-argument open: the message must be a path");
    expect(await send("open", ":memory:")).toEqual([null, undefined]);
    expect(await send("query", "select 1; select 2")).toBe("invalid-argument query: the message must be one statement");
    expect(await send("query", "")).toMatch("invalid-argument query: the message must be a statement");
    expect(await send("query", "-- nothing")).toBe("invalid-argument query: the statement must read rows");
    expect(await send("query", "select zeroblob(300000000)")).toBe("failed query: string or blob too big");
    const none = '[{"name":"a\\"b","nullable":true,"kind":"text","dictionary":false}]';
    expect(await send("query", `select 1 as 'a"b' where 0;\n`)).toEqual([none, 128]);
    await plugin.close();
  },
);
