// SPDX-License-Identifier: MIT OR Apache-2.0
// #region resources
import { Agent, get } from "node:http";
import { buffer } from "node:stream/consumers";
import { expose, resource, withResources } from "clearway/worker";

// The worker opens the resource when a task first needs it, keeps it for later tasks, and closes it after 30 s without use.
const leased = withResources({
  agent: resource({
    open: () => new Agent({ keepAlive: true }),
    close: (agent) => agent.destroy(),
    idleMs: 30_000,
  }),
});

export default expose({
  // The context contains the resource, with its type, next to the signal.
  photo: leased(async ({ agent, signal }, url: string) => {
    const pixels = await new Promise<Buffer>((resolve, reject) => {
      get(url, { agent, signal }, (response) => buffer(response).then(resolve, reject)).on("error", reject);
    });
    return new Uint8Array(pixels);
  }),
});
// #endregion resources
