// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { onTestFinished } from "vitest";
import { freePort, startServer, type TestServer } from "./nats-server.js";

/** Three servers that replicate streams. They end with their test. */
export interface TestCluster {
  readonly servers: readonly TestServer[];
  readonly urls: string[];
  /** The member that leads a stream. */
  leaderOf(stream: string): Promise<TestServer>;
}

/** Starts a cluster of three servers and waits until it stores a stream three times. */
export async function startCluster(): Promise<TestCluster> {
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    routes.map(async (port, index) =>
      startServer({ port: await freePort(), name: `n${index}`, cluster: { port, routes } }),
    ),
  );
  const urls = servers.map(({ url }) => url);
  const connection = await connect({ servers: urls });
  onTestFinished(() => connection.close());
  for (;;) {
    try {
      const manager = await jetstreamManager(connection, { timeout: 2_000 });
      await manager.streams.add({ name: "probe", subjects: ["probe"], num_replicas: 3 });
      await manager.streams.delete("probe");
      break;
    } catch {
      // The members have not found one another, or have no leader yet. Nothing announces it.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    servers,
    urls,
    async leaderOf(stream) {
      const manager = await jetstreamManager(connection);
      const { cluster } = await manager.streams.info(stream);
      const leader = servers.find(({ name }) => name === cluster?.leader);
      if (!leader) throw new Error(`the stream ${stream} has no leader`);
      return leader;
    },
  };
}
