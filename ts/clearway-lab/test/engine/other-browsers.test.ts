// SPDX-License-Identifier: MIT OR Apache-2.0
// Which questions a run asks about Firefox and WebKit.
import { afterAll, describe, expect, test } from "vitest";
import { COMPARISONS, CONTROLS } from "../../src/engine/comparison.js";
import { CONTROLS_IN_OTHER_BROWSERS, FURTHER, IN_OTHER_BROWSERS } from "../../src/engine/limits.js";
import { BuiltCli } from "../built-cli.js";

const inChromium = [...COMPARISONS, ...FURTHER].filter(({ host }) => host === "chromium");

describe("Firefox and WebKit", () => {
  test.each(["firefox", "webkit"] as const)("have each question about Chromium: %s", (host) => {
    const own = IN_OTHER_BROWSERS.filter((each) => each.host === host);
    const arms = (all: typeof own) => all.map(({ subject, reference, work }) => [subject, reference, work]);
    expect(arms(own)).toEqual(arms(inChromium));
    expect(own.every(({ name }) => name.endsWith(`-${host}`))).toBe(true);
    expect(own.filter(({ thing, setUp }) => /chromium/i.test(thing + setUp))).toEqual([]);
    expect(CONTROLS_IN_OTHER_BROWSERS.filter((each) => each.host === host)).toHaveLength(1);
  });

  test("have names of their own", () => {
    const all = [...COMPARISONS, ...FURTHER, ...CONTROLS, ...IN_OTHER_BROWSERS, ...CONTROLS_IN_OTHER_BROWSERS];
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  test("say that WebKit has no shared memory", () => {
    for (const { host, setUp } of IN_OTHER_BROWSERS)
      expect(setUp.includes("everything goes by port")).toBe(host === "webkit");
  });
});

describe("clearway lab list", () => {
  const cli = new BuiltCli();
  afterAll(() => cli.remove());
  const listed = async (...args: string[]) =>
    (await cli.run(["lab", "list", ...args])).stdout.split("\n").flatMap((line) => line.split(" ")[0] || []);

  test("leaves Firefox and WebKit out", async () => {
    expect((await listed("--limits")).filter((name) => /firefox|webkit/.test(name))).toEqual([]);
    expect((await listed("records")).filter((name) => /firefox|webkit/.test(name))).toEqual([]);
  });

  test("has them when a host is named, or a whole question", async () => {
    const own = IN_OTHER_BROWSERS.filter(({ host }) => host === "firefox").map(({ name }) => name);
    expect((await listed("--host", "firefox")).sort()).toEqual([...own].sort());
    expect(await listed("records", "--host", "webkit")).toEqual(["records-webkit", "records-total-webkit"]);
    expect(await listed("call-webkit")).toEqual(["call-webkit"]);
  });

  test.each([
    ["swift has none", ["--host", "swift"], "no question is for swift."],
    [
      "none of the named questions is for the host",
      ["codec", "--host", "chromium,jvm"],
      "no question of codec is for chromium or jvm.",
    ],
  ])("is refused if %s", async (_, args, message) => {
    const { code, stdout, stderr } = await cli.run(["lab", "list", ...args]);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(`error: ${message}`)]);
  });
});
