// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker's end of the port contract: it returns every frame to its sender.
import { portTransport } from "../../../src/channel/transport/port-transports.js";

const own = portTransport(globalThis as never);
own.open({
  frame: (frame, attachments) => void own.send(frame, attachments),
  drained: () => {},
  closed: () => {},
});

// The page asks for this by the worker's name: a thread that is busy when its channel opens.
if ((globalThis as { name?: string }).name === "busy") {
  const end = performance.now() + 300;
  while (performance.now() < end);
}
