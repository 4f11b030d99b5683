// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadPlugin } from "clearway-native";
import { afterAll, beforeAll, expect, test } from "vitest";
import { plugins } from "../../scripts/native.mjs";
import { outputOf } from "../output-of.js";

const addon = fileURLToPath(import.meta.resolve("clearway-native")).replace(/index\.js$/, "clearway.node");
const isLeftOut = (path: string): boolean => !existsSync(addon) || !existsSync(path);

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clearway-plugins-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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
