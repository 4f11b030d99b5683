// SPDX-License-Identifier: MIT OR Apache-2.0
// Mechanisms that only Node has: connections and native code. The browser's counterpart is
// host/none.ts. The build picks one of the two as #lab-node-only.
import { koffiProblem, peersProblem } from "../native/peers.js";
import { buildProblem, type PluginBuild, pluginProblem } from "../native/plugin.js";
import { type Loader, unless } from "../protocol/measured.js";

const memory = () => import("../memory/peers.js");

const memset: Loader[] = [
  async () => unless(await koffiProblem(), async () => (await memory()).memoryReference),
  async () => unless(await peersProblem(), async () => (await memory()).memoryAddon),
  async () => unless(await koffiProblem(), async () => (await memory()).memoryKoffi),
  async () => unless(await pluginProblem(), async () => (await import("../memory/clearway.js")).memoryClearway),
];

const ofBuild =
  (build: PluginBuild): Loader =>
  async () =>
    unless(await buildProblem(build), async () => (await import("../memory/builds.js")).memoryOfBuild(build));

export const nodeOnly: Record<string, Loader[]> = {
  "closed-connection": [async () => (await import("../isolate/closed-connection.js")).closedConnections],
  "http2-feed": [async () => (await import("../isolate/http2-feed.js")).feeds],
  "memset-published": memset,
  "memset-builds": [
    async () => unless(await koffiProblem(), async () => (await import("../memory/builds.js")).loopBuilds),
    async () => unless(await buildProblem("c"), async () => (await import("../memory/builds.js")).memoryNoOpt),
    ofBuild("c"),
    ofBuild("c-debug"),
    ofBuild("rust"),
    ofBuild("rust-debug"),
  ],
  "platform-channel": [
    async () => unless(await pluginProblem(), async () => (await import("../channel/platform.js")).platformChannels),
  ],
};
