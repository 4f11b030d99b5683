// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of a port's contract, in a worker: every frame goes back as it came.
import { portTransport } from "../../../src/channel/transport/port.js";

const own = portTransport(globalThis as never);
own.open({
  frame: (frame, attachments) => void own.send(frame, attachments),
  drained: () => {},
  closed: () => {},
});

// Asked for by the page: a thread that is not free when its channel opens.
if ((globalThis as { name?: string }).name === "busy") {
  const end = performance.now() + 300;
  while (performance.now() < end);
}
