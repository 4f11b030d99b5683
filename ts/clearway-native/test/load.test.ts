// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { addon, packageNames, whyMissing } from "../src/addon.js";
import { loadPlugin, NativeError, nativeFeatures, type Plugin } from "../src/index.js";
import { Port } from "../src/port.js";
import { kind } from "../src/record.js";
import { built, Collected, codeOf, include, missing, open, probes, suite } from "./fixtures/probe.js";

suite("loading", () => {
  test("a plugin can be loaded by path or URL, and several times", async () => {
    await using one = await open();
    await using two = await loadPlugin(pathToFileURL(probes.whole.path));
    expect(one.path).toBe(probes.whole.path);
    expect(two.channel("null").call().bytes).toBe(null);
    await one.close();
    expect(two.channel("null").call().bytes).toBe(null);
  });

  test("two copies of the addon in one process refuse each other's memory", async () => {
    const openCopy = async (name: string): Promise<Plugin> => {
      const [addonCopy, pluginCopy] = [`${built}/${name}.node`, `${built}/${name}.so`];
      copyFileSync(process.env["CLEARWAY_NATIVE_ADDON"] as string, addonCopy);
      copyFileSync(probes.whole.path, pluginCopy); // a probe of its own, because a probe has one host
      vi.stubEnv("CLEARWAY_NATIVE_ADDON", addonCopy);
      vi.resetModules();
      const copy = await import("../src/index.js");
      const plugin = await copy.loadPlugin(pluginCopy);
      vi.unstubAllEnvs();
      return plugin;
    };
    await using one = await openCopy("one");
    await using two = await openCopy("two");
    using memory = one.allocate(8);
    using _ = two.allocate(8);
    expect(await codeOf(() => two.channel("echo").call(memory))).toBe("released");
    expect(one.channel("echo").call(memory).bytes?.length).toBe(8);
  });

  test("a closed opening and its arrays are garbage-collected", async () => {
    const collected = new Collected();
    const openAndClose = async (): Promise<void> => {
      const port = new Port(addon(), probes.whole.path, "detachable", () => {});
      collected.watch(port, port.port);
      const answer = await port.send("pool/echo", new Uint8Array(5000));
      expect(answer.bytes?.length).toBe(5000);
      await port.close();
    };
    await Promise.all(Array.from({ length: 20 }, openAndClose));
    const refuse = (): void => {
      const scratch = [new Float64Array(4096), new Uint8Array(1 << 17)] as const;
      const onWake = (): void => {};
      expect(addon().open(probes.refuses.path, ...scratch, ...scratch, onWake)).toBeTypeOf("number");
      collected.watch(onWake, ...scratch);
    };
    refuse();
    await new Promise<void>((resolve) => {
      const scratch = [
        new Float64Array(4096),
        new Uint8Array(1 << 17),
        new Float64Array(4096),
        new Uint8Array(1 << 17),
      ];
      const [heads, body, answerHeads, answerBody] = scratch as [Float64Array, Uint8Array, Float64Array, Uint8Array];
      const onWake = (): void => {
        if (addon().drain(port) > 0 && heads[0] === kind.closed) resolve();
      };
      const port = addon().open(probes.whole.path, heads, body, answerHeads, answerBody, onWake) as object;
      collected.watch(port, onWake, ...scratch);
      addon().close(port);
    });
    await collected.all();
  });

  test("a closed opening settles a loan that returns late, and is then garbage-collected", async () => {
    await using other = await open();
    const collected = new Collected();
    const openAndClose = async (): Promise<{ returned: Promise<void> }> => {
      const port = new Port(addon(), probes.whole.path, "detachable", () => {});
      collected.watch(port, port.port);
      const lent = port.lend(new Uint8Array(64));
      other.channel("keep").call(lent);
      lent.release();
      await port.close();
      return { returned: lent.returned };
    };
    const late = await openAndClose();
    other.channel("drop").call();
    await late.returned;
    await collected.all();
  });

  test("a missing file or a file that is not a library fails with load-failed, its reason and its path once", async () => {
    expect(await codeOf(() => loadPlugin("/nowhere/at/all.so"))).toBe("load-failed");
    expect(await codeOf(() => loadPlugin(probes.text.path))).toBe("load-failed");
    await expect(loadPlugin("/nowhere/at/all.so")).rejects.toThrow(/^\/nowhere\/at\/all\.so: [^/]*$/);
  });

  test("a library without an init fails with not-a-plugin", async () => {
    expect(await codeOf(() => loadPlugin(probes.none.path))).toBe("not-a-plugin");
  });

  test("a plugin for another ABI fails with wrong-version", async () => {
    expect(await codeOf(() => loadPlugin(probes.old.path))).toBe("wrong-version");
  });

  test("a plugin whose init refuses fails with init-failed and the plugin's message", async () => {
    const error = await loadPlugin(probes.refuses.path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NativeError);
    expect(error).toMatchObject({ code: "init-failed" });
    expect(String(error)).toMatch(/the probe refuses/);
  });

  test("invalid options are refused before the library is loaded", async () => {
    expect(await codeOf(() => open({ views: "other" as "copied" }))).toBe("invalid-argument");
  });

  test("this Node maps native memory as shared memory and keeps JavaScript's memory", () => {
    expect(["node-api", "v8"]).toContain(nativeFeatures().mapping);
    expect(nativeFeatures().keeps).toBe(true);
  });
});

test("loading a plugin fails with addon-missing and the file's name when CLEARWAY_NATIVE_ADDON names no file", async () => {
  const entry = new URL("../dist/index.js", import.meta.url);
  const script = `import { loadPlugin } from ${JSON.stringify(entry.href)};
    await loadPlugin("x").catch((error) => console.log(error.code, error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, CLEARWAY_NATIVE_ADDON: "/nowhere/clearway.node" },
  });
  expect(stdout).toMatch(/^addon-missing .*CLEARWAY_NATIVE_ADDON names no file: \/nowhere\/clearway\.node\n$/);
});

const linux = (head: string) => packageNames({ platform: "linux", arch: "arm64", head });

describe("the packages that may have the addon", () => {
  test("are chosen by the dynamic loader that the program's file names", () => {
    expect(linux("\u007fELF\0/lib/ld-linux-aarch64.so.1\0")).toEqual(["clearway-native-linux-arm64-gnu"]);
    expect(linux("\u007fELF\0/nix/store/x-glibc-2.40/lib/ld-linux-aarch64.so.1\0")).toEqual([
      "clearway-native-linux-arm64-gnu",
    ]);
    expect(linux("\u007fELF\0/lib/ld-musl-aarch64.so.1\0")).toEqual(["clearway-native-linux-arm64-musl"]);
  });

  test("include both C libraries when the program's file names no loader", () => {
    expect(linux("")).toEqual(["clearway-native-linux-arm64-gnu", "clearway-native-linux-arm64-musl"]);
  });

  test("have no C library on other systems", () => {
    expect(packageNames({ platform: "darwin", arch: "arm64", head: "" })).toEqual(["clearway-native-darwin-arm64"]);
  });
});

describe("the message about a missing addon", () => {
  const names = ["clearway-native-linux-x64-gnu"];

  test("names the package to install when there is one for the system", () => {
    const said = whyMissing(names, { "clearway-native-linux-x64-gnu": "1.2.3" });
    expect(said).toContain("the package clearway-native-linux-x64-gnu is not installed");
    expect(said).toContain("npm install clearway-native-linux-x64-gnu@1.2.3");
    expect(said).toContain("npx clearway-native build");
  });

  test("names the systems that have a package, and what a build needs, when the system has none", () => {
    const said = whyMissing(["clearway-native-darwin-arm64"], { "clearway-native-linux-x64-gnu": "1.2.3" });
    expect(said).toContain("no prebuilt addon for this system (darwin-arm64); there is one for linux-x64-gnu.");
    expect(said).toMatch(/Rust 1\.88 .*rustup\.rs.* C\+\+ compiler.* npx clearway-native build$/);
  });

  test("names what a build needs when no package is known, as in a clone", () => {
    expect(whyMissing(names, {})).toMatch(/^there is no prebuilt addon for this system \(linux-x64-gnu\)\. To build/);
  });
});

// Loads plugins that were compiled with the header of an older and of a later version. The headers are made from the committed one.

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
