// SPDX-License-Identifier: MIT OR Apache-2.0
// What a measurement of remote calls needs.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findServer, remoteProblem } from "../src/remote/programs.js";

describe("what is missing", () => {
  const find = (name: string) => (name === "nats-server" ? undefined : `/usr/bin/${name}`);
  test.each([
    [["bullmq"], /^bullmq is not installed: npm install --save-dev bullmq@\d+\.\d+\.\d+$/],
    [
      ["clearway-nats", "ioredis"],
      /^clearway-nats and ioredis are not installed: npm install --save-dev clearway-nats@\d\S+ ioredis@\d\S+$/,
    ],
    [[], /^nats-server is not installed: scripts\/setup\.sh nats, apt-get install nats-server, or https:/],
  ])("is named with the command that installs it: %j", (packages, message) => {
    expect(remoteProblem("nats-server", packages, find, () => false)).toMatch(message);
  });

  test("is nothing when packages and server are there", () => {
    expect(remoteProblem("redis-server", ["bullmq"], find, () => true)).toBeUndefined();
    expect(remoteProblem(undefined, [], find, () => true)).toBeUndefined();
  });

  test("is searched in the folders of the path", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clearway-remote-"));
    writeFileSync(path.join(folder, "redis-server"), "");
    expect(findServer("redis-server", `/none:${folder}`)).toBe(path.join(folder, "redis-server"));
    rmSync(folder, { recursive: true });
  });
});
