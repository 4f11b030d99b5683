// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads plugins that were compiled with the header of an older and of a later version. The headers are made from the committed one.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { loadPlugin } from "../src/index.js";
import { built, include, missing } from "./fixtures/probe.js";

const source = fileURLToPath(new URL("./fixtures/versioned.c", import.meta.url));
const header = readFileSync(`${include}/clearway.h`, "utf8");

/** Returns the header with another end of a struct. */
function withEnd(text: string, struct: string, change: (fields: string) => string): string {
  const end = `\n} ${struct};`;
  const start = text.indexOf(`typedef struct ${struct} {`);
  const at = text.indexOf(end);
  if (start < 0 || at < start) throw new Error(`the header has no struct ${struct}`);
  return text.slice(0, start) + change(text.slice(start, at)) + text.slice(at);
}

const withoutLastField = (fields: string): string => fields.replace(/\n {2}[^\n/][^;]*;$/, "");
const withField = (fields: string): string => `${fields}\n  uint64_t later;`;
const withFunction = (fields: string): string => `${fields}\n  clearway_status (*later)(clearway_plugin_id plugin);`;

/** The header as an older plugin had it: without the last function of the table, and without `on_close`. */
const older = withEnd(withEnd(header, "clearway_host", withoutLastField), "clearway_plugin", withoutLastField);

/** The header of a later minor version. */
const later = ["clearway_handler", "clearway_source", "clearway_plugin"]
  .reduce((text, struct) => withEnd(text, struct, withField), withEnd(header, "clearway_host", withFunction))
  .replace("#define CLEARWAY_ABI_MINOR 0", "#define CLEARWAY_ABI_MINOR 1");

/** Compiles the plugin with a header, and returns its path. */
function compiled(name: string, text: string, ...define: string[]): string {
  const folder = `${built}/${name}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/clearway.h`, text);
  const path = `${folder}/plugin.so`;
  const flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", folder];
  const { status, stderr } = spawnSync("cc", [...flags, ...define, source, "-o", path], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return path;
}

/** Opens a plugin, calls it and listens to it once. */
async function use(path: string): Promise<unknown> {
  await using plugin = await loadPlugin(path);
  const events: unknown[] = [];
  for await (const event of plugin.channel("count").listen({ arguments: new Uint8Array([3]) }))
    events.push(...(event.bytes ?? []));
  return [...(plugin.channel("echo").call(new Uint8Array([1, 2])).bytes ?? []), ...events];
}

describe.skipIf(missing() !== undefined)("a plugin that was built with another version of the header", () => {
  beforeAll(() => {
    expect(older).not.toContain("(*log)");
    expect(older).not.toContain("clearway_on_close on_close;");
    expect(later.match(/ later;|\(\*later\)/g)).toHaveLength(4);
  });

  test("a plugin with smaller structs works in a newer host", async () => {
    expect(await use(compiled("older", older))).toEqual([1, 2, 3]);
  });

  test("a plugin with larger structs works in an older host, which ignores the later fields", async () => {
    expect(await use(compiled("later", later, "-DLATER"))).toEqual([1, 2, 3]);
  });

  test("a plugin that needs a later function is refused with both versions", async () => {
    await expect(use(compiled("wants", later, "-DLATER", "-DWANTS_LATER"))).rejects.toMatchObject({
      code: "wrong-version",
      message: expect.stringContaining("built for version 1.1 of the ABI; this host has 1.0"),
    });
  });

  test("a handler that is smaller than in the first version is refused", async () => {
    await expect(use(compiled("small", header, "-DFIRST_HANDLER"))).rejects.toMatchObject({ code: "init-failed" });
  });
});
