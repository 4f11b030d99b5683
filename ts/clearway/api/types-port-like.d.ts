import { T as TransportLimits } from './types-transport.js';

/**
 * One side of a worker's port, with the methods that Node and browsers share. It is a `MessagePort`, a `Worker` in its owner's
 * thread, or a worker's `self` or `parentPort`.
 */
interface PortLike {
    /** Posts a message and moves the memory in `transfer`. */
    postMessage(message: unknown, transfer: never[]): void;
}
/** Settings of a port that carries channels. */
interface PortOptions extends TransportLimits {
    /** Number of bytes that may be in flight before `send` returns false. Default: 8 MiB. A single larger frame is still sent. */
    readonly windowBytes?: number;
    /**
     * Adds a ring of shared memory to the port, for frames of at most 512 bytes. While both ends are awake, such a frame needs no
     * message of the port. One end sets "offer", and the other end must set "accept". An end that does not set "accept" closes
     * with `protocol` if the other end offers a ring. If the offering end has no shared memory, it offers no ring, and the port
     * carries every frame. An end that was just busy polls the ring for 200 us, between its own turns of the event loop.
     */
    readonly ring?: "offer" | "accept";
}

export type { PortLike as P, PortOptions as a };
