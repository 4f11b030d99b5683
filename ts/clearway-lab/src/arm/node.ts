// SPDX-License-Identifier: MIT OR Apache-2.0
// An arm in Node: `node arm-node.js ARM`.
import { openArm } from "./arms.js";
import { serveArm } from "./serve-node.js";

await serveArm(() => openArm(process.argv[2] ?? ""));
// Peers may leave open handles.
process.exit(0);
