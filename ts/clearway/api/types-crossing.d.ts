/** Exists only for the compiler. The key names the type of a value on the other side. */
declare const crossesAs: unique symbol;
/** A value that arrives on the other side as another type. */
interface CrossesAs<T> {
    readonly [crossesAs]: T;
}

export { crossesAs as c };
export type { CrossesAs as C };
