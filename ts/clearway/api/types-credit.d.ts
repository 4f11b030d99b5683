/** How far a producer may run ahead of its consumer. */
interface Window {
    /** Maximum number of values in flight or waiting to be read. */
    items: number;
    /** Maximum bytes of binary memory in flight or waiting to be read. A single value may exceed it. */
    bytes: number;
}

export type { Window as W };
