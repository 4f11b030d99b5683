// SPDX-License-Identifier: MIT OR Apache-2.0
// A peer that speaks the wire and breaks its rules, over the transports that other programs can reach. The limits are counts: handlers that
// run at once, bytes that wait for a peer, and what remains when the peer is gone. Other peers must not notice.
import { afterEach, describe, expect, test } from "vitest";
import { connect, type Endpoint } from "../../../src/channel/endpoint/endpoint.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import type { ChannelTransport, TransportLimits } from "../../../src/channel/transport/transport.js";
import { Op, readFrame, Status, writeFrame, writeHello } from "../../../src/channel/wire/frame.js";
import { until } from "../endpoint/pairs.js";
import { type Attacked, callFrame, carriers, honest, listenFrame, type Peer } from "./carriers.js";

/** Size in bytes of an answer of the method `large`. */
const largeBytes = 10_000;

/** An app that serves every peer, and counts the work it does for them. */
class Victim {
  /** Handlers that run now, handlers that ever started, and sources that were opened and have not ended. */
  running = 0;
  ran = 0;
  sources = 0;
  /** Values that sources gave, events that left, and the most that left in a row while their transport had no room. */
  given = 0;
  sent = 0;
  overrun = 0;
  /** Whether a transport ever had no room. */
  full = false;
  /** One per connection, in order of arrival, without those refused at the hello. */
  readonly ends: Endpoint[] = [];
  readonly transports: ChannelTransport[] = [];
  /** The errors with which `connect` rejected. */
  readonly refused: unknown[] = [];
  #open = 0;
  #waiting: (() => void)[] = [];

  constructor(readonly options: EndpointOptions) {}

  /** Returns what remains of all peers. */
  get left() {
    const { running, sources } = this;
    const sums = {
      connections: this.#open,
      running,
      sources,
      calls: 0,
      handling: 0,
      listening: 0,
      serving: 0,
      waitingBytes: 0,
    };
    for (const end of this.ends) {
      const stats = end.stats();
      for (const name of ["calls", "handling", "listening", "serving", "waitingBytes"] as const)
        sums[name] += stats[name];
    }
    return sums;
  }

  /** Lets the pending handlers of `held` finish. */
  release(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  readonly serve = async (transport: ChannelTransport): Promise<void> => {
    this.#open++;
    this.transports.push(transport);
    this.#watch(transport);
    try {
      const end = await connect(transport, { onError: () => {}, ...this.options });
      this.ends.push(end);
      this.#handle(end);
      await end.closed;
    } catch (error) {
      this.refused.push(error);
    } finally {
      this.#open--;
    }
  };

  /** Counts the events that leave by a transport. */
  #watch(transport: ChannelTransport): void {
    const send = transport.send.bind(transport);
    const open = transport.open.bind(transport);
    let room = true;
    let inRow = 0;
    transport.send = (frame, attachments) => {
      if (readFrame(frame, [])?.op === Op.event) {
        this.sent++;
        inRow = room ? 0 : inRow + 1;
        this.overrun = Math.max(this.overrun, inRow);
      }
      room = send(frame, attachments);
      this.full ||= !room;
      return room;
    };
    transport.open = (sink) =>
      open({
        frame: (frame, attachments) => sink.frame(frame, attachments),
        drained: () => {
          room = true;
          sink.drained();
        },
        closed: (reason) => sink.closed(reason),
      });
  }

  #handle(end: Endpoint): void {
    const count = async (work: () => unknown): Promise<unknown> => {
      this.ran++;
      this.running++;
      try {
        return await work();
      } finally {
        this.running--;
      }
    };
    end.messages("echo").handle((value) => count(() => value));
    end.messages("large").handle(() => count(() => new Uint8Array(largeBytes)));
    end.messages("held").handle(() => count(() => new Promise<void>((resolve) => this.#waiting.push(resolve))));
    const app = this;
    end.events("numbers").serve(function* () {
      app.sources++;
      try {
        for (let number = 0; ; number++) {
          app.given++;
          yield number;
        }
      } finally {
        app.sources--;
      }
    });
  }
}

const open: Attacked[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const nothing = {
  connections: 0,
  running: 0,
  sources: 0,
  calls: 0,
  handling: 0,
  listening: 0,
  serving: 0,
  waitingBytes: 0,
};
const frameBytesMax = 1 << 20;
const limits: TransportLimits = { frameBytesMax, windowBytes: 100_000 };

/** Checks that an honest peer is served. */
async function serves(server: Attacked): Promise<void> {
  const peer = await server.peer();
  expect(await peer.greet().call(1, "echo")).toBe(Status.done);
  peer.socket.destroy();
  await peer.gone;
}

describe.each(Object.entries(carriers))("a hostile peer over %s", (name, attack) => {
  async function start(options: EndpointOptions = {}) {
    const victim = new Victim(options);
    const server = await attack(victim, limits);
    open.push(server);
    /** Waits until nothing of the closed peers remains, and checks that others are served. */
    const settled = async (): Promise<void> => {
      const quiet = (): boolean => {
        // Releases handlers that started only now: frames that arrived before the end are still delivered.
        victim.release();
        const { connections, running, sources } = victim.left;
        return connections + running + sources === 0;
      };
      await until(quiet);
      while ((await server.sockets()) > 0) await new Promise((resolve) => setImmediate(resolve));
      await serves(server);
      await until(quiet);
      expect(victim.left).toEqual(nothing);
    };
    return { victim, server, settled };
  }

  test("that never reads makes at most replyBytesMax and some answers wait", async () => {
    const replyBytesMax = 500_000;
    const { victim, server, settled } = await start({ replyBytesMax, callsMax: 100 });
    const peer = (await server.peer()).greet();
    peer.socket.pause();
    // 100 MB of answers: more than the connection itself can hold.
    for (let id = 1; id <= 10_000; id++) peer.send(callFrame(id, "large"));
    await until(() => victim.left.waitingBytes >= replyBytesMax);
    const { waitingBytes, handling } = victim.left;
    // Handlers that were running when the limit was exceeded still add their answers.
    expect(waitingBytes).toBeLessThan(replyBytesMax + 100 * (largeBytes + 100));
    expect(handling).toBeLessThanOrEqual(100);
    const { ran } = victim;
    await serves(server);
    expect([victim.left.waitingBytes, victim.ran - ran]).toEqual([waitingBytes, 1]);
    peer.socket.resetAndDestroy();
    await settled();
  });

  test("that never reads is disconnected after stallMs", async () => {
    const replyBytesMax = 100_000;
    const { victim, server, settled } = await start({ replyBytesMax, stallMs: 50 });
    const stalled = (await server.peer()).greet();
    stalled.socket.pause();
    for (let id = 1; id <= 3000; id++) stalled.send(callFrame(id, "large"));
    await until(() => victim.ends.length === 1);
    expect(await victim.ends[0]!.closed).toMatchObject({ code: "timeout" });
    expect(victim.left.waitingBytes).toBe(0);
    stalled.socket.destroy();
    await settled();
  });

  // Over a WebSocket, this peer would also have to answer marks.
  test.runIf(name === "stdio")("that reads late gets all its answers", async () => {
    const replyBytesMax = 100_000;
    const { victim, server, settled } = await start({ replyBytesMax });
    const peer = (await server.peer()).greet();
    peer.socket.pause();
    for (let id = 1; id <= 3000; id++) peer.send(callFrame(id, "large"));
    await until(() => victim.left.waitingBytes >= replyBytesMax);
    peer.socket.resume();
    await peer.reply(({ op, id }) => op === Op.reply && id === 3000);
    expect(peer.replies.filter(({ op }) => op === Op.reply)).toHaveLength(3000);
    peer.socket.destroy();
    await settled();
  });

  test("that listens and never reads is sent no event without room, whatever credit it claims", async () => {
    const { victim, server, settled } = await start();
    const peer = (await server.peer()).greet();
    peer.socket.pause();
    peer.send(listenFrame(1, { a: 0xffff_ffff, b: 0xffff_ffff, c: 0xffff, flags: 0xf0 }));
    for (let n = 0; n < 1000; n++) peer.send(writeFrame({ op: Op.credit, id: 1, a: 0xffff_ffff, b: 0xffff_ffff }));
    await until(() => victim.full);
    await serves(server);
    expect([victim.left.serving, victim.left.waitingBytes]).toEqual([1, 0]);
    // Without room, no value is taken from the source, so none waits.
    expect(victim.sent).toBeGreaterThan(0);
    expect([victim.overrun, victim.given - victim.sent]).toEqual([0, 0]);
    peer.socket.resetAndDestroy();
    await settled();
  });

  test("that resets the connection leaves nothing behind, however often", async () => {
    const { server, settled } = await start();
    for (let n = 0; n < 100; n++) {
      const peer = await server.peer();
      if (n % 4 > 0) peer.greet();
      if (n % 4 > 1) peer.send(callFrame(1, "held")).send(listenFrame(1));
      if (n % 4 > 2) await peer.reply(({ op }) => op === Op.hello);
      peer.socket.resetAndDestroy();
    }
    await settled();
  });

  test.each([
    ["no bytes in a frame", { frameBytesMax: 0 }, true],
    ["frames that are too small", { frameBytesMax: 1023 }, true],
    ["frames as large as can be", { frameBytesMax: 0xffff_ffff }, false],
    ["no names", { nameBytesMax: 0 }, false],
    ["no calls", { callsMax: 0 }, false],
    ["as many calls as can be", { callsMax: 0xffff_ffff }, false],
    ["another version", { version: 2 }, true],
    ["no wire", { wires: [] }, true],
  ] as const)("that announces %s in its hello is refused, or served", async (_, hello, refused) => {
    const { victim, server, settled } = await start();
    const peer = (await server.peer()).greet(hello);
    if (refused) {
      await until(() => victim.refused.length === 1);
      expect(victim.refused[0]).toMatchObject({ code: "protocol" });
    } else {
      expect(await peer.call(1, "large")).toBe(Status.done);
    }
    peer.socket.destroy();
    await settled();
  });

  test("that announces a frame over the limit is disconnected before the frame arrives", async () => {
    for (const size of [frameBytesMax + 1, 0x7fff_ffff, 0xffff_ffff]) {
      const { victim, server, settled } = await start();
      const peer = (await server.peer()).greet();
      expect(await peer.call(1, "echo")).toBe(Status.done);
      peer.raw(peer.framing.announce(size));
      expect(await victim.ends[0]!.closed).toMatchObject({ code: "too-large" });
      peer.socket.destroy();
      await settled();
    }
  });

  test("that sends a frame of the largest size is served", async () => {
    const { victim, server, settled } = await start();
    const peer = (await server.peer()).greet();
    const name = new TextEncoder().encode("echo");
    const body = new Uint8Array(frameBytesMax - 32);
    // A list of bytes that fills the frame.
    body.set([8, 0xff]);
    new DataView(body.buffer).setUint32(2, body.length - 6, true);
    peer.send(writeFrame({ op: Op.call, id: 1, name, body }));
    // The echo would be an attachment with a table, which exceeds a frame. Only this call fails.
    expect((await peer.reply(({ op, id }) => op === Op.reply && id === 1)).a).toBe(Status.error);
    expect(victim.ran).toBe(1);
    expect(await peer.call(2, "echo")).toBe(Status.done);
    peer.socket.destroy();
    await settled();
  });

  test.each<[string, Uint8Array]>([
    ["lists inside of lists", new Uint8Array(200_000).map((_, at) => [12, 1][at % 2]!)],
    ["maps inside of maps", new Uint8Array(200_000).map((_, at) => [13, 1][at % 2]!)],
    ["a list that announces the largest count", new Uint8Array([12, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ["a text that is missing", new Uint8Array([7, 0xff, 0xff, 0xff, 0xff, 0x7f])],
    ["bytes that are not a value", new Uint8Array(1000).fill(0x77)],
  ])("that sends a body that cannot be decoded fails only its own call: %s", async (_, body) => {
    const { victim, server, settled } = await start();
    const peer = (await server.peer()).greet();
    expect(await peer.call(1, "echo", body)).toBe(Status.error);
    expect(await peer.call(2, "echo", new Uint8Array([12, 0]))).toBe(Status.done);
    expect(victim.ran).toBe(1);
    peer.socket.destroy();
    await settled();
  });

  describe("that disconnects after any byte", () => {
    const conversation = (peer: Peer): Uint8Array => {
      const { opening, wrap } = peer.framing;
      const frames = [writeHello(honest), callFrame(1, "held"), listenFrame(1), callFrame(2, "echo")];
      return Buffer.concat([opening, ...frames.map(wrap)]);
    };

    test.each(["end", "resetAndDestroy"] as const)("leaves nothing behind: %s", async (leave) => {
      const { victim, server, settled } = await start({ helloMs: Number.POSITIVE_INFINITY });
      const size = conversation(await server.peer()).length;
      for (let at = 0; at <= size; at++) {
        const peer = await server.peer();
        peer.socket.write(conversation(peer).subarray(0, at));
        peer.socket[leave]();
        // Sequentially, so that a small machine does not run out of descriptors.
        await peer.gone;
        victim.release();
      }
      open[0]!.forget();
      await settled();
    });
  });
});
