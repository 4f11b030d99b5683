// SPDX-License-Identifier: MIT OR Apache-2.0
// A loop that computes, with a given share of further turns. It shows whether the engine finds a known difference.
import { type OpenArm, timedSync } from "../work.js";

const TURNS = 20_000;

export const loop =
  (percent: number): OpenArm =>
  () => {
    const turns = TURNS * (1 + percent / 100);
    const run = (): number => {
      let state = 1;
      for (let turn = 0; turn < turns; turn++) state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
      return state;
    };
    return { works: { turns: timedSync(run, 1) }, close: () => {} };
  };
