/**
 * One side of a worker's port, with the methods that Node and browsers share. It is a `MessagePort`, a `Worker` in its owner's
 * thread, or a worker's `self` or `parentPort`.
 */
interface PortLike {
    /** Posts a message and moves the memory in `transfer`. */
    postMessage(message: unknown, transfer: never[]): void;
}

export type { PortLike as P };
