// SPDX-License-Identifier: MIT OR Apache-2.0
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A TCP proxy in front of a server, which can cut or stall the connections through it. It ends with its test. */
export interface Proxy {
  /** The proxy's address, such as `nats://127.0.0.1:4222`. */
  readonly url: string;
  /** Number of connections that the proxy has accepted. */
  readonly accepted: number;
  /** Cuts every connection, and every new one, until {@link Proxy.mend}. */
  cut(): void;
  /** Accepts connections again. */
  mend(): void;
  /** Forwards nothing more, in both directions, and keeps the connections open: like a cable that is pulled. */
  stall(): void;
  /** Reads nothing more from the server, as a client that is too slow does. The client's own bytes still reach the server. */
  stallReader(): void;
  /** Reads nothing more from the client, as a network that is too slow does. The server's bytes still reach the client. */
  stallWriter(): void;
  /** Forwards again, also the bytes that have waited. */
  resume(): void;
}

/** Starts a proxy in front of a port of this machine. */
export async function startProxy(target: number): Promise<Proxy> {
  const pairs = new Set<{ client: Socket; server: Socket }>();
  let state: "open" | "cut" | "stalled" | "reader-stalled" | "writer-stalled" = "open";
  let accepted = 0;

  const apply = ({ client, server }: { client: Socket; server: Socket }): void => {
    const toServer = state === "open" || state === "reader-stalled";
    const toClient = state === "open" || state === "writer-stalled";
    if (toServer) client.resume();
    else client.pause();
    if (toClient) server.resume();
    else server.pause();
  };
  const end = (pair: { client: Socket; server: Socket }): void => {
    pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  };
  const all = (next: typeof state): void => {
    state = next;
    for (const pair of [...pairs]) {
      if (state === "cut") end(pair);
      else apply(pair);
    }
  };

  const listener = createServer((client) => {
    accepted++;
    if (state === "cut") {
      client.on("error", () => {});
      client.destroy();
      return;
    }
    const server = connect(target, "127.0.0.1");
    const pair = { client, server };
    pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on("data", (bytes) => {
        if (to.write(bytes)) return;
        from.pause();
        to.once("drain", () => apply(pair));
      });
      from.on("error", () => {});
      from.on("close", () => end(pair));
    }
    apply(pair);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    all("cut");
    await new Promise((resolve) => listener.close(resolve));
  });
  return {
    url: `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    get accepted() {
      return accepted;
    },
    cut: () => all("cut"),
    mend: () => all("open"),
    stall: () => all("stalled"),
    stallReader: () => all("reader-stalled"),
    stallWriter: () => all("writer-stalled"),
    resume: () => all("open"),
  };
}
