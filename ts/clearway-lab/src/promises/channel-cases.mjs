// SPDX-License-Identifier: MIT OR Apache-2.0
// The cases of the scenario `channel`. A case sends one kind of message by several mechanisms; the other side echoes it. Each case has a
// bare mechanism, which Clearway's channel stands on or replaces.

import { clearwayKind, clearwayMoveKind } from "../channel/kind-clearway.ts";
import { cloneKind, moveKind } from "../channel/kind-clone.ts";
import { comlinkKind } from "../channel/kind-comlink.ts";
import { openNativeAddon } from "../channel/native-addon.ts";
import { openNativeClearway } from "../channel/native-clearway.ts";
import { openNativeKoffi } from "../channel/native-koffi.ts";
import { openProcessEcho } from "../channel/process.ts";
import { clearwayStdioKind } from "../channel/process-clearway.ts";
import { ipcKind } from "../channel/process-ipc.ts";
import { jsonStdioKind } from "../channel/process-json.ts";
import { openWorkerEcho } from "../channel/worker.ts";

const worker = (role, kind, entry) => ({ role, open: (params) => openWorkerEcho(kind, entry, params) });
const process = (role, kind, entry) => ({ role, open: (params) => openProcessEcho(kind, entry, params) });
const native = (role, open, direction) => ({
  role,
  open: async (params) => ({ caller: await open(params, direction), end: () => {} }),
});

const standard = (payload) => ({ channel: "message", codec: "standard", payload });
const binary = (payload) => ({ channel: "message", codec: "binary", payload });

const workers = {
  "bare port": worker("reference", cloneKind, "channel-clone"),
  comlink: worker("peer", comlinkKind, "channel-comlink"),
  clearway: worker("clearway", clearwayKind, "channel-clearway"),
};
const processes = {
  "Node IPC": process("reference", ipcKind, "channel-ipc"),
  "JSON lines": process("peer", jsonStdioKind, "channel-json-stdio"),
  "clearway stdio": process("clearway", clearwayStdioKind, "channel-clearway-stdio"),
};
const natives = (direction) => ({
  "Node-API and msgpackr": native("reference", openNativeAddon, direction),
  "koffi and msgpackr": native("peer", openNativeKoffi, direction),
  "clearway plugin": native("clearway", openNativeClearway, direction),
});

/** The message and the mechanisms of each case. `share` is the share of the calls that a case of slow calls makes. */
export const cases = {
  "worker, null": { params: standard("null"), ways: workers },
  "worker, 2 KB": { params: standard("2 KB"), ways: workers },
  "worker, 1 MB moved": {
    params: binary("1 MB"),
    ways: {
      "bare port": worker("reference", moveKind, "channel-move"),
      clearway: worker("clearway", clearwayMoveKind, "channel-clearway-move"),
    },
  },
  "process, null": { params: standard("null"), ways: processes },
  "process, 2 KB": { params: standard("2 KB"), ways: processes },
  "process, 1 MB": { params: binary("1 MB"), ways: processes, share: 0.1 },
  "host to native, 2 KB": { params: standard("2 KB"), ways: natives("host to native") },
  "native to host, 2 KB": { params: standard("2 KB"), ways: natives("native to host") },
};
