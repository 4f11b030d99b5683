// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: it checks the isolation of each project.
import { expect, test } from "vitest";

// Without this test, a browser that skips every test of shared memory would go unnoticed.
test("shared memory is available only in the cross-origin isolated project", () => {
  const isolated = (import.meta as unknown as { env: Record<string, string> }).env["CLEARWAY_ISOLATED"] === "1";
  expect(crossOriginIsolated).toBe(isolated);
  expect(typeof SharedArrayBuffer).toBe(isolated ? "function" : "undefined");
});
