// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { WorkerLife, type WorkerState } from "../../src/pool/worker/worker.js";

type Event = "ready" | "drainIdle" | "drainBusy" | "drainedIdle" | "drainedBusy" | "exit" | "exitKilled";

function send(life: WorkerLife, event: Event): unknown {
  switch (event) {
    case "ready":
      return life.ready();
    case "drainIdle":
      return life.drain(0);
    case "drainBusy":
      return life.drain(1);
    case "drainedIdle":
      return life.drained(0);
    case "drainedBusy":
      return life.drained(1);
    case "exit":
      return life.exit(false);
    case "exitKilled":
      return life.exit(true);
  }
}

const ways: Record<WorkerState, Event[]> = {
  starting: [],
  ready: ["ready"],
  draining: ["ready", "drainBusy"],
  closing: ["ready", "drainIdle"],
  gone: ["ready", "exit"],
};

const table: Record<WorkerState, Record<Event, [action: unknown, then: WorkerState]>> = {
  starting: {
    ready: [true, "ready"],
    drainIdle: ["kill", "starting"],
    drainBusy: ["kill", "starting"],
    drainedIdle: ["nothing", "starting"],
    drainedBusy: ["nothing", "starting"],
    exit: ["failedToStart", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  ready: {
    ready: [false, "ready"],
    drainIdle: ["close", "closing"],
    drainBusy: ["wait", "draining"],
    drainedIdle: ["nothing", "ready"],
    drainedBusy: ["nothing", "ready"],
    exit: ["crashed", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  draining: {
    ready: [false, "draining"],
    drainIdle: ["close", "closing"],
    drainBusy: ["wait", "draining"],
    drainedIdle: ["close", "closing"],
    drainedBusy: ["wait", "draining"],
    exit: ["crashed", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  closing: {
    ready: [false, "closing"],
    drainIdle: ["nothing", "closing"],
    drainBusy: ["nothing", "closing"],
    drainedIdle: ["nothing", "closing"],
    drainedBusy: ["nothing", "closing"],
    exit: ["wanted", "gone"],
    exitKilled: ["wanted", "gone"],
  },
  gone: {
    ready: [false, "gone"],
    drainIdle: ["nothing", "gone"],
    drainBusy: ["nothing", "gone"],
    drainedIdle: ["nothing", "gone"],
    drainedBusy: ["nothing", "gone"],
    exit: ["nothing", "gone"],
    exitKilled: ["nothing", "gone"],
  },
};

describe("the life of a worker", () => {
  for (const state of Object.keys(table) as WorkerState[]) {
    test.each(Object.keys(table[state]) as Event[])(`${state}, then %s`, (event) => {
      const life = new WorkerLife();
      for (const step of ways[state]) send(life, step);
      expect(life.state).toBe(state);
      const [action, then] = table[state][event];
      expect(send(life, event)).toBe(action);
      expect(life.state).toBe(then);
    });
  }
});
