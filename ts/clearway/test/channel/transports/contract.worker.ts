// SPDX-License-Identifier: MIT OR Apache-2.0
// The other end of a port's contract, in a worker: every frame goes back as it came.
import { portTransport } from "../../../src/channel/transport/port.js";

const own = portTransport(globalThis as never);
own.open({
  frame: (frame, attachments) => void own.send(frame, attachments),
  drained: () => {},
  closed: () => {},
});
