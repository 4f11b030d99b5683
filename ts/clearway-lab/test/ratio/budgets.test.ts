// SPDX-License-Identifier: MIT OR Apache-2.0
// Budgets in another device's time: jank, with made-up runs.
import { describe, expect, test } from "vitest";
import { ratioLines } from "../../src/cli/ratio.js";
import { figuresOf, figuresThere, parseBudget } from "../../src/jank/figures.js";
import { exitStatus, measureAll, type Plan } from "../../src/jank/measure.js";
import type { Run } from "../../src/jank/record.js";
import type { DeviceTime } from "../../src/ratio/device-time.js";
import { ratioFile } from "../../src/ratio/ratio-file.js";
import { jankHtml } from "../../src/report/jank/page.js";
import { jankText } from "../../src/report/jank/text.js";
import { run } from "../jank/evidence.js";
import { device, HERE, samples, THERE } from "./samples.js";

const PHONE: DeviceTime = {
  ratio: 3.1,
  ratioMin: 2.7,
  ratioMax: 3.6,
  name: "Safari 18 on iPhone",
  here: { host: "chromium", name: "Chromium 156", cpu: "" },
};

async function jank(runs: Run[], budget = "", device: DeviceTime | null = PHONE, deviceNotes: string[] = []) {
  const plan: Plan = {
    targets: [{ kind: "url", name: "page", url: "http://a.test/" }],
    repeat: runs.length,
    steps: [],
    budget: budget === "" ? [] : parseBudget(budget),
    signal: new AbortController().signal,
    ...(device && { device }),
    deviceNotes,
  };
  let next = 0;
  return measureAll(
    plan,
    async () => ({ run: runs[next++]!, runtime: "Chromium 1" }),
    () => {},
  );
}

describe("jank with a device", () => {
  test("shows each figure there, and what it is here", async () => {
    const text = jankText(await jank([run([12])]), 200);
    expect(text).toContain("page: 1 stall; the longest takes 37.2 ms there (12.0 ms here x 3.1).");
    expect(text).toContain("there: Safari 18 on iPhone takes 3.1 times as long as here (2.7 to 3.6)");
    expect(text).toContain("longest stall   37.2 ms there (12.0 ms here x 3.1)");
    expect(text).toContain("stalled         37.2 ms of 2 025 ms there (12.0 ms of 2 000 ms here)");
    expect(text).toContain("dropped frames  1 at 60 Hz, 3 at 120 Hz there (0 at 60 Hz, 0 at 120 Hz here)");
    expect(text).toMatch(/hitch ratio +10\.1 ms\/s at 60 Hz \(critical\), 14\.3 ms\/s at 120 Hz there \(0\.0 ms\/s/);
  });

  test("lists the causes of stalls that cost a frame only there", async () => {
    expect(jankText(await jank([run([6])]), 100)).toContain("Causes (times here)");
    expect(jankText(await jank([run([5])]), 100)).toContain(
      "nothing that costs a frame. The longest of 1 stall took 15.5 ms there",
    );
    expect(jankText(await jank([run([])]), 100)).toContain("nothing found. No stall of 4 ms or longer");
  });

  test("judges the budget there, and says when the ratio is not exact enough for it", async () => {
    const report = await jank([run([12])], "stall=35,dropped=1,lag=1000");
    expect(report.budget.map(({ name, kept, uncertain }) => [name, kept, uncertain === true])).toEqual([
      ["stall", false, true],
      ["dropped", true, true],
      ["lag", true, false],
    ]);
    expect(exitStatus(report)).toBe(1);
    const text = jankText(report, 200);
    expect(text).toContain(
      "over budget: longest stall 37.2 ms there (12.0 ms here x 3.1), limit 35.0 ms; not certain: the limit lies within the interval of the device's ratio",
    );
    expect(text).toContain("within budget: dropped frames at 60 Hz 1 there (0 here), limit 1; not certain");
    expect(jankHtml(report).replaceAll("\u00a0", " ")).toContain("37.2 ms there (12.0 ms here x 3.1)");
    expect(exitStatus(await jank([run([12])], "stall=50"))).toBe(0);
  });

  test("without an interval is certain", async () => {
    const { budget } = await jank([run([12])], "stall=35", { ratio: 3, name: "the other device" });
    expect(budget).toEqual([{ name: "stall", max: 35, value: 36, kept: false, here: 12 }]);
  });

  test("takes medians of the runs, and keeps the figures of this machine", async () => {
    const { subjects, device } = await jank([run([10]), run([20]), run([30])]);
    expect(device).toEqual(PHONE);
    expect(subjects[0]!.figures.longestMs).toBe(20);
    expect(subjects[0]!.there!.figures.longestMs).toBeCloseTo(62, 9);
  });

  test("shows the doubts about the device, and fits a narrow terminal", async () => {
    const text = jankText(await jank([run([12])], "stall=35", PHONE, ["the device was compared with Node here"]), 50);
    expect(text).toContain("- the device was compared with Node here");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(50);
  });

  test("with a ratio of 1 has the figures of this machine", () => {
    const stalls = [
      { lengthMs: 30, cause: { kind: "script", ms: 30 } },
      { lengthMs: 50, cause: { kind: "unknown", ms: 50 } },
    ];
    const frames = { hz: 60, expected: 60, dropped: 0, estimated: true };
    expect(figuresThere(stalls, 1000, 1)).toEqual(figuresOf([{ durationMs: 1000, stalls: stalls as never, frames }]));
  });

  test("without a device says nothing of one", async () => {
    const report = await jank([run([12])], "stall=35", null);
    expect(report).not.toHaveProperty("device");
    expect(jankText(report, 100)).not.toContain("there");
  });
});

describe("the text of a ratio", () => {
  const text = (...[here, there, width]: [typeof HERE, typeof THERE, number?]) =>
    ratioLines(ratioFile(here, there, ""), "out/phone.json", width).join("\n");

  test("says what 5 ms here are there, with the interval, and how to use it", () => {
    const said = text(HERE, device(samples([2, 2.2, 1.8, 2])));
    expect(said).toMatch(
      /^5 ms here is 10 ms there\.\nSafari 18 on iPhone takes 2 times as long as Node 20 on this machine \(between \S+ and \S+\)\./,
    );
    expect(said).toContain("A frame at 60 Hz is 16.7 ms there, which is 8.33 ms of work here.");
    expect(said).toMatch(/integer arithmetic +1 ms +2 ms +2 +\(\S+ to \S+\)/);
    expect(said).toContain("clearway jank page.html --budget stall=50 --device out/phone.json");
    expect(said).not.toContain("differ widely");
    expect(said).toContain("Here is Node. --here chromium compares");
  });

  test("says that the pieces differ, were cold, got slower, or were repeated", () => {
    const odd = samples([2, 2, 2, 2, 3, 3], [1, 2, 1, 1, 1]);
    const pieces = odd.pieces.map((piece, at) => ({ ...piece, warm: at !== 2 }));
    const said = text(HERE, device({ ...odd, pieces, repeated: 2 }));
    expect(said).toMatch(
      /The pieces differ widely: \S.* floating point \S+\. For work of one kind, give its own ratio: --device/,
    );
    expect(said).toContain("Still got faster at the end of the warm-up, there: JSON and text");
    expect(said).toContain("The rounds became 50 % slower there");
    expect(said).toContain("Rounds measured again there, because the tab was in the background: 2");
  });

  test.each([50, 80])("fits %d columns", (width) => {
    for (const line of text(HERE, THERE, width).split("\n")) expect(line.length).toBeLessThanOrEqual(width);
  });
});
