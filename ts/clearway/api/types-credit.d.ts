/** How far a producer may run ahead of its consumer. */
interface Window {
    /** Values that may be in flight or waiting at once. */
    items: number;
    /** Bytes of binary memory that may be in flight or waiting. One larger value may still be sent alone. */
    bytes: number;
}

export type { Window as W };
