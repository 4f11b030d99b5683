// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import type { Socket } from "node:net";
import {
  type Frame,
  type FrameParts,
  type Hello,
  Op,
  readFrame,
  writeFrame,
  writeHello,
} from "../../../src/channel/wire/frame.js";

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
