// SPDX-License-Identifier: MIT OR Apache-2.0
// Mechanisms that only Node has: processes, native code and the pools of the family `offload`. The browser's counterpart is
// node-only-none.ts. The build picks one of the two as #lab-node-only.
import { koffiProblem, peersProblem } from "../native/peers.js";
import { pluginProblem } from "../native/plugin.js";
import { type Loader, unless } from "./loader.js";

const memory = () => import("../memory/peers.js");

export const nodeOnly: Record<string, Loader[]> = {
  "channel-process": [
    async () => (await import("../channel/process-bare.js")).processBare,
    async () => (await import("../channel/process-clearway.js")).processClearway,
  ],
  "channel-native": [
    async () => unless(await peersProblem(), async () => (await import("../channel/native-addon.js")).nativeAddon),
    async () => unless(await koffiProblem(), async () => (await import("../channel/native-koffi.js")).nativeKoffi),
    async () =>
      unless(await pluginProblem(), async () => (await import("../channel/native-clearway.js")).nativeClearway),
  ],
  works: [async () => (await import("../offload/mechanisms.js")).works],
  sizes: [async () => (await import("../offload/mechanisms.js")).sizes],
  "changing-site": [async () => (await import("../offload/mechanisms.js")).changing],
  memset: [
    async () => unless(await koffiProblem(), async () => (await memory()).memoryReference),
    async () => unless(await peersProblem(), async () => (await memory()).memoryAddon),
    async () => unless(await koffiProblem(), async () => (await memory()).memoryKoffi),
    async () => unless(await pluginProblem(), async () => (await import("../memory/clearway.js")).memoryClearway),
  ],
};
