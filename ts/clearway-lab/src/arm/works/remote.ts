// SPDX-License-Identifier: MIT OR Apache-2.0
// Calls to worker processes on this machine over a NATS server of the arm's own: one at a time, a thousand at once, and calls that compute.
import { nowMs } from "#lab-host";
import { openRemote, type RemoteKindName } from "../../remote/open.js";
import { type OpenArm, timedCalls, type Work } from "../work.js";

const BYTES = new Uint8Array(8).fill(7);
const AT_ONCE = 1000;
/** Steps of a computing call, which take about 5 ms, and the number of those calls at once. */
const STEPS = 5_000_000;
const COMPUTING = 8;

export const remote =
  (kind: RemoteKindName, processes: number): OpenArm =>
  async () => {
    const remote = await openRemote(kind, processes);
    const call = async (): Promise<void> => {
      const answer = await Promise.race([remote.call(BYTES), remote.failed]);
      if (answer.length !== BYTES.length || answer[0] !== BYTES[0]) throw new Error("the answer differs");
    };
    const atOnce = (count: number, one: () => Promise<unknown>): Work => ({
      calls: count,
      async run(costsNs) {
        const from = nowMs();
        await Promise.all(Array.from({ length: count }, one));
        costsNs.push(((nowMs() - from) * 1e6) / count);
      },
    });
    return {
      works: {
        call: timedCalls(call),
        "at-once": atOnce(AT_ONCE, call),
        ...(remote.compute && { compute: atOnce(COMPUTING, () => remote.compute!(STEPS)) }),
      },
      close: () => remote.close(),
    };
  };
