// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseDetached } from "#host";
import { define } from "../../error/clearway-error.js";
import { newMessageChannel, postTo } from "../../globals.js";
import { isIrregular } from "../../transfer/copy-value.js";
import type { Graph } from "../../transfer/find-memory.js";
import { Fill, type Piece } from "./piece.js";

/** A container whose contents cross in later pieces. */
interface Job {
  readonly index: number;
  readonly fill: Fill;
  readonly contents: readonly unknown[];
  at: number;
}

/** An object that pieces can refer to. */
interface Placed {
  readonly index: number;
  readonly piece: number;
  /** What stands for the object in its piece. */
  readonly object: object;
}

/**
 * Cuts a value into pieces of about `nodesPerPiece` nodes. `root` is a copy that {@link findMemory} made; its containers are changed, and no
 * other code may have it. All memory of the value is in the first piece. An object that occurs in several pieces stays one object.
 */
export function cut(root: unknown, graph: Graph, nodesPerPiece: number): Iterator<Piece, undefined> {
  return new Cutter(graph, nodesPerPiece).pieces(root);
}

/**
 * Posts the pieces of a value: one for each step of the iterator. Before the first one, calls `handOver` with the port that brings it. Moves
 * the objects in `transfer` with the first piece.
 *
 * Throws what a post throws. If no piece was posted before, nothing was moved, and the reader drops the value.
 */
export function* postPieces(
  pieces: Iterator<Piece, undefined>,
  transfer: readonly object[],
  handOver: (port: MessagePort) => void,
): Generator<undefined, void> {
  transfer.forEach(refuseDetached);
  let piece = pieces.next().value;
  let channel: MessageChannel | undefined = newMessageChannel();
  // Firefox loses what was posted into a port before its hand-over if the port closes soon after it.
  handOver(channel.port2);
  for (let moved = transfer; piece && channel; moved = []) {
    const { port1 }: MessageChannel = channel;
    let next: MessageChannel | undefined;
    try {
      const following = pieces.next().value;
      if (following) next = newMessageChannel();
      postTo(port1, [...piece, next?.port2], next ? [...moved, next.port2] : moved);
      piece = following;
    } catch (reason) {
      next?.port1.close();
      // No piece: the reader gives up at once.
      postTo(port1, null);
      throw reason;
    } finally {
      port1.close();
    }
    yield;
    channel = next;
  }
}

class Cutter {
  readonly #graph: Graph;
  readonly #nodesPerPiece: number;
  readonly #slack: number;
  readonly #placed = new Map<object, Placed>();
  #jobs: Job[] = [];
  #piece = 0;
  #left = 0;
  #holders: object[] = [];
  #references: unknown[] = [];
  #tableLength = 1;

  constructor(graph: Graph, nodesPerPiece: number) {
    this.#graph = graph;
    this.#nodesPerPiece = Math.max(1, nodesPerPiece);
    // A small container stays with its parent, also at the end of a piece.
    this.#slack = nodesPerPiece >> 3;
  }

  *pieces(root: unknown): Generator<Piece, undefined> {
    for (const object of this.#graph.memory) this.#hold(object, object, true);
    this.#jobs.push({ index: 0, fill: Fill.elements, contents: [root], at: 0 });
    for (let done = 0; done < this.#jobs.length; this.#piece++) {
      this.#left = this.#nodesPerPiece;
      const fills: unknown[] = [];
      for (let job = this.#jobs[done]; job && this.#left > 0; job = this.#jobs[done]) {
        fills.push(job.index, job.fill, this.#part(job));
        if (job.at === job.contents.length) done++;
      }
      // The jobs that are done would keep their containers alive.
      if (done > 1024) {
        this.#jobs = this.#jobs.slice(done);
        done = 0;
      }
      yield [fills, this.#holders, this.#references, this.#nodesPerPiece - this.#left];
      this.#holders = [];
      this.#references = [];
    }
    return undefined;
  }

  // Returns the next contents of a container, as far as the piece has room.
  #part(job: Job): unknown[] {
    const { contents, fill } = job;
    const inPairs = fill === Fill.entries || fill === Fill.properties;
    const part: unknown[] = [];
    while (job.at < contents.length && (this.#left > 0 || (inPairs && part.length % 2 === 1))) {
      part.push(this.#place(contents[job.at++], part, part.length));
    }
    return part;
  }

  // Returns what stands for a value at `parent[key]`.
  #place(value: unknown, parent: object, key: string | number): unknown {
    this.#left--;
    if (typeof value === "string") this.#left -= value.length >>> 10;
    if (value === null || typeof value !== "object") return value;
    const placed = this.#placed.get(value);
    if (placed?.piece === this.#piece) return placed.object;
    if (placed) {
      this.#left -= 2;
      this.#references.push(parent, key, placed.index);
      return undefined;
    }
    // Structured clone copies such an object as a whole.
    if (this.#graph.kept.has(value)) {
      this.#keep(value);
      return value;
    }
    if (value instanceof Map) return this.#collection(value, value.size * 2, Fill.entries);
    if (value instanceof Set) return this.#collection(value, value.size, Fill.members);
    if (Array.isArray(value) && !isIrregular(value)) return this.#array(value);
    if (!(value instanceof Error)) return this.#properties(value);
    this.#keep(value);
    define(value, "cause", this.#place(value.cause, value, "cause"));
    return value;
  }

  #array(array: unknown[]): object {
    if (this.#isTooLarge(array.length)) return this.#later(array, [], Fill.elements, array);
    this.#keep(array);
    for (let at = 0; at < array.length; at++) {
      const value = array[at];
      const other = this.#place(value, array, at);
      if (other !== value) array[at] = other;
    }
    return array;
  }

  #properties(object: object): object {
    const keys = Object.keys(object);
    if (this.#isTooLarge(keys.length)) {
      const shell: object = Array.isArray(object) ? new Array(object.length) : {};
      const contents = keys.flatMap((key) => [key, (object as Record<string, unknown>)[key]]);
      return this.#later(object, shell, Fill.properties, contents);
    }
    this.#keep(object);
    for (const key of keys) {
      const value = (object as Record<string, unknown>)[key];
      const other = this.#place(value, object, key);
      // An own property with a value: no setter runs.
      if (other !== value) (object as Record<string, unknown>)[key] = other;
    }
    return object;
  }

  #collection(collection: Map<unknown, unknown> | Set<unknown>, size: number, fill: Fill): object {
    const contents: unknown[] = fill === Fill.entries ? [...collection].flat() : [...collection];
    const shell = fill === Fill.entries ? new Map<unknown, unknown>() : new Set<unknown>();
    // No key names a place in a map or a set, so what is in an earlier piece can be put into a list of contents only.
    if (this.#isTooLarge(size) || contents.some((each) => this.#isElsewhere(each)))
      return this.#later(collection, shell, fill, contents);
    this.#keep(collection);
    const others = contents.map((each) => this.#place(each, collection, 0));
    if (others.every((each, at) => each === contents[at])) return collection;
    collection.clear();
    for (let at = 0; at < others.length; at++) {
      if (collection instanceof Map) collection.set(others[at++], others[at]);
      else collection.add(others[at]);
    }
    return collection;
  }

  // An empty container is never too large, also behind a long text that has used up the piece: a later piece would have nothing to do.
  #isTooLarge(size: number): boolean {
    return size > Math.max(0, this.#left + this.#slack);
  }

  #isElsewhere(value: unknown): boolean {
    const placed = this.#placed.get(value as object);
    return placed !== undefined && placed.piece !== this.#piece;
  }

  // Sends a container empty, and its contents in later pieces.
  #later(container: object, shell: object, fill: Fill, contents: readonly unknown[]): object {
    const index = this.#hold(container, shell, this.#graph.repeated.has(container));
    this.#jobs.push({ index, fill, contents, at: 0 });
    return shell;
  }

  // Sends an object with its piece.
  #keep(object: object): void {
    if (this.#graph.repeated.has(object)) this.#hold(object, object, true);
  }

  #hold(object: object, shell: object, isRepeated: boolean): number {
    const index = this.#tableLength++;
    this.#holders.push(shell);
    if (isRepeated) this.#placed.set(object, { index, piece: this.#piece, object: shell });
    return index;
  }
}
