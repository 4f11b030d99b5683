// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { server } from "vitest/browser";
import { features } from "../../../../scripts/browsers/features.mjs";

const engine = server.browser as "chromium" | "firefox" | "webkit";

test.each(features)("this engine has $name exactly if docs/browsers.md says so", async ({ engines, has }) => {
  expect(await has()).toBe(engines[engine]);
});
