// SPDX-License-Identifier: MIT OR Apache-2.0
// An arm in a page. The engine calls `arm.open` once and `arm.answer` for each request.
import { nowMs } from "#lab-host";
import type { ArmReply, ArmRequest } from "../protocol/arm.js";
import { openArm } from "./arms.js";
import { answer, type OpenMechanism } from "./work.js";

let opened: OpenMechanism | undefined;

export interface PageArm {
  open(name: string): Promise<void>;
  answer(request: ArmRequest): Promise<ArmReply>;
}

const arm: PageArm = {
  open: async (name) => {
    opened = await openArm(name);
  },
  // A page cannot read its processor time, so it gives elapsed time.
  answer: (request) => answer(opened!, request, { nowMs, cpuMs: nowMs }),
};

(globalThis as unknown as { arm: PageArm }).arm = arm;
