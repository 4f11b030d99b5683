// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the page's parts that need neither a browser nor a clock.
import { describe, expect, test } from "vitest";
import { placeLabels } from "./src/page/drawing.js";
import { FrameClock } from "./src/page/frames.js";
import { mostText, type Result, resultOf, sharesOf, totalText } from "./src/page/result.js";
import { hiddenSides } from "./src/page/scroll-hint.js";
import { Stopwatch } from "./src/work/steps.js";

describe("the frames that count", () => {
  /** Returns the lengths of the frames that count, if frames end at these times. */
  const lengths = (clock: FrameClock, times: readonly number[]) =>
    times.flatMap((nowMs) => {
      const { lengthMs, counts } = clock.frame(nowMs);
      return counts ? [lengthMs] : [];
    });

  test("begin after three steady frames in a row when the page has loaded", () => {
    const clock = new FrameClock();
    expect(lengths(clock, [0, 16, 32, 48, 64])).toEqual([]);
    clock.loaded(70);
    expect(lengths(clock, [347, 363, 379, 450, 466, 482, 498])).toEqual([]);
    expect(lengths(clock, [514, 814])).toEqual([16, 300]);
  });

  test("begin a second after the page has loaded when no frame is steady", () => {
    const clock = new FrameClock();
    clock.loaded(0);
    expect(lengths(clock, [500, 999, 1000, 1100])).toEqual([100]);
  });

  test("begin with a job", () => {
    const clock = new FrameClock();
    clock.frame(0);
    clock.begin();
    expect(lengths(clock, [700])).toEqual([700]);
  });

  test("leave out the time in which the page was hidden", () => {
    const clock = new FrameClock();
    clock.begin();
    expect(lengths(clock, [0, 16])).toEqual([16]);
    clock.hide();
    expect(lengths(clock, [60_000, 60_016])).toEqual([16]);
  });
});

describe("the labels of stalls", () => {
  const widthOf = (text: string) => text.length * 7;
  const bar = (left: number, right: number, text = "100 ms") => ({ left, right, weight: right - left, text });

  test("are on a bar that is wide enough, and otherwise beside it", () => {
    expect(placeLabels([bar(10, 110)], 350, widthOf)).toEqual([{ text: "100 ms", left: 39, right: 81, inside: true }]);
    expect(placeLabels([bar(10, 20)], 350, widthOf)).toEqual([{ text: "100 ms", left: 25, right: 67, inside: false }]);
    expect(placeLabels([bar(335, 345)], 350, widthOf)).toEqual([
      { text: "100 ms", left: 288, right: 330, inside: false },
    ]);
  });

  test("are on the visible part of a bar that extends beyond the strip", () => {
    expect(placeLabels([bar(-200, 100)], 350, widthOf)[0]).toMatchObject({ left: 29, right: 71, inside: true });
    expect(placeLabels([bar(-200, 2)], 350, widthOf)[0]).toMatchObject({ left: 7, inside: false });
  });

  test("leave out the shorter stall where two do not fit", () => {
    expect(placeLabels([bar(100, 104, "70 ms"), bar(106, 112, "90 ms")], 350, widthOf).map(({ text }) => text)).toEqual(
      ["90 ms", "70 ms"],
    );
    expect(placeLabels([bar(5, 9, "70 ms"), bar(11, 17, "90 ms")], 65, widthOf).map(({ text }) => text)).toEqual([
      "90 ms",
    ]);
  });

  test("never overlap and never leave the strip, wherever the stalls are", () => {
    for (const width of [346, 366, 1100]) {
      for (let seed = 1; seed <= 200; seed++) {
        const bars = Array.from({ length: 12 }, (_, at) => {
          const left = ((seed * 7919 + at * at * 104_729) % (width + 80)) - 40;
          return bar(left, left + 3 + ((seed * 31 + at * 17) % 60), `${(seed * at * 37) % 4000} ms`);
        });
        const labels = placeLabels(bars, width, widthOf).sort((a, b) => a.left - b.left);
        expect(labels.length).toBeGreaterThan(0);
        for (const [at, { left, right }] of labels.entries()) {
          expect(left).toBeGreaterThanOrEqual(labels[at - 1]?.right ?? 0);
          expect(right).toBeLessThanOrEqual(width);
        }
      }
    }
  });
});

describe("the reason for a total", () => {
  const steps = { "fetching the photo": 100, "restoring the photo": 300 };

  test("is the largest share, and the rest of the total is between the threads", () => {
    expect(sharesOf("by-hand", 2000, { steps, showMs: 20 })).toEqual([
      { name: "handing over", ms: 1580, part: 0.79 },
      { name: "restoring the photo", ms: 300, part: 0.15 },
      { name: "fetching the photo", ms: 100, part: 0.05 },
      { name: "showing the result", ms: 20, part: 0.01 },
    ]);
  });

  test("names no threads when the job ran on the main thread", () => {
    expect(sharesOf("main-thread", 430, { steps, showMs: 20 }).map(({ name, ms }) => [name, ms])).toEqual([
      ["restoring the photo", 300],
      ["fetching the photo", 100],
      ["showing the result", 20],
      ["waiting for the main thread", 10],
    ]);
  });

  test("has no share below 0 when a clock is coarse", () => {
    const shares = sharesOf("clearway", 399.9, { steps, showMs: 0 });
    expect(shares.map(({ ms }) => ms)).toEqual([300, 100, 0, 0]);
    expect(sharesOf("clearway", 0, { steps: {}, showMs: 0 }).every(({ part }) => part === 0)).toBe(true);
  });

  test("is a sentence on the card and a few words in the table", () => {
    const result = { shares: sharesOf("by-hand", 2000, { steps, showMs: 0.2 }) } as unknown as Result;
    const text = (value: string) => value.replaceAll("\u00a0", " ");
    expect(text(mostText(result))).toBe("80 % handing over");
    expect(text(totalText(result))).toBe(
      "80 % of the total was handing over: 1.60 s. The rest: restoring the photo 300 ms, fetching the photo 100 ms.",
    );
  });

  test("adds up the laps of a step that is done several times", () => {
    const times = [0, 5, 7, 20, 21];
    const watch = new Stopwatch(() => times.shift()!);
    for (const name of ["reading", "sending", "reading", "sending"]) watch.lap(name);
    expect(watch.steps).toEqual({ reading: 18, sending: 3 });
  });
});

describe("the verdict of a run", () => {
  const measured = (...stalls: { cause: string; lengthMs: number }[]) => {
    const longestOf = (all: typeof stalls) => Math.max(0, ...all.map(({ lengthMs }) => lengthMs));
    const report = {
      ...{
        stalls: stalls.map((stall) => ({
          ...{ because: "a reason", machineMs: stall.cause === "machine" ? stall.lengthMs : 0 },
          ...stall,
        })),
        floorMs: 4,
        longestMs: longestOf(stalls),
      },
      ownLongestMs: longestOf(stalls.filter(({ cause }) => cause !== "machine")),
      ...{ frames: { dropped: 4, estimated: false }, hitch: { msPerSecond: 80, verdicts: { strict: "critical" } } },
    };
    return { value: { steps: {}, showMs: 0 }, runtimeMs: 1000, report } as unknown as Parameters<typeof resultOf>[2];
  };
  const of = (...stalls: { cause: string; lengthMs: number }[]) =>
    resultOf("students", "clearway", measured(...stalls));

  test("does not count the frames that the machine cost", () => {
    const machine = { cause: "machine", lengthMs: 80 };
    expect(of(machine)).toMatchObject({ verdict: "good", longestStallMs: 0 });
    expect(of(machine, { cause: "app", lengthMs: 5 })).toMatchObject({ verdict: "good", longestStallMs: 5 });
    expect(of(machine, { cause: "app", lengthMs: 5 }).cause).toMatch(
      /a reason\. The machine caused a longer one of 80/,
    );
    expect(of(machine, { cause: "app", lengthMs: 24 }).verdict).toBe("warning");
    expect(of(machine, { cause: "app", lengthMs: 70 }).verdict).toBe("critical");
    expect(of({ cause: "app", lengthMs: 96 }).verdict).toBe("critical");
  });
});

describe("a box that scrolls", () => {
  test("has hidden sides only where it can scroll by a whole pixel", () => {
    const sides = (scrollLeft: number, scrollWidth: number) =>
      hiddenSides({ scrollLeft, scrollWidth, clientWidth: 350 } as Element);
    expect([sides(0, 350), sides(0, 400), sides(20, 400), sides(50, 400), sides(49.5, 400)]).toEqual([
      "",
      "end",
      "both",
      "start",
      "start",
    ]);
    // A negative position is that of a page in a right-to-left script.
    expect(sides(-50, 400)).toBe("start");
  });
});
