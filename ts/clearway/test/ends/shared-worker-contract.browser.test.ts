// SPDX-License-Identifier: MIT OR Apache-2.0
import { sharedWorkerTransport } from "../../src/browser/shared-worker.js";
import { type Connected, channelTransportContract } from "../channel/transports/contract.js";
import { RemoteEnd } from "./remote-end.js";

channelTransportContract("shared-worker", (wanted): Connected => {
  const name = `contract ${Math.random()}`;
  const b = new RemoteEnd(wanted.frameBytesMax).use(new BroadcastChannel(name));
  const worker = new SharedWorker(new URL("./end.shared-worker.ts", import.meta.url), { type: "module", name });
  return {
    a: sharedWorkerTransport(worker, wanted),
    b,
    kill: () => b.kill(),
    dispose: () => b.dispose(),
  };
});
