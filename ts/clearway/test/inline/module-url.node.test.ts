// SPDX-License-Identifier: MIT OR Apache-2.0
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { moduleUrl } from "../../src/pool/call/inline.js";

afterEach(() => void vi.restoreAllMocks());

describe("the URL of a module", () => {
  test.each(["/app/tasks.mjs", "./tasks.mjs", "tasks.mjs", "../100% a#b?c d/\u00e4.mjs"])(
    "of the path %s is its file's",
    (path) => {
      expect(moduleUrl(path)).toBe(pathToFileURL(resolve(path)).href);
    },
  );

  test.each(["file:///app/a%20b.mjs", "data:text/javascript,1", "HTTPS://example.com/tasks.js"])(
    "of the URL %s is that URL",
    (url) => {
      expect(moduleUrl(url)).toBe(url);
      expect(moduleUrl(new URL(url))).toBe(new URL(url).href);
    },
  );

  test.each([
    ["C:\\app dir\\tasks.mjs", "file:///C:/app%20dir/tasks.mjs"],
    ["c:/app/tasks.mjs", "file:///c:/app/tasks.mjs"],
    [".\\tasks.mjs", "file:///D:/work%231/tasks.mjs"],
  ])("of the Windows path %s is its file's", (path, url) => {
    vi.spyOn(process, "platform", "get").mockReturnValue("win32");
    vi.spyOn(process, "cwd").mockReturnValue("D:\\work#1");
    expect(moduleUrl(path)).toBe(url);
  });
});
