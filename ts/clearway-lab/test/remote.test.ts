// SPDX-License-Identifier: MIT OR Apache-2.0
// What a measurement of remote calls needs.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findServer, remoteProblem } from "../src/remote/open.js";

describe("what is missing", () => {
  const none = () => undefined;
  test.each([
    [["piscina"], /^piscina is not installed: npm install --save-dev piscina@\d+\.\d+\.\d+$/],
    [
      ["clearway-nats", "piscina"],
      /^clearway-nats and piscina are not installed: npm install --save-dev clearway-nats@\d\S+ piscina@\d\S+$/,
    ],
    [[], /^nats-server is not installed: scripts\/setup\.sh nats, apt-get install nats-server, or https:/],
  ])("is named with the command that installs it: %j", (packages, message) => {
    expect(remoteProblem(packages, none, () => false)).toMatch(message);
  });

  test("is nothing when packages and server are there", () => {
    expect(
      remoteProblem(
        ["a"],
        () => "/usr/bin/nats-server",
        () => true,
      ),
    ).toBeUndefined();
  });

  test("is searched in the folders of the path", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clearway-remote-"));
    writeFileSync(path.join(folder, "nats-server"), "");
    expect(findServer(`/none:${folder}`)).toBe(path.join(folder, "nats-server"));
    rmSync(folder, { recursive: true });
  });
});
