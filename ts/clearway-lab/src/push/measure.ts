// SPDX-License-Identifier: MIT OR Apache-2.0
// One push measurement: warms the mechanism up, runs the load once, then checks count and order and calculates the figures.

import { warmUp } from "../mechanism/warm-up.js";
import { type Measured, type Mechanism, numberParam, textParam, WARM_UP_CUT } from "../protocol/measured.js";
import type { Load } from "./pace.js";
import { disturb, Receiver, type ReceiverState } from "./receiver.js";

/**
 * An open connection from a sender to the receiver. `run` resolves when everything was sent, which may be before it was
 * received.
 */
export interface Way {
  run(load: Load, receiver: Receiver): Promise<void>;
  close(): Promise<void>;
}

// Back to back, so that the optimiser sees enough events in little time: at 1000 events a second, warming up takes a second.
const WARM_UP = { count: 20, perSecond: 0 };
const WARM_UP_WINDOW_MS = 10;
// Lets the collector clean up after the warm-up before the first measured events.
const SETTLE = { count: 50, perSecond: 2000 };

/** Longer than the lag of any load here on a loaded machine. A lost event ends the measurement instead of hanging it. */
const LOST_AFTER_MS = 20_000;

export function pushMechanism(open: () => Promise<Way>): Mechanism {
  return async ({ params }) => {
    const load: Load = {
      count: numberParam(params, "count"),
      perSecond: numberParam(params, "perSecond"),
      payloadBytes: numberParam(params, "payloadBytes"),
    };
    const way = await open();
    try {
      const some = () => runOnce(way, { ...WARM_UP, payloadBytes: load.payloadBytes }, "idle");
      const { warm, ms } = await warmUp(some, numberParam(params, "warmUpMs"), { windowMs: WARM_UP_WINDOW_MS });
      await runOnce(way, { ...SETTLE, payloadBytes: load.payloadBytes }, "idle");
      const measured = await runOnce(way, load, textParam(params, "receiver") as ReceiverState);
      return warm
        ? measured
        : { ...measured, values: { ...measured.values, [WARM_UP_CUT]: { unit: "ms", value: ms } } };
    } finally {
      await way.close();
    }
  };
}

async function runOnce(way: Way, load: Load, state: ReceiverState): Promise<Measured> {
  const receiver = new Receiver(load);
  const stop = disturb(state);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const lost = new Promise<never>((_, fail) => {
    timer = setTimeout(
      () => fail(new Error(`events were lost: received=${receiver.received} of ${load.count}`)),
      LOST_AFTER_MS + (load.perSecond === 0 ? 0 : (load.count / load.perSecond) * 1000),
    );
  });
  const sending = way.run(load, receiver);
  await Promise.race([Promise.all([sending, receiver.done]), lost]).finally(() => clearTimeout(timer));
  const hitch = stop();
  const result = { received: receiver.received, outOfOrder: receiver.outOfOrder };
  if (load.perSecond === 0) {
    const seconds = (receiver.lastMs - receiver.firstMs) / 1000;
    return {
      samples: {},
      values: {
        throughput: { unit: "events/s", value: load.count / seconds },
        backlogMax: { unit: "events", value: receiver.backlogMax },
      },
      result,
    };
  }
  return {
    samples: { latency: { unit: "us", ns: receiver.latencyNs } },
    values: state === "idle" ? {} : { receiverHitchRatio: { unit: "ms/s", value: hitch } },
    result,
  };
}
