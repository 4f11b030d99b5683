// SPDX-License-Identifier: MIT OR Apache-2.0
// The entry of the one file that both devices run: a child process of the lab, or the page that the lab serves.
import { runInPage } from "./in-page.js";
import { type Amounts, DeviceError, type DeviceSamples, measureDevice } from "./measure-device.js";
import { WORKS_VERSION } from "./works.js";

// The device is this machine's Node: a child process of the lab, which has nothing else to do.

/** What the child process sends. */
export type NodeMessage = { readonly samples: DeviceSamples } | { readonly problem: string };

async function runInNode(): Promise<void> {
  const amounts = JSON.parse(process.argv[2] ?? "") as Amounts;
  const host = {
    nowMs: () => performance.now(),
    pause: () => new Promise<void>((done) => setTimeout(done, 0)),
    ready: () => Promise.resolve(),
    wasHidden: () => false,
  };
  // Without its parent, nothing needs the measurement.
  process.once("disconnect", () => process.exit());
  const send = (message: NodeMessage) => process.send?.(message, undefined, undefined, () => process.disconnect());
  try {
    send({ samples: await measureDevice(amounts, host, WORKS_VERSION) });
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    send({ problem: error.message });
  }
}

if (typeof document === "undefined") void runInNode();
else runInPage();
