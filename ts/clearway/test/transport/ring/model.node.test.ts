// SPDX-License-Identifier: MIT OR Apache-2.0
// A slow model with the same result on every host, so it runs on one.
import { describe, expect, test } from "vitest";
import { explore, type Fault, type Script } from "./model.js";
import { exploreBoth, type Slip } from "./two-way-model.js";

// `make deep` explores longer scripts and more calls, which takes half a minute.
const inFull = process.env["CLEARWAY_EVERY_TEST"] === "1";

/** Returns every script with a number of frames, each by ring or by port, with or without the end of a tick after it. */
function scripts(frames: number): Script[] {
  if (frames === 0) return [[]];
  return scripts(frames - 1).flatMap((rest) => [
    ["ring", "tick", ...rest],
    ["ring", ...rest],
    ["port", "tick", ...rest],
  ]) as Script[];
}

const all = scripts(inFull ? 4 : 3).map((script): Script => [...script, "tick"]);
// The worker's scripts: values of a stream left by port before its ring was open.
const opening = scripts(inFull ? 3 : 2).map((script): Script => ["before", "before", "open", ...script, "tick"]);

describe("the ring's protocol, in every order of steps,", () => {
  test.each([1, 3])("loses no frame, keeps the order and never sleeps over a frame, with room for %i", (room) => {
    let states = 0;
    for (const script of [...all, ...opening]) {
      const found = explore(script, room);
      expect({ script, wrong: found.wrong }).toEqual({ script, wrong: undefined });
      states += found.states;
    }
    expect(states).toBeGreaterThan(10_000);
  });

  test.each<[Fault, string]>([
    ["load before park", "asleep"],
    ["load before publish", "asleep"],
    ["clear after post", "asleep"],
    ["no mark", "order"],
    ["skip mark", "order"],
    ["open without a message", "order"],
  ])("fails in the model with the fault `%s`", (fault, what) => {
    const scripts = fault === "open without a message" ? opening : all;
    expect(scripts.some((script) => explore(script, 3, fault).wrong?.includes(what))).toBe(true);
  });
});

describe("calls and answers over both rings, in every order of steps,", () => {
  test.each([[2, 2], ...(inFull ? [[3, 1]] : [])] as [number, number][])(
    "give each of %i calls, %i at once, an answer",
    (calls, atOnce) => {
      const { wrong, states } = exploreBoth(calls, atOnce);
      expect(wrong).toBeUndefined();
      expect(states).toBeGreaterThan(100_000);
    },
  );

  test.each<Slip>(["awake without looking", "not parked after all", "clear after post", "sleeps unasked"])(
    "hang in the model with the mistake `%s`",
    (slip) => {
      expect(exploreBoth(2, 1, slip).wrong).toMatch("asleep");
    },
  );
});
