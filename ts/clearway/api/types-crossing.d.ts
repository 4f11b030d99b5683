import { M as Moved } from './types-move.js';

/** Exists only for the compiler. The key names the type of a value on the other side. */
declare const crossesAs: unique symbol;
/** A value that arrives on the other side as another type. */
interface CrossesAs<T> {
    readonly [crossesAs]: T;
}
/**
 * The type of a value as the other side receives it. A value under `move()` arrives as the value itself, and a table's writer arrives as a
 * table.
 */
type Unmoved<T> = T extends Moved<infer Inner> ? Unmoved<Inner> : T extends CrossesAs<infer Other> ? Other : T;

export { crossesAs as c };
export type { CrossesAs as C, Unmoved as U };
