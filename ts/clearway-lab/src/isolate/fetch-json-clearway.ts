// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import type { Mechanism } from "../protocol/measured.js";
import { jsonMechanism } from "./fetch-json.js";

function clearway(result: "objects" | "records"): Mechanism {
  return jsonMechanism(async () => {
    const workers = pool<typeof import("../work/json-tasks.js")>(workerUrl("json-tasks"), { size: 1 });
    return {
      read: (url) => (result === "objects" ? workers.call.objects(url) : workers.call.records(url)),
      close: () => workers.close(),
    };
  });
}

export const jsonBodiesClearway: Record<string, Mechanism> = {
  "clearway-objects": clearway("objects"),
  "clearway-records": clearway("records"),
};
