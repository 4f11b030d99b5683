// SPDX-License-Identifier: MIT OR Apache-2.0
// The statistics of two devices, with made-up times; stalls in another device's time; the file of a ratio, `--device`, and what is read from a
// machine and a browser.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fillDisk } from "../../../../test/full-disk.mjs";
import { FailedError } from "../../src/cli/print.js";
import { writeRatio } from "../../src/cli/ratio.js";
import { WORKS } from "../../src/ratio/device/works.js";
import { deviceNotes, deviceText, floorFor, parseDevice, stallsThere } from "../../src/ratio/device-time.js";
import { browserName } from "../../src/ratio/measure-ratio.js";
import { isPrivate, networkAddress } from "../../src/ratio/page-server.js";
import {
  extremes,
  parseResult,
  RATIO_MAX,
  RatioError,
  type RatioFile,
  ratioFile,
  ratioOf,
  readRatioFile,
  slowdown,
} from "../../src/ratio/ratio-file.js";
import { device, HERE, samples, THERE } from "./samples.js";

const ROUNDS = [1, 1.1, 0.9, 1.05, 0.95];

describe("the ratio of two devices", () => {
  test("is exact, with an interval of no width, if every piece and round has it", () => {
    const { ratio, ratioMin, ratioMax, pieces } = ratioOf(samples([2, 2, 2]), samples([5, 5, 5]));
    for (const value of [ratio, ratioMin, ratioMax, ...pieces.map((piece) => piece.ratio)])
      expect(value).toBeCloseTo(2.5, 9);
  });

  test("is the geometric mean of the pieces' ratios", () => {
    const factors = [1, 2, 4, 8, 16];
    const { ratio, pieces } = ratioOf(samples(ROUNDS), samples(ROUNDS, factors));
    expect(pieces.map((piece) => piece.ratio)).toEqual(factors.map((factor) => expect.closeTo(factor, 9)));
    expect(ratio).toBeCloseTo(4, 9);
  });

  test("has an interval that contains it, and is wider if the kinds of work differ", () => {
    const other = ROUNDS.toReversed();
    const same = ratioOf(samples(ROUNDS), samples(other, [3, 3.1, 2.9, 3, 3]));
    const differing = ratioOf(samples(ROUNDS), samples(other, [1, 2, 3, 4, 5]));
    for (const { ratio, ratioMin, ratioMax } of [same, differing, ...same.pieces]) {
      expect(ratioMin).toBeLessThan(ratio);
      expect(ratioMax).toBeGreaterThan(ratio);
    }
    expect(differing.ratioMax / differing.ratioMin).toBeGreaterThan(same.ratioMax / same.ratioMin);
  });

  test("is the reciprocal if the devices change places", () => {
    const ms = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        const [there, back] = [ratioOf(samples(a), samples(b)), ratioOf(samples(b), samples(a))];
        expect(there.ratio * back.ratio).toBeCloseTo(1, 9);
      }),
      { numRuns: 20 },
    );
  });

  test("names the extreme pieces only if they differ widely", () => {
    const { pieces } = ratioOf(samples(ROUNDS), samples(ROUNDS, [1, 1.2, 1.4, 1.45, 1.49]));
    expect(extremes(pieces)).toBeUndefined();
    const wide = ratioOf(samples(ROUNDS), samples(ROUNDS, [1, 1.2, 1.4, 1.45, 1.6])).pieces;
    expect(extremes(wide)).toMatchObject({ least: { name: "integers" }, most: { name: "collections" } });
    expect(extremes([])).toBeUndefined();
  });
});

test("a device that gets slower is recognised by its last rounds", () => {
  expect(slowdown(samples([1, 1, 1, 1, 1, 1]))).toBeCloseTo(1, 9);
  expect(slowdown(samples([1, 1, 1.1, 1.1, 1.3, 1.3]))).toBeCloseTo(1.3, 9);
});

describe("stalls in another device's time", () => {
  test("are longer, and lengthen the run by the same time", () => {
    expect(stallsThere([10, 20], 1000, 3)).toEqual({ lengthsMs: [30, 60], durationMs: 1060 });
    expect(stallsThere([10, 20], 1000, 0.5)).toEqual({ lengthsMs: [5, 10], durationMs: 985 });
    expect(stallsThere([], 1000, 3)).toEqual({ lengthsMs: [], durationMs: 1000 });
  });

  test.each([0, -2, Number.NaN, Number.POSITIVE_INFINITY, 1001])("refuse the ratio %s", (ratio) => {
    expect(() => stallsThere([10], 100, ratio)).toThrow(
      `a device's ratio must be a number over 0, at most 1000: ratio=${ratio}`,
    );
  });

  test("need a lower floor of the meter on a slower device, but not under 1 ms", () => {
    const floor = (ratio: number) => floorFor({ ratio, name: "x" });
    expect([floor(2), floor(8), floor(0.5), floorFor(undefined)]).toEqual([2, 1, 4, 4]);
  });
});

let folder: string;
const at = (name: string) => path.join(folder, name);
const written = (value: unknown): string => {
  writeFileSync(at("ratio.json"), typeof value === "string" ? value : JSON.stringify(value));
  return at("ratio.json");
};
const file = ratioFile(HERE, THERE, "2026-01-01T00:00:00.000Z");
const changed = (change: (file: Record<string, never>) => void): unknown => {
  const copy = structuredClone(file) as unknown as Record<string, never>;
  change(copy);
  return copy;
};

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "clearway-ratio-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the file", () => {
  test("has both devices and is read as it was written", () => {
    expect(readRatioFile(written(file))).toEqual(file);
    expect(file.ratio).toBeCloseTo(2 * 2 ** (1 / 5), 9);
  });

  test("can be written and read however much the rounds of a busy machine vary", () => {
    const rounds = fc.array(fc.constantFrom(0.01, 1, 1.1, 60, 6000), { minLength: 3, maxLength: 3 });
    const varied = fc.array(rounds, { minLength: WORKS.length, maxLength: WORKS.length }).map((all) => ({
      ...samples([1, 1, 1]),
      pieces: WORKS.map(({ name }, at) => ({ name, warm: false, callMs: all[at]! })),
    }));
    fc.assert(
      fc.property(varied, varied, (here, there) => {
        const { ratio } = ratioOf(here, there);
        fc.pre(ratio <= RATIO_MAX);
        const { ratioMin, ratioMax } = readRatioFile(written(ratioFile(device(here), device(there), file.measuredAt)));
        expect(ratioMin).toBeLessThanOrEqual(ratio);
        expect(ratioMax).toBeGreaterThanOrEqual(ratio);
      }),
      { numRuns: 200 },
    );
  });

  test.each<[string, unknown, string]>([
    ["is not JSON", "{", "cannot be read"],
    ["is empty", "", "cannot be read"],
    ["is null", null, "is not a file of clearway ratio: kind=undefined"],
    [
      "is of another kind",
      { kind: "clearway-jank", version: 1 },
      'is not a file of clearway ratio: kind="clearway-jank"',
    ],
    ["is of a later version", { ...file, version: 2 }, "version=2, known=1"],
    ["lacks its times", { ...file, there: undefined }, "is damaged: / must have required property 'there'"],
    ["has no ratio", changed((it) => (it["ratio"] = null as never)), "is damaged: /ratio must be number"],
    ["has a negative ratio", { ...file, ratio: -1 }, "is damaged: /ratio must be > 0"],
    [
      "has a ratio that is not of its times",
      { ...file, ratio: 9, ratioMax: 10 },
      "ratio=9 does not follow from its times",
    ],
    [
      "has an interval beside its ratio",
      { ...file, ratioMin: 3, ratioMax: 4 },
      "its interval does not contain the ratio",
    ],
    [
      "has a time of 0",
      changed((it) => ((it as unknown as RatioFile).here.samples.pieces[0]!.callMs as number[]).fill(0)),
      "is damaged: /here/samples/pieces/0/callMs/0 must be >=",
    ],
    [
      "has escape sequences in a name",
      { ...file, there: { ...THERE, name: "\u001b[2J" } },
      "is damaged: /there/name must match pattern",
    ],
    [
      "is of other pieces of work",
      { ...file, there: device({ ...THERE.samples, worksVersion: 7 }) },
      "its pieces of work are of another version: worksVersion=7, known=1",
    ],
    [
      "lacks a piece",
      { ...file, there: device({ ...THERE.samples, pieces: THERE.samples.pieces.slice(1) }) },
      "it has other pieces of work",
    ],
  ])("that %s is refused", (_, value, message) => {
    const name = written(value);
    expect(() => readRatioFile(name)).toThrow(RatioError);
    expect(() => readRatioFile(name)).toThrow(message);
  });

  test("stays as it is if the disk is full, and the new one is kept", async () => {
    const own = mkdtempSync(path.join(folder, "full-"));
    const out = path.join(own, "device-ratio.json");
    await writeRatio(out, file);
    const before = readFileSync(out, "utf8");
    onTestFinished(fillDisk(own, 0));
    const next = ratioFile(HERE, THERE, "2027-01-01T00:00:00.000Z");
    const problem = await writeRatio(out, next).catch((error: Error) => error);
    expect(problem).toBeInstanceOf(FailedError);
    const kept =
      /the disk is full \(ENOSPC\); the run is kept in (\S+)\. To go on/.exec((problem as Error).message)?.[1] ?? "";
    expect(readRatioFile(path.join(kept, "device-ratio.json"))).toEqual(next);
    expect(readFileSync(out, "utf8")).toBe(before);
    expect(readdirSync(own)).toEqual(["device-ratio.json"]);
    rmSync(kept, { recursive: true });
  });

  test("cannot be made of times that give no ratio", () => {
    const [short, long] = [device(samples([1e-6, 1e-6])), device(samples([60_000, 60_000]))];
    expect(() => ratioFile(short, long, "")).toThrow("a device's ratio must be a number over 0, at most 1000");
  });
});

describe("--device", () => {
  test("takes a number", () => {
    expect(parseDevice("3.1")).toEqual({ ratio: 3.1, name: "the other device" });
    expect(parseDevice(" .5 ").ratio).toBe(0.5);
  });

  test("takes a file, with its interval and devices", () => {
    const { ratio, ratioMin, ratioMax } = file;
    expect(parseDevice(written(file))).toEqual({
      ...{ ratio, ratioMin, ratioMax, name: "Safari 18 on iPhone" },
      here: { host: "node", name: "Node 20", cpu: "a processor" },
    });
  });

  test.each(["0", "-3", "NaN", "Infinity", "1e9", "-0"])("refuses the ratio %s", (text) => {
    expect(() => parseDevice(text)).toThrow(RatioError);
    expect(() => parseDevice(text)).toThrow(
      `a device's ratio must be a number over 0, at most 1000: ratio=${Number(text)}`,
    );
  });

  test.each(["", "3x", "phone.json", "0x10"])("refuses what is neither a number nor a file: %j", (text) => {
    expect(() => parseDevice(text)).toThrow(`"${text}" is neither a ratio nor a file`);
  });

  test("refuses a folder", () => {
    expect(() => parseDevice(folder)).toThrow(RatioError);
  });

  test("is shown with its interval if there is one", () => {
    expect(deviceText({ ratio: 3.1234, name: "A" })).toBe("A takes 3.12 times as long as here");
    expect(deviceText({ ratio: 3, ratioMin: 2.5, ratioMax: 3.5, name: "A" })).toBe(
      "A takes 3 times as long as here (2.5 to 3.5)",
    );
  });

  test("is doubted if it was compared with another kind of program, or on another machine", () => {
    const time = parseDevice(written(file));
    expect(deviceNotes(time, "script", "a processor®")).toEqual([]);
    expect(deviceNotes(time, "page", "another").map((note) => note.split(";")[0])).toEqual([
      "the device was compared with Node here",
      "the device was compared with another machine than this one: a processor",
    ]);
    expect(deviceNotes({ ratio: 3, name: "A" }, "page", "any")).toEqual([]);
  });
});

describe("a result of the page", () => {
  const result = { nonce: "n", agent: "Mozilla", cores: 4, samples: samples([1, 2]) };

  test("loses unknown fields of its times", () => {
    const given = { ...result, samples: { ...result.samples, extra: "x" } };
    expect(parseResult(JSON.stringify(given))).toEqual(result);
  });

  test.each<[string, string]>([
    ["not JSON", "{"],
    ["NaN in JSON", JSON.stringify(result).replace(/0\.1/, "NaN")],
    ["null", "null"],
    ["a list", "[]"],
    ["an infinite time", JSON.stringify(result).replace(/\[1,2\]/, "[1,1e999]")],
    ["a time as text", JSON.stringify(result).replace(/\[1,2\]/, '[1,"2"]')],
    ["an uneven number of rounds", JSON.stringify(result).replace(/\[1,2\]/, "[1,2,3]")],
    ["a further field", JSON.stringify({ ...result, more: 1 })],
    ["control characters in the agent", JSON.stringify({ ...result, agent: "\u001b]0;x\u0007" })],
    ["a long agent", JSON.stringify({ ...result, agent: "x".repeat(401) })],
    ["a negative number of cores", JSON.stringify({ ...result, cores: -1 })],
    ["1001 rounds", JSON.stringify({ ...result, samples: samples(Array(1001).fill(1)) })],
  ])("is refused if it is %s", (_, text) => {
    expect(() => parseResult(text)).toThrow();
  });
});

describe("the address on the network", () => {
  const of = (address: string, changes: object = {}) => ({ address, internal: false, ...changes }) as never;
  const interfaces = {
    lo: [of("127.0.0.1", { internal: true })],
    docker0: [of("172.17.0.1")],
    eth0: [of("203.0.113.9"), of("fe80::1", { scopeid: 2 }), of("192.168.1.20")],
  };

  test("is the first private one of a real interface", () => {
    expect(networkAddress(undefined, interfaces)).toBe("192.168.1.20");
  });

  test("is the asked one if it is of this machine", () => {
    expect(networkAddress("203.0.113.9", interfaces)).toBe("203.0.113.9");
    expect(() => networkAddress("192.168.1.99", interfaces)).toThrow(
      "192.168.1.99 is not an address of this machine on a network. Its addresses: 172.17.0.1 (docker0), 203.0.113.9 (eth0), 192.168.1.20 (eth0)",
    );
  });

  test.each(["0.0.0.0", "127.0.0.1", "localhost", "", "fe80::1"])("is never %j", (asked) => {
    expect(() => networkAddress(asked, interfaces)).toThrow(RatioError);
  });

  test("is not a public one unless it is asked for", () => {
    expect(() => networkAddress(undefined, { eth0: [of("203.0.113.9")] })).toThrow("name one with --network ADDRESS");
    expect(["10.1.2.3", "172.16.0.1", "172.31.0.1", "192.168.0.1", "169.254.1.1"].every(isPrivate)).toBe(true);
    expect(["172.32.0.1", "192.169.0.1", "8.8.8.8", "fd00::1"].some(isPrivate)).toBe(false);
  });
});

test.each([
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Safari 18 on iPhone",
  ],
  [
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
    "Chrome 141 on Android",
  ],
  ["Mozilla/5.0 (Linux; Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox 140 on Android"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
    "Edge 141 on Windows",
  ],
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/141.0 Safari/537.36",
    "Chrome 141 on Linux",
  ],
  ["", "a browser on another device"],
])("the user agent %j is %s", (agent, name) => {
  expect(browserName(agent)).toBe(name);
});
