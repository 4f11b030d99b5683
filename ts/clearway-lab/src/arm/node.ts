// SPDX-License-Identifier: MIT OR Apache-2.0
// An arm in Node: `node arm-node.js ARM`. It speaks the protocol on descriptor 3, so that a library may print on the others, and sleeps
// between two requests.
import { Socket } from "node:net";
import { nowMs } from "#lab-host";
import type { ArmReply, ArmRequest } from "../protocol/arm.js";
import { CHANNEL_FD } from "../protocol/channel.js";
import { readLines } from "../protocol/lines.js";
import { openArm } from "./arms.js";
import { answer } from "./serve.js";

const channel = new Socket({ fd: CHANNEL_FD });
const reply = (message: ArmReply): void => void channel.write(JSON.stringify(message) + "\n");
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

try {
  const opened = await openArm(process.argv[2] ?? "");
  reply({ ready: true });
  for await (const line of readLines(channel)) {
    const request = line as ArmRequest;
    reply(await answer(opened, request, { nowMs, cpuMs }));
    if (request.op === "end") break;
  }
} catch (error) {
  reply({ failed: error instanceof Error ? error.message : String(error) });
}
// Peers may leave open handles. `end` sends what has been written; the process then exits.
channel.end(() => process.exit(0));
