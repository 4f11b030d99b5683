// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { PortTransport } from "../../src/transport/port.js";
import { frameSlots, Op } from "../../src/transport/protocol.js";

function start() {
  const posted: number[] = [];
  const post = (message: unknown): void => void posted.push((message as unknown[]).length / frameSlots);
  const transport = new PortTransport({ post }, () => {});
  const value = (nowMs: number, bytes?: number): void => {
    transport.send(Op.Chunk, 1, "value");
    transport.hurry(nowMs, bytes);
  };
  return { posted, value };
}

describe("values in one tick", () => {
  test("are posted one by one when they are few", () => {
    const { posted, value } = start();
    for (let each = 0; each < 64; each++) value(0);
    expect(posted).toEqual(Array(64).fill(1));
  });

  test("wait for at most an eighth of their burst", () => {
    const { posted, value } = start();
    let sent = 0;
    for (let count = 1; count <= 10_000; count++) {
      value(0);
      sent = posted.reduce((sum, each) => sum + each, 0);
      expect((count - sent) * 8).toBeLessThanOrEqual(count);
    }
    expect(posted.length).toBeLessThan(140);
  });

  test("are posted at once after a pause", () => {
    const { posted, value } = start();
    for (let each = 0; each < 1000; each++) value(0);
    const before = posted.length;
    value(1);
    expect(posted).toHaveLength(before + 1);
  });

  test("are posted at once when they are large", () => {
    const { posted, value } = start();
    for (let each = 0; each < 1000; each++) value(0);
    const before = posted.length;
    value(0, 100_000);
    expect(posted).toHaveLength(before + 1);
  });
});
