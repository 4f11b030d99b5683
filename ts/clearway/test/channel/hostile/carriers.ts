// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { ChannelTransport, TransportLimits } from "../../../src/channel/transport/transport.js";
import {
  type Frame,
  type FrameParts,
  type Hello,
  Op,
  readFrame,
  writeFrame,
  writeHello,
} from "../../../src/channel/wire/frame.js";
import { frameHeader } from "../../../src/stdio/frames.js";
import { streamTransport } from "../../../src/stdio.js";
import { serveWebSockets } from "../../../src/websocket-server.js";

/** The framing in a byte stream, for a peer that writes and reads frames itself. */
export interface Framing {
  /** The bytes before the first frame. */
  readonly opening: Uint8Array;
  wrap(frame: Uint8Array): Uint8Array;
  /** Returns the header of a frame of `size` bytes. */
  announce(size: number): Uint8Array;
  /** Cuts complete frames off the front of the received bytes. Returns them and their length. `opened` is false before the first. */
  cut(arrived: Buffer, opened: boolean): { frames: Buffer[]; bytes: number; opened: boolean };
}

const text = new TextEncoder();

/** The body of a listen: the method call `listen`, in the standard codec. */
export const listenBody = new Uint8Array([7, 6, ...text.encode("listen"), 0]);
export const honest: Hello = {
  version: 1,
  wires: ["clearway"],
  frameBytesMax: 1 << 20,
  nameBytesMax: 255,
  callsMax: 9,
};

export function callFrame(id: number, channel: string, body: Uint8Array = new Uint8Array()): Uint8Array {
  return writeFrame({ op: Op.call, id, name: text.encode(channel), body });
}

export function listenFrame(id: number, credit: Partial<FrameParts> = {}): Uint8Array {
  return writeFrame({ op: Op.listen, id, name: text.encode("numbers"), body: listenBody, a: 1, b: 1000, ...credit });
}

/** The other end of a connection, on a raw socket, without an `Endpoint`. Breaks any rule that a test asks it to. */
export class Peer {
  readonly replies: Frame[] = [];
  /** Settles when the connection has ended, for any reason. */
  readonly gone: Promise<void>;
  #arrived: Buffer = Buffer.alloc(0);
  #opened = false;
  #looks: (() => void)[] = [];

  constructor(
    readonly socket: Socket,
    readonly framing: Framing,
  ) {
    socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => this.#read(piece));
    this.gone = socket.destroyed ? Promise.resolve() : once(socket, "close").then(() => {});
  }

  /** Sends the opening and an honest hello, or another one. */
  greet(hello: Partial<Hello> = {}): this {
    this.raw(this.framing.opening);
    const frame = writeHello({ ...honest, ...hello });
    frame[8] = hello.version ?? honest.version;
    return this.send(frame);
  }

  send(frame: Uint8Array): this {
    return this.raw(this.framing.wrap(frame));
  }

  raw(bytes: Uint8Array): this {
    if (!this.socket.destroyed) this.socket.write(bytes);
    return this;
  }

  /** Resolves to the first frame from the server that satisfies `wanted`. */
  async reply(wanted: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.replies.find(wanted);
      if (found) return found;
      await new Promise<void>((resolve) => this.#looks.push(resolve));
    }
  }

  /** Makes a call, and returns the status of its answer. */
  async call(id: number, channel: string, body?: Uint8Array): Promise<number> {
    this.send(callFrame(id, channel, body));
    return (await this.reply((frame) => frame.op === Op.reply && frame.id === id)).a;
  }

  #read(piece: Buffer): void {
    this.#arrived = Buffer.concat([this.#arrived, piece]);
    const { frames, bytes, opened } = this.framing.cut(this.#arrived, this.#opened);
    this.#opened = opened;
    this.#arrived = this.#arrived.subarray(bytes);
    for (const each of frames) {
      const frame = readFrame(each, []);
      if (frame) this.replies.push(frame);
    }
    for (const look of this.#looks.splice(0)) look();
  }
}

/** An app that serves every peer. */
export interface Victim {
  serve(transport: ChannelTransport): Promise<void>;
}

/** A listening victim, and a way for peers to connect to it. */
export interface Attacked {
  peer(): Promise<Peer>;
  /** Destroys the connections that peers have left open. */
  forget(): void;
  /** Returns the number of sockets that the server still has. */
  sockets(): Promise<number>;
  close(): Promise<void>;
}

export type Attack = (victim: Victim, limits?: TransportLimits) => Promise<Attacked>;

const none = new Uint8Array();

/** Each frame is preceded by its size: spec/stdio.md. */
const sized: Framing = {
  opening: none,
  wrap: (frame) => Buffer.concat([frameHeader(frame.length), frame]),
  announce: (size) => frameHeader(size),
  cut(arrived) {
    const frames: Buffer[] = [];
    let at = 0;
    while (arrived.length - at >= 8 && arrived.length - at - 8 >= arrived.readUInt32LE(at + 4)) {
      const size = arrived.readUInt32LE(at + 4);
      if (arrived[at + 3] === 0) frames.push(arrived.subarray(at + 8, at + 8 + size));
      at += 8 + size;
    }
    return { frames, bytes: at, opened: true };
  },
};

/** A handshake, then masked messages: RFC 6455. */
export const webSocket: Framing = {
  opening: Buffer.from(
    [
      "GET / HTTP/1.1",
      "Host: 127.0.0.1",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: clearway.channel.1",
      "\r\n",
    ].join("\r\n"),
  ),
  // A mask of zeros leaves the bytes unchanged.
  wrap: (frame) => Buffer.concat([webSocket.announce(frame.length), frame]),
  announce(size) {
    const header = Buffer.alloc(14);
    header[0] = 0x82;
    header[1] = 0xff;
    header.writeBigUInt64BE(BigInt(size), 2);
    return header;
  },
  cut(arrived, opened) {
    const frames: Buffer[] = [];
    let at = 0;
    if (!opened) {
      const end = arrived.indexOf("\r\n\r\n");
      if (end < 0) return { frames, bytes: 0, opened };
      at = end + 4;
    }
    while (arrived.length - at >= 2) {
      const short = arrived[at + 1]! & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (arrived.length - at < head) break;
      const size =
        short < 126 ? short : short === 126 ? arrived.readUInt16BE(at + 2) : Number(arrived.readBigUInt64BE(at + 2));
      if (arrived.length - at - head < size) break;
      if ((arrived[at]! & 0x0f) === 2) frames.push(arrived.subarray(at + head, at + head + size));
      at += head + size;
    }
    return { frames, bytes: at, opened: true };
  },
};

function attacked(server: Server, framing: Framing, close: () => Promise<void>): Attacked {
  const { port } = server.address() as { port: number };
  const peers: Peer[] = [];
  return {
    async peer() {
      const socket = connect(port, "127.0.0.1");
      await once(socket, "connect");
      const peer = new Peer(socket, framing);
      peers.push(peer);
      return peer;
    },
    sockets: () => new Promise((resolve) => server.getConnections((_, count) => resolve(count))),
    forget() {
      for (const { socket } of peers.splice(0)) socket.destroy();
    },
    async close() {
      this.forget();
      await close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The two transports that reach other programs. */
export const carriers: Readonly<Record<string, Attack>> = {
  async WebSocket(victim, limits = {}) {
    const server = createHttpServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const channels = await serveWebSockets({ server, token: false, connectionsMax: 2000, ...limits }, victim.serve);
    return attacked(server, webSocket, async () => {
      await channels.close();
      server.closeAllConnections();
    });
  },
  async stdio(victim, limits = {}) {
    const server = createServer((socket) => {
      // An app that serves sockets does the same. The transport reports lost connections.
      void victim.serve(streamTransport({ readable: socket, writable: socket }, limits));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return attacked(server, sized, async () => {});
  },
};
