// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { addon } from "../src/addon.js";
import { loadPlugin, NativeError, nativeFeatures } from "../src/index.js";
import { Port } from "../src/port.js";
import { kind } from "../src/record.js";
import { Collected, codeOf, open, probes, suite } from "./fixtures/probe.js";

suite("loading", () => {
  test("a plugin can be loaded by path or URL, and several times", async () => {
    await using one = await open();
    await using two = await loadPlugin(pathToFileURL(probes.whole.path));
    expect(one.path).toBe(probes.whole.path);
    expect(two.channel("null").call().bytes).toBe(null);
    await one.close();
    expect(two.channel("null").call().bytes).toBe(null);
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
