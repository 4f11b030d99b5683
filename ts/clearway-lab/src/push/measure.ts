// SPDX-License-Identifier: MIT OR Apache-2.0
// One push measurement: warm the mechanism up, then one run of the load, then count, order and figures.
import { type Measured, type Mechanism, numberParam, textParam } from "../mechanism/measured.js";
import type { Load } from "./pace.js";
import { disturb, Receiver, type ReceiverState } from "./receiver.js";

/** An open way from a sender to the receiver. `run` resolves when everything was sent, not when it was received. */
export interface Way {
  run(load: Load, receiver: Receiver): Promise<void>;
  close(): Promise<void>;
}

// Enough for the code to be compiled by the optimiser, at a rate the slowest mechanism here can follow.
const WARM_UP: Omit<Load, "payloadBytes"> = { count: 150, perSecond: 2500 };

/** Longer than any load here can lag behind on a loaded machine; a lost event ends the measurement instead of hanging it. */
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
      await runOnce(way, { ...WARM_UP, payloadBytes: load.payloadBytes }, "idle");
      return await runOnce(way, load, textParam(params, "receiver") as ReceiverState);
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
