// SPDX-License-Identifier: MIT OR Apache-2.0
// The measurement of one device, on a scripted clock.
import { describe, expect, test } from "vitest";
import { type DeviceHost, measureDevice, type Progress } from "../../src/ratio/device/measure-device.js";
import { WORKS, type Work } from "../../src/ratio/device/works.js";

/** A device whose clock moves by its work alone. */
class FakeDevice implements DeviceHost {
  ms = 0;
  stepMs = 0.001;
  /** Called at each pause, with the number of pauses so far. */
  onPause: (pause: number) => void = () => {};
  hidden = false;
  wentHidden = false;
  waits = 0;
  #pauses = 0;

  nowMs(): number {
    this.ms += this.stepMs;
    return this.ms;
  }

  pause(): Promise<void> {
    this.onPause(++this.#pauses);
    return Promise.resolve();
  }

  ready(): Promise<void> {
    if (this.hidden) this.waits++;
    this.hidden = false;
    return Promise.resolve();
  }

  wasHidden(): boolean {
    const was = this.hidden || this.wentHidden;
    this.wentHidden = false;
    return was;
  }

  /** A piece of work that takes `ms` on this device. */
  work(name: string, ms: () => number, result = 7): Work {
    return {
      name,
      title: name,
      result: 7,
      run: () => {
        this.ms += ms();
        return result;
      },
    };
  }
}

const AMOUNTS = { rounds: 3, batchMs: 10, warmUpMsMax: 1000 };

describe("a device's measurement", () => {
  test("has one time of a call for each piece and round", async () => {
    const host = new FakeDevice();
    const works = [host.work("short", () => 0.5), host.work("long", () => 25)];
    const { pieces, repeated, worksVersion } = await measureDevice(AMOUNTS, host, 4, () => {}, works);
    expect({ repeated, worksVersion }).toEqual({ repeated: 0, worksVersion: 4 });
    expect(pieces.map(({ name, warm }) => ({ name, warm }))).toEqual([
      { name: "short", warm: true },
      { name: "long", warm: true },
    ]);
    for (const [at, ms] of [0.5, 25].entries()) {
      expect(pieces[at]!.callMs).toHaveLength(3);
      for (const call of pieces[at]!.callMs) expect(call).toBeCloseTo(ms, 2);
    }
  });

  test("says that a piece was still getting faster when its warm-up ended", async () => {
    const host = new FakeDevice();
    let ms = 1000;
    const works = [host.work("improving", () => (ms *= 0.9)), host.work("steady", () => 1)];
    const { pieces } = await measureDevice({ ...AMOUNTS, warmUpMsMax: 20 }, host, 1, () => {}, works);
    expect(pieces.map(({ warm }) => warm)).toEqual(
      [false, true].map((warm, at) => (at === 0 ? warm : expect.any(Boolean))),
    );
  });

  test("counts only the rounds in which the page was visible, after one to settle", async () => {
    const host = new FakeDevice();
    const works = [host.work("a", () => 10), host.work("b", () => 10)];
    const seen: string[] = [];
    let paused = 0;
    host.onPause = () => {
      // The first pause of the second round.
      if (seen.at(-1) === "rounds 1" && paused++ === 0) host.hidden = true;
    };
    const onProgress = ({ phase, done }: Progress) => void seen.push(`${phase} ${done}`);
    const { pieces, repeated } = await measureDevice(AMOUNTS, host, 1, onProgress, works);
    expect({ repeated, waits: host.waits }).toEqual({ repeated: 1, waits: 1 });
    expect(pieces.map(({ callMs }) => callMs.length)).toEqual([3, 3]);
    // The round in the background, its report, the round to settle, and the round itself.
    expect(seen.filter((each) => each === "rounds 1")).toHaveLength(4);
  });

  test("notices a tab that was in the background and is visible again", async () => {
    const host = new FakeDevice();
    const seen: number[] = [];
    let once = true;
    host.onPause = () => {
      if (seen.at(-1) === 2 && once) {
        once = false;
        host.wentHidden = true;
      }
    };
    const works = [host.work("a", () => 10)];
    const { repeated } = await measureDevice(
      AMOUNTS,
      host,
      1,
      ({ phase, done }) => void (phase === "rounds" && seen.push(done)),
      works,
    );
    expect(repeated).toBe(1);
  });

  test("warms up again in windows in which the page was hidden", async () => {
    const host = new FakeDevice();
    host.onPause = (pause) => {
      if (pause === 2) host.hidden = true;
    };
    const { repeated } = await measureDevice(AMOUNTS, host, 1, () => {}, [host.work("a", () => 10)]);
    expect({ repeated, waits: host.waits }).toEqual({ repeated: 0, waits: 1 });
  });

  test("takes longer batches on a coarser clock, and refuses one that is too coarse", async () => {
    const host = new FakeDevice();
    host.stepMs = 1;
    let calls = 0;
    const works = [host.work("a", () => ++calls && 1)];
    await measureDevice({ ...AMOUNTS, batchMs: 1 }, host, 1, () => {}, works);
    expect(calls).toBeGreaterThan(50 * AMOUNTS.rounds - 1);
    const coarse = new FakeDevice();
    coarse.stepMs = 16.7;
    await expect(measureDevice(AMOUNTS, coarse, 1)).rejects.toThrow(
      "the clock of this browser moves in steps of 16.7 ms",
    );
  });

  test("ends if a piece returns a wrong result", async () => {
    const host = new FakeDevice();
    const works = [host.work("broken", () => 1, 8)];
    await expect(measureDevice(AMOUNTS, host, 1, () => {}, works)).rejects.toThrow(
      "the piece broken returned 8 instead of 7",
    );
  });
});

test.each(WORKS)("the piece $name returns its result every time", ({ run, result }) => {
  expect([run(), run()]).toEqual([result, result]);
});
