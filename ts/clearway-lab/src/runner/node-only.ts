// SPDX-License-Identifier: MIT OR Apache-2.0
// Mechanisms that only Node has: processes, native code and the pools of the family `offload`. The browser's counterpart is
// node-only-none.ts. The build picks one of the two as #lab-node-only.
import { koffiProblem, peersProblem } from "../native/peers.js";
import { buildProblem, type PluginBuild, pluginProblem } from "../native/plugin.js";
import { remoteProblem } from "../remote/programs.js";
import { type Loader, unless } from "./loader.js";

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

const remote = () => import("../remote/mechanisms.js");
const natsProblem = (...packages: string[]) => remoteProblem("nats-server", packages);

export const nodeOnly: Record<string, Loader[]> = {
  "closed-connection": [async () => (await import("../isolate/closed-connection.js")).closedConnections],
  "http2-feed": [async () => (await import("../isolate/http2-feed.js")).feeds],
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
  "remote-call": [
    async () => unless(natsProblem("@nats-io/transport-node"), async () => (await remote()).natsCalls),
    async () => unless(natsProblem("clearway-nats"), async () => (await remote()).clearwayCalls),
    async () => unless(remoteProblem("redis-server", ["bullmq", "ioredis"]), async () => (await remote()).bullmqCalls),
    async () => (await remote()).httpCalls,
  ],
  "remote-durable": [
    async () =>
      unless(natsProblem("@nats-io/transport-node", "@nats-io/jetstream"), async () => (await remote()).jetstreamCalls),
    async () => unless(natsProblem("clearway-nats"), async () => (await remote()).clearwayDurableCalls),
    async () =>
      unless(remoteProblem("redis-server", ["bullmq", "ioredis"]), async () => (await remote()).bullmqDurableCalls),
  ],
  works: [async () => (await import("../offload/mechanisms.js")).works],
  sizes: [async () => (await import("../offload/mechanisms.js")).sizes],
  "changing-site": [async () => (await import("../offload/mechanisms.js")).changing],
  memset,
  "memset-published": memset,
  "memset-builds": [
    async () => unless(await koffiProblem(), async () => (await import("../memory/builds.js")).elementBuilds),
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
