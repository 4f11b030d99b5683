// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves one mechanism as an arm in Node. It speaks the protocol on descriptor 3, so that a library may print on the others, and sleeps
// between two requests.
import { Socket } from "node:net";
import { nowMs } from "#lab-host";
import type { ArmReply, ArmRequest } from "../protocol/arm.js";
import { CHANNEL_FD, readLines } from "../protocol/lines.js";
import { type ArmClock, answer, type OpenMechanism } from "./work.js";

const clock: ArmClock = {
  nowMs,
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Opens the mechanism and answers requests until one asks to end. `guard` may watch each request. Never rejects: a failure is an answer. */
export async function serveArm(
  open: () => Promise<OpenMechanism>,
  guard: (request: ArmRequest, reply: () => Promise<ArmReply>) => Promise<ArmReply> = (_, reply) => reply(),
): Promise<void> {
  const channel = new Socket({ fd: CHANNEL_FD });
  const send = (message: ArmReply): void => void channel.write(JSON.stringify(message) + "\n");
  try {
    const opened = await open();
    send({ ready: true });
    for await (const line of readLines(channel)) {
      const request = line as ArmRequest;
      send(await guard(request, () => answer(opened, request, clock)));
      if (request.op === "end") break;
    }
  } catch (error) {
    send({ failed: error instanceof Error ? error.message : String(error) });
  }
  // Sends what has been written.
  await new Promise<void>((sent) => channel.end(sent));
}
