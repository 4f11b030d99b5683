// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadPlugin, NativeError, nativeFeatures } from "../src/index.js";
import { codeOf, open, probes, suite } from "./fixtures/probe.js";

suite("loading", () => {
  test("a plugin is loaded by path or by URL, and several times", async () => {
    await using one = await open();
    await using two = await loadPlugin(pathToFileURL(probes.whole.path));
    expect(one.path).toBe(probes.whole.path);
    expect(two.channel("null").call().bytes).toBe(null);
    await one.close();
    expect(two.channel("null").call().bytes).toBe(null);
  });

  test("a file that is not there, or is no library, is load-failed, and the message says why and names it once", async () => {
    expect(await codeOf(() => loadPlugin("/nowhere/at/all.so"))).toBe("load-failed");
    expect(await codeOf(() => loadPlugin(probes.text.path))).toBe("load-failed");
    await expect(loadPlugin("/nowhere/at/all.so")).rejects.toThrow(/^\/nowhere\/at\/all\.so: [^/]*$/);
  });

  test("a library without an init is not-a-plugin", async () => {
    expect(await codeOf(() => loadPlugin(probes.none.path))).toBe("not-a-plugin");
  });

  test("a plugin for another ABI is wrong-version", async () => {
    expect(await codeOf(() => loadPlugin(probes.old.path))).toBe("wrong-version");
  });

  test("a plugin whose init refuses is init-failed, with what it said", async () => {
    const error = await loadPlugin(probes.refuses.path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NativeError);
    expect(error).toMatchObject({ code: "init-failed" });
    expect(String(error)).toMatch(/the probe refuses/);
  });

  test("options out of their range are refused before anything is loaded", async () => {
    expect(await codeOf(() => open({ views: "other" as "copied" }))).toBe("invalid-argument");
  });

  test("this Node maps native memory as shared, and keeps JavaScript's", () => {
    expect(["node-api", "v8"]).toContain(nativeFeatures().mapping);
    expect(nativeFeatures().keeps).toBe(true);
  });
});

test("without its addon the package loads, and loading a plugin is addon-missing and says how to build it", async () => {
  const entry = new URL("../dist/index.js", import.meta.url);
  const script = `import { loadPlugin } from ${JSON.stringify(entry.href)};
    await loadPlugin("x").catch((error) => console.log(error.code, error.message));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...process.env, CLEARWAY_NATIVE_ADDON: "/nowhere/clearway.node" },
  });
  expect(stdout).toMatch(/^addon-missing .*rustup.*npm run build/);
});
