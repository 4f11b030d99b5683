// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the parts that need neither network nor browser.
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { drawnScreen } from "./server/drawn-screen.mjs";
import { createLink } from "./server/link.mjs";
import { fair, Schedule } from "./server/schedule.mjs";
import { readStamp, writeStamp } from "./server/stamp.mjs";
import { Commands } from "./src/commands.js";
import { FrameCount, quantileText } from "./src/figures.js";
import { Newest, split, valuesFor } from "./src/split.js";

describe("a bad link", () => {
  const schedule = (weather: Partial<typeof fair>, random = () => 1): Schedule => {
    const made = new Schedule(random);
    made.set({ ...fair, ...weather });
    return made;
  };

  test("holds everything back for its delay", () => {
    const late = schedule({ delayMs: 40 });
    expect([late.dueMs(0, 1000), late.dueMs(5, 1), late.dueMs(100, 1)]).toEqual([40, 45, 140]);
  });

  test("puts one segment behind the other where little fits through", () => {
    const narrow = schedule({ bytesPerSecond: 1_000_000, delayMs: 10 });
    expect([narrow.dueMs(0, 1000), narrow.dueMs(0, 2000), narrow.dueMs(50, 1000)]).toEqual([11, 13, 61]);
  });

  test("gives out nothing behind a lost segment before that was sent again", () => {
    const draws = [0.5, 0.001, 0.5, 0.5];
    const lossy = schedule({ lossRate: 0.01, delayMs: 10, retransmitMs: 200 }, () => draws.shift() ?? 1);
    expect([lossy.dueMs(0, 1), lossy.dueMs(1, 1), lossy.dueMs(2, 1), lossy.dueMs(300, 1)]).toEqual([10, 211, 211, 310]);
  });

  test("gives out nothing before what was sent earlier when the weather clears", () => {
    const late = schedule({ delayMs: 100 });
    late.dueMs(0, 1);
    late.set(fair);
    expect(late.dueMs(1, 1)).toBe(100);
  });

  test("carries all bytes in order, both ways, and a regular end", async () => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket));
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    const address = echo.address();
    let draws = 0;
    const link = createLink(typeof address === "object" && address ? address.port : 0, () => (++draws % 10) / 10);
    onTestFinished(() => {
      link.close();
      echo.close();
    });
    link.set({ delayMs: 1, bytesPerSecond: 100e6, lossRate: 0.1, retransmitMs: 3 });
    const sent = Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7) & 0xff);
    const socket = connect({ port: await link.listen(), host: "127.0.0.1" });
    socket.end(sent);
    const received: Buffer[] = [];
    for await (const chunk of socket) received.push(chunk as Buffer);
    expect(Buffer.compare(Buffer.concat(received), sent)).toBe(0);
  });
});

describe("a round trip", () => {
  test("is split into parts that add up", () => {
    const trip = split({ command: 3, keptMs: 12, nativeMs: 2 }, 100, 160, 168);
    expect(trip).toEqual({
      command: 3,
      atMs: 168,
      totalMs: 68,
      networkMs: 48,
      queueMs: 10,
      nativeMs: 2,
      paintMs: 8,
    });
  });

  test("is closed once, by the first frame that shows its command", () => {
    const commands = new Commands();
    expect([commands.send(0), commands.send(1), commands.send(2)]).toEqual([1, 2, 3]);
    const shown = (command: number) => ({ command, keptMs: 1, nativeMs: 0.5 });
    expect(commands.painted([shown(1), shown(2)], 9, 10).map(({ totalMs }) => totalMs)).toEqual([10, 9]);
    expect(commands.painted([shown(2), shown(99)], 19, 20)).toEqual([]);
    expect([commands.sent, commands.shown]).toEqual([3, 2]);
  });

  test("has quantiles only of what is enough for them, and of the newest", () => {
    const newest = new Newest(1000);
    for (let value = 0; value < 19; value++) newest.add(value);
    expect(newest.quantile(0.5)).toBeUndefined();
    newest.add(19);
    expect(newest.quantile(0.5)).toBe(9);
    expect(newest.quantile(0.99)).toBeUndefined();
    for (let value = 0; value < 1500; value++) newest.add(value);
    expect([newest.length, newest.quantile(0.5), newest.quantile(0.99)]).toEqual([1000, 999, 1489]);
  });
});

describe("a quantile in the table", () => {
  test("says how many values it needs until it has them", () => {
    expect([valuesFor(0.5), valuesFor(0.99)]).toEqual([20, 1000]);
    expect(quantileText(undefined, 312, valuesFor(0.99))).toBe("after 1,000 values\n(312 so far)");
    expect([quantileText(4.567, 1000, 1000), quantileText(123.4, 1000, 1000)]).toEqual(["4.57\u00a0ms", "123\u00a0ms"]);
  });
});

describe("the count of frames", () => {
  test("counts the numbers that are missing as dropped", () => {
    const count = new FrameCount();
    expect([count.made, count.dropped]).toEqual([0, 0]);
    for (const number of [5, 6, 9]) count.add(number, number);
    expect([count.made, count.shown, count.dropped]).toEqual([5, 3, 2]);
  });

  test("begins again with the next frame when it is cleared", () => {
    const count = new FrameCount();
    for (const number of [1, 9]) count.add(number, number * 100);
    count.clear();
    expect([count.made, count.shown, count.dropped, count.lastSecond(1000)]).toEqual([0, 0, 0, 2]);
    count.add(12, 1200);
    expect([count.made, count.shown, count.dropped, count.lastSecond(1200)]).toEqual([1, 1, 0, 2]);
  });
});

describe("the screen that JavaScript draws", () => {
  const size = { width: 128, height: 64, rate: 120 };

  /** Returns, for each row of the next frame that has some of this colour, its first pixel and how many there are. */
  async function rowsOf(
    screen: ReturnType<typeof drawnScreen>,
    rgb: readonly number[],
  ): Promise<Map<number, number[]>> {
    const rows = new Map<number, number[]>();
    for await (const frame of screen.frames(size, new AbortController().signal)) {
      for (let at = 0; at < frame.length; at += 4) {
        if (rgb.some((value, channel) => frame[at + channel] !== value)) continue;
        const [x, y] = [(at / 4) % size.width, Math.floor(at / 4 / size.width)];
        const [first = x, pixels = 0] = rows.get(y) ?? [];
        rows.set(y, [first, pixels + 1]);
      }
      break;
    }
    return rows;
  }

  test("shows a cross at the pointer, as the native one does", async () => {
    const screen = drawnScreen();
    const yellow = [255, 210, 0];
    expect((await rowsOf(screen, yellow)).size).toBe(0);
    screen.point(1, 60, 30, 0);
    const rows = await rowsOf(screen, yellow);
    expect([...rows.keys()]).toEqual(Array.from({ length: 24 }, (_, at) => 18 + at));
    for (const [y, row] of rows) expect(row).toEqual(y >= 28 && y < 32 ? [48, 24] : [58, 4]);
  });

  test("shows the cross in red while a button is pressed, and clips it at the edge", async () => {
    const screen = drawnScreen();
    screen.point(1, 127, 63, 1);
    const rows = await rowsOf(screen, [255, 0, 0]);
    expect([rows.get(51), rows.get(63), rows.size]).toEqual([[125, 3], [115, 13], 13]);
  });
});

describe("a frame's stamp", () => {
  test("is read as it was written", () => {
    const frame = new Uint8Array(256);
    const stamp = { number: 7, command: 5, x: -3, y: 12, buttons: 1, drawnMs: 1.25, beganMs: 123_456.5 };
    writeStamp(frame, stamp);
    expect(readStamp(frame)).toEqual(stamp);
  });

  test("is missed where there is none", () => {
    expect(() => readStamp(new Uint8Array(8))).toThrow("it has 8 bytes");
    expect(() => readStamp(new Uint8Array(64))).toThrow("no stamp");
  });
});
