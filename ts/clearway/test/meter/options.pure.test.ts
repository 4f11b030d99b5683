// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { deviceFactor } from "../../src/meter/device.js";
import { formatReport } from "../../src/meter/format.js";
import { measure } from "../../src/meter/measure.js";
import { ping } from "../../src/meter/ping.js";
import { type WatchOptions, watch } from "../../src/meter/watch.js";

const never = (): void => expect.unreachable();

describe("an invalid option of the meter is refused with its name and value", () => {
  test.each<[shown: string, options: unknown]>([
    ["hz must be over 0, at most 1000: hz=0", { hz: 0 }],
    ['hz="60"', { hz: "60" }],
    ["floorMs must be 1 or more: floorMs=NaN", { floorMs: Number.NaN }],
    ["floorMs=0.1", { floorMs: 0.1 }],
    ["floorMs=Infinity", { floorMs: Number.POSITIVE_INFINITY }],
    ["stallsMax must be a whole number of 1 or more: stallsMax=1.5", { stallsMax: 1.5 }],
    ["beatMs must be 1 to 1000: beatMs=0", { beatMs: 0 }],
    ["label must be a string: label=12", { label: 12 }],
    ['stacks must be true or false: stacks="no"', { stacks: "no" }],
    ["frames must be true or false: frames=0", { frames: 0 }],
    ["onStall must be a function: onStall=[object]", { onStall: {} }],
    ["onstall must be a known option (the nearest is onStall): onstall=[function]", { onstall: never }],
    ["floor must be a known option (the nearest is floorMs): floor=5", { floor: 5 }],
    ["options must be an object: options=null", null],
  ])("by watch(): %s", (shown, options) => {
    expect(() => watch(options as WatchOptions)).toThrow(shown);
  });

  test("by measure(), which does not call the function", async () => {
    await expect(measure(never, { hz: -1 })).rejects.toThrow("hz=-1");
    await expect(measure(never, { stallsMax: 5 } as never)).rejects.toThrow("stallsMax must be a known option");
    await expect(measure(5 as never)).rejects.toThrow("fn must be a function");
  });

  test("by ping(), which sends nothing", async () => {
    const target = async (): Promise<never> => expect.unreachable();
    await expect(ping(target, { count: 0 })).rejects.toThrow("count must be a whole number of 1 or more: count=0");
    await expect(ping(target, { intervalMs: Number.POSITIVE_INFINITY })).rejects.toThrow("intervalMs=Infinity");
    await expect(ping(target, { intervalMs: -1 })).rejects.toThrow("intervalMs must be 0 to 2147483647: intervalMs=-1");
    await expect(ping(target, { signal: null as never })).rejects.toThrow("signal must be an AbortSignal: signal=null");
    await expect(ping(target, { interval: 5 } as never)).rejects.toThrow("the nearest is intervalMs): interval=5");
    await expect(ping(target, { onSample: 3 as never })).rejects.toThrow("onSample=3");
  });

  test("by deviceFactor() and formatReport()", async () => {
    await expect(deviceFactor({ runs: 2 })).rejects.toThrow("runs must be a whole number of 3 or more: runs=2");
    await expect(deviceFactor({ run: 5 } as never)).rejects.toThrow("the nearest is runs): run=5");
    expect(() => formatReport({} as never, { stallsMax: -1 })).toThrow("stallsMax=-1");
  });
});
