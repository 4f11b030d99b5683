// SPDX-License-Identifier: MIT OR Apache-2.0
import { inProcess, mayLoseOthers } from "#host";
import { type ClearwayError, define } from "../error/clearway-error.js";
import { checkDepth } from "../error/depth.js";
import { bufferBytes, totalBufferBytes } from "../host/structure.js";
import { Form, isPrimitive } from "../transfer/crossing.js";
import { findMemory } from "../transfer/find-memory.js";
import { emptySide, entryOf, isEmpty, type LedgerSide, merge, onWire } from "../transfer/ledger.js";
import { becomeCopies, MovedValue, type PreparedResult, prepareResult } from "../transfer/move.js";
import { movedAway, movedBefore, notCloneable, wouldCopy } from "../transfer/refusal.js";
import { encodeThrown } from "../transfer/thrown.js";
import { pathToUncloneable } from "../transfer/uncloneable.js";
import { countBytes, type PortTransport } from "../transport/port.js";
import { CallFlag, coded, inForm, Op } from "../transport/protocol.js";
import { cut, postPieces } from "../transport/slices/cut.js";
import { nodesPerMsAtFirst, pieceMs } from "../transport/slices/piece.js";
import { unitsOf } from "./context.js";
import type { ServedCall } from "./runner.js";

const weighsNothing = (_value: unknown): number => 0;

// Maximum number of views and buffers in a value that crosses in pieces. All of them are in the first piece.
const memoryMax = 1_000;

/** Sends the results, stream values and errors of tasks. Moves the memory in them that can be moved, and keeps the ledger. */
export class Answers {
  readonly #transport: PortTransport;
  #ledger: LedgerSide = emptySide();
  #strict = false;
  /** Nodes that the caller receives in a millisecond, as it has measured. */
  nodesPerMs = nodesPerMsAtFirst;
  /** Ids of calls whose failure is being encoded. */
  readonly #failing = new Set<number>();
  /** Ledger entries of sent values that contain memory. If the transport then refuses a value, its entries are corrected. */
  readonly #entered = new WeakMap<object, LedgerSide>();
  /** The tasks of the values that the transport has not posted yet, by the id of the call. The error for a refused value names its task. */
  readonly #unposted = new Map<number, string>();

  constructor(transport: PortTransport) {
    this.#transport = transport;
  }

  /**
   * Answers with an object: the result of a task, or the return value of a stream's generator. If it cannot be sent, answers with an error.
   */
  result(call: ServedCall, value: object, runUs: number): void {
    try {
      this.#send(Op.Result, call, value, runUs);
    } catch (reason) {
      this.failure(call.id, reason, runUs);
    }
  }

  /** Answers with an error. */
  failure(id: number, reason: unknown, runUs: number): void {
    // The error's getters are the task's code, which may end the worker.
    this.#failing.add(id);
    const wire = encodeThrown(reason);
    this.#failing.delete(id);
    this.#transport.send(Op.Failure, id, wire, runUs);
  }

  /**
   * Sends a value of progress. Returns its cost in units. If the value cannot be sent, the listener receives an error instead, and the call
   * continues.
   */
  progress(id: number, value: unknown): number {
    let units = 1;
    try {
      // A value that the ring accepts is small and not nested deeply.
      if (this.#transport.sendByRing(Op.Progress, id, value, units)) return units;
      const found = findMemory(value, 0);
      if (found.deep) checkDepth(found.value);
      units = unitsOf(found.value);
      this.#transport.send(Op.Progress, id, found.value, units);
    } catch (reason) {
      this.progressRefused(id, reason, units);
    }
    return units;
  }

  /** Sends an error instead of a value of progress that could not be sent. `units` is the cost of that value. */
  progressRefused(id: number, reason: unknown, units: number): void {
    const { message } = notCloneable("a progress value", reason);
    this.#transport.send(Op.Progress, id, { message }, -units);
  }

  /** Ids of calls that have run and whose failure is not sent yet. */
  get failing(): ReadonlySet<number> {
    return this.#failing;
  }

  /**
   * Sends one value of a stream. Returns the number of bytes that it counts: those of its binary memory and, by port, what `weigh` returns.
   * Throws if the value must not be sent.
   */
  chunk(call: ServedCall, value: unknown, weigh: (value: unknown) => number): number {
    if (!isPrimitive(value)) return this.#send(Op.Chunk, call, value as object, undefined, weigh);
    const bytes = weigh(value);
    this.#transport.send(Op.Chunk, call.id, value, bytes);
    return bytes;
  }

  /**
   * Handles a result or a stream value that the transport refused. Some memory (WebAssembly's) cannot be moved, and only the attempt shows
   * this. Such memory is copied, unless `strict` forbids it. Returns the error to answer with, or undefined if the value was sent again.
   */
  refused(
    op: Op,
    id: number,
    value: unknown,
    transfer: readonly object[],
    reason: unknown,
    b: unknown,
  ): ClearwayError | undefined {
    const buffers = transfer.filter((each) => bufferBytes(each) !== undefined);
    const bytes = totalBufferBytes(buffers);
    const what = `the result of ${this.#unposted.get(id)}()`;
    if (movedBefore(buffers)) return movedAway(what, reason);
    const entered = this.#entered.get(value as object);
    if (buffers.length === 0 || this.#strict) {
      if (entered) merge(this.#ledger, entered, -1);
      this.#sendLedger();
      return this.#strict && buffers.length > 0
        ? wouldCopy("not-transferable", bytes)
        : refusedAt(what, pathToUncloneable(value), reason);
    }
    const rest = transfer.filter((each) => bufferBytes(each) === undefined);
    const instead = entryOf({ movedBytes: -bytes, sharedBytes: 0, copies: [{ reason: "not-transferable", bytes }] });
    merge(this.#ledger, instead);
    if (entered) merge(entered, instead);
    this.#sendLedger();
    this.#transport.send(op, id, value, (op & ~coded) === Op.Chunk ? b : 0, rest);
    this.#transport.flush();
    return undefined;
  }

  #send(
    op: typeof Op.Result | typeof Op.Chunk,
    call: ServedCall,
    value: object,
    runUs: number | undefined,
    weigh = weighsNothing,
    mayCut = true,
  ): number {
    const strict = call.has(CallFlag.strict);
    // A value that the ring accepts needs no search for memory either. The caller adds its copied bytes to the ledger when it arrives.
    if (!strict && !(value instanceof MovedValue)) {
      if (this.#transport.sendByRing(op, call.id, value, runUs ?? countBytes)) return this.#transport.ring!.binaryBytes;
    }
    const found = this.#found(call, value, strict);
    const bytes = found.copies.reduce((sum, copy) => sum + copy.bytes, found.movedBytes + weigh(found.value));
    if (mayCut && this.#isLong(call, found)) {
      if (this.#sendInPieces(op, call, found, runUs ?? bytes, value)) return bytes;
      // The host refused the first piece. As one message, the value may still cross: `refused` handles memory that cannot move.
      return this.#send(op, call, value, runUs, weigh, false);
    }
    const [frameOp, slot] = inForm(op, found.form, found.value);
    this.#enter(found, slot);
    // Sends the value in a separate message. If the transport refuses the value, `refused` knows from `#strict` that the value was strict.
    if (strict) this.#transport.flush();
    this.#sendLedger();
    // Frames wait for the end of the tick only.
    if (!this.#transport.scheduled) this.#unposted.clear();
    this.#unposted.set(call.id, call.task);
    this.#strict = strict;
    this.#transport.send(frameOp, call.id, slot, runUs ?? bytes, found.transfer);
    if (strict) this.#transport.flush();
    this.#strict = false;
    return bytes;
  }

  // Returns whether a value would hold the caller for longer than its budget, and can be cut into pieces.
  #isLong({ budgetMs }: ServedCall, { form, graph, transfer, copies }: PreparedResult): boolean {
    if (hasProcesses && inProcess) return false;
    if (!graph || graph.nodes <= budgetMs * this.nodesPerMs || form !== Form.plain) return false;
    const fits =
      graph.memory.length <= memoryMax &&
      !transfer.some((each) => bufferBytes(each) === undefined || mayLoseOthers(each));
    if (!fits) copies.push({ reason: "not-sliced", bytes: 0 });
    return fits;
  }

  // Returns false if the first piece could not be posted. Nothing was moved then. Throws if a later one could not be posted.
  #sendInPieces(op: Op, call: ServedCall, found: PreparedResult, b: number, value: unknown): boolean {
    const handOver = (port: MessagePort): void => {
      this.#transport.send(Op.Slices, call.id, port, undefined, [port]);
      this.#transport.flush();
    };
    let count = 0;
    try {
      const pieces = cut(found.value, found.graph!, this.nodesPerMs * pieceMs);
      for (const _ of postPieces(pieces, found.transfer, handOver)) {
        if (count++ > 0) continue;
        this.#enter(found, found);
        this.#sendLedger();
      }
    } catch (reason) {
      if (count > 0) throw refusedAt(`the result of ${call.task}()`, pathToUncloneable(value), reason);
      return false;
    }
    this.#transport.send(Op.Sliced, call.id, op, [count, b]);
    return true;
  }

  #found(call: ServedCall, value: object, strict: boolean): PreparedResult {
    const found = prepareResult(value, call.definition.moveSearchLimit);
    const copy = found.copies[0];
    if (hasProcesses && inProcess) becomeCopies(entryOf(found), strict);
    if (copy !== undefined && strict) throw wouldCopy(copy.reason, copy.bytes);
    return found;
  }

  // `slot` is what the transport would refuse.
  #enter(found: PreparedResult, slot: unknown): void {
    const entry = entryOf(found);
    if (hasProcesses && inProcess) becomeCopies(entry, false);
    if (isEmpty(entry)) return;
    merge(this.#ledger, entry);
    this.#entered.set(slot as object, entry);
  }

  // Sends the ledger entries before the frame that they belong to. The pool's sums are then correct when that frame arrives.
  #sendLedger(): void {
    if (isEmpty(this.#ledger)) return;
    this.#transport.send(Op.Ledger, 0, onWire(this.#ledger));
    this.#ledger = emptySide();
  }
}

// The error for a result, `what`, whose part at `path` cannot cross. Its stack has none of the library's own lines, which would not help the reader.
function refusedAt(what: string, path: string, reason: unknown): ClearwayError {
  const error = notCloneable(path ? `${what} at ${path.replace(/^\./, "")}` : what, reason);
  define(error, "stack", String(error));
  return error;
}
