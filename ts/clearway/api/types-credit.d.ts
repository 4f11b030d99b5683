/** How far a producer may run ahead of its consumer. */
interface Window {
    /** Values that may be under way or waiting at once. */
    items: number;
    /** Bytes of binary memory that may be; one value larger than this may still travel alone. */
    bytes: number;
}

export type { Window as W };
