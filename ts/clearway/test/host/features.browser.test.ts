// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: it checks the isolation of each project.
import { expect, test } from "vitest";
import { server } from "vitest/browser";
import { features } from "../../../../scripts/browsers/features.mjs";

const engine = server.browser as "chromium" | "firefox" | "webkit";

test.each(features)("this engine has $name exactly if docs/browsers.md says so", async ({ engines, has }) => {
  expect(await has()).toBe(engines[engine]);
});

// Without this test, a browser that skips every test of shared memory would go unnoticed.
test("the page is isolated, and has shared memory, in the projects that say so", () => {
  // Vite replaces this text.
  const env = (import.meta as unknown as { env: Record<string, string> }).env;
  expect(crossOriginIsolated).toBe(env["CLEARWAY_ISOLATED"] === "1");
  expect(typeof SharedArrayBuffer === "function").toBe(env["CLEARWAY_SHARED_MEMORY"] === "1");
});
